import { SimError } from "../../kernel/errors.ts";
import { maskSecrets } from "../../model/batch-export-secrets.ts";
import { blankBatchExport } from "../../model/blank.ts";
import { wireTime } from "../../model/time.ts";
import type { BatchExport, Organization, Project } from "../../model/world.ts";
import { found } from "../access.ts";
import type { ResourceDesk } from "../desk.ts";
import { given } from "../given.ts";
import { invalid } from "../invalid.ts";
import type { Request } from "../row.ts";
import type { WrittenExport } from "./body.ts";
import { brokenRule } from "./destination-rules.ts";
import { type Destination, mergedDestination } from "./destinations.ts";
import { requireProject } from "./everywhere.ts";
import type { Home } from "./records.ts";

const highFrequency = "high_frequency_batch_exports";
const isHighFrequency = (interval: BatchExport["interval"]): boolean => interval.startsWith("every");

const hasFeature = ({ available_product_features }: Organization, wanted: string): boolean =>
  available_product_features?.some(({ key }) => key === wanted) ?? false;

/** Rules about more than one field. @throws SimError invalid_input */
function checkWhole({ destination, model }: Partial<WrittenExport>, stored?: Destination): void {
  const broken = destination && brokenRule(destination, stored?.config ?? {});
  if (broken !== undefined) throw invalid(broken, "destination");
  if (destination?.type === "HTTP" && model !== undefined && model !== "events") {
    throw invalid("HTTP batch exports only support the events model");
  }
}

/** The model, which must be one that everybody may have. @throws SimError permission_denied */
function allowedModel(model: WrittenExport["model"]): BatchExport["model"] | undefined {
  if (model !== "sessions") return model;
  throw new SimError("permission_denied", "Sessions batch exports are not enabled for this team.");
}

/** Only a new export is asked for the feature, upstream, too. @throws SimError permission_denied */
function checkInterval(interval: BatchExport["interval"], organization: Organization): void {
  if (!isHighFrequency(interval) || hasFeature(organization, highFrequency)) return;
  throw new SimError("permission_denied", "Higher frequency batch exports are not enabled for this team.");
}

const plainFields = [
  "name",
  "interval",
  "paused",
  "last_paused_at",
  "start_at",
  "end_at",
  "filters",
] as const satisfies readonly (keyof WrittenExport)[];

/** What was written as the document has it, without the destination. @throws SimError permission_denied */
function fieldsOf(body: Partial<WrittenExport>) {
  const model = allowedModel(body.model);
  const { hogql_query: query } = body;
  return {
    ...given(body, plainFields),
    ...(model !== undefined && { model }),
    ...(query && { schema: { ...query }, hogql_query: query.hogql_query }),
  };
}

/** At an organization's URL: the caller's project if it is one of the organization's, else its first. */
function homeOf(desk: ResourceDesk, { project, organization, caller }: Request<unknown> & Home): Project {
  if (project) return project;
  const current =
    caller.user.current_project === null ? undefined : desk.worlds.projectById(caller.user.current_project);
  if (current?.organization === organization.id) return current;
  const first = desk.worlds.current.projects.find((it) => it.organization === organization.id);
  return found(first, "Project");
}

/** Makes an export. @throws SimError */
export function createExport(desk: ResourceDesk, request: Request<WrittenExport> & Home): BatchExport {
  const body = request.body();
  checkWhole(body);
  requireProject(desk, request);
  checkInterval(body.interval, request.organization);
  const document = blankBatchExport(
    {
      ...fieldsOf(body),
      name: body.name,
      interval: body.interval,
      id: desk.ids.uuid(),
      project: homeOf(desk, request).id,
      destination: maskSecrets(body.destination),
    },
    wireTime(desk.clock.now()),
  );
  return save(desk, document);
}

/** Changes an export: what is not written stays as it is; one that is paused now has the time of it. @throws SimError */
export function updateExport(
  desk: ResourceDesk,
  stored: BatchExport,
  body: Partial<WrittenExport>,
): BatchExport {
  checkWhole(body, stored.destination);
  const { destination = stored.destination } = body;
  const now = wireTime(desk.clock.now());
  return save(desk, {
    ...stored,
    ...(body.paused === true && !stored.paused && { last_paused_at: now }),
    ...fieldsOf(body),
    destination: maskSecrets(mergedDestination(stored.destination, destination)),
    last_updated_at: now,
  });
}

/** Keeps an export; the engine learns of it. */
export function save(desk: ResourceDesk, document: BatchExport): BatchExport {
  const saved = desk.worlds.change((draft) => draft.put("batch_exports", document));
  desk.exports.scheduled(saved);
  return saved;
}
