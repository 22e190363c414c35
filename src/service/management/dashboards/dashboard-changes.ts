import { z } from "zod";
import { SimError } from "../../../kernel/base/errors.ts";
import { isObject, type JsonObject } from "../../../kernel/base/json.ts";
import { safeParse } from "../../../kernel/base/safe-parse.ts";
import { stringOf } from "../../../kernel/base/text.ts";
import { boolean, integer, json, list } from "../../../state/documents/lenient-fields.ts";
import { dashboardKind, tileKind } from "../../../state/documents/schemas/dashboard.ts";
import type { Dashboard, DashboardTemplate, Draft } from "../../../state/documents/world.ts";
import { isRestoring } from "../../api-frame/body.ts";
import { invalid } from "../../api-frame/fields.ts";
import type { ProjectRequest } from "../../api-frame/row.ts";
import { anyDashboard, isInherent, liveDashboard } from "../collaborators.ts";
import type { Maker } from "../insights/insight-views.ts";
import { type TemplateContent, templateNamed, withTemplate } from "./dashboard-templates.ts";
import type { DashboardDesk } from "./dashboard-views.ts";
import { copyTile, linkTile, patchTiles, TilePatch } from "./tiles.ts";

type DashboardFields = z.infer<typeof dashboardKind.Writable>;

export const NewDashboard = dashboardKind.Writable.extend({ duplicate_tiles: boolean().optional() });

export const ChangedDashboard = dashboardKind.Writable.extend({
  tiles: list(TilePatch).optional(),
  duplicate_tiles: list(z.object({ id: integer(), layouts: tileKind.Writable.shape.layouts })).optional(),
});
type ChangedDashboard = z.infer<typeof ChangedDashboard>;

/** What Python takes for false, except an empty object. */
const isNothing = (value: unknown): boolean => !value || (Array.isArray(value) && value.length === 0);

/** An object that is not empty; undefined if it is empty. The service's message has "Filters" for both. */
function filled(value: unknown): JsonObject | undefined {
  if (isNothing(value)) return undefined;
  if (!isObject(value)) throw invalid("Filters must be a dictionary");
  return Object.keys(value).length > 0 ? value : undefined;
}

/** The fields of the document that the body sets. @throws SimError invalid_input when filters or variables are not objects */
const changesIn = (fields: DashboardFields): Partial<Dashboard> =>
  dashboardKind.changes(fields, { filters: filled, variables: filled });

/** @throws SimError invalid_input */
function refuseTwoModels({ use_dashboard, use_template }: DashboardFields): void {
  if (use_dashboard && use_template) {
    throw invalid("`use_dashboard` and `use_template` cannot be used together");
  }
}

interface Model {
  mode: Dashboard["creation_mode"];
  template?: DashboardTemplate;
  source?: Dashboard;
}

/** @throws SimError invalid_input when there is no such template or dashboard */
function modelOf(desk: DashboardDesk, project: number, fields: DashboardFields): Model {
  const { use_template, use_dashboard } = fields;
  if (use_template) {
    const template = templateNamed(desk, project, use_template);
    if (!template) throw invalid(`Invalid template provided: ${use_template}`, "use_template");
    return { mode: "template", template };
  }
  if (!use_dashboard) return { mode: "default" };
  const source = desk.worlds.get("dashboards", use_dashboard);
  if (!source || source.deleted || source.project !== project) {
    throw invalid("Invalid value provided", "use_dashboard");
  }
  return { mode: "duplicate", source };
}

/** The fields that a duplicate copies where the body has none. */
const heritage = ({ filters, variables, breakdown_colors, data_color_theme_id }: Dashboard) => ({
  filters,
  variables,
  breakdown_colors,
  data_color_theme_id,
});

/** @param isDeep Copies insights and texts, instead of showing the same ones. */
const duplicatedTiles = (desk: DashboardDesk, maker: Maker, source: Dashboard, isDeep: boolean) =>
  source.tiles
    .filter((tile) => !tile.deleted)
    .map((tile) =>
      isDeep
        ? copyTile(maker, tile, tile.insight === null ? undefined : desk.worlds.get("insights", tile.insight))
        : linkTile(maker, tile),
    );

/** An empty dashboard of the maker. */
const emptyDashboard = ({ draft, project, user, now }: Maker, changes: Partial<Dashboard>): Dashboard =>
  dashboardKind.blank({ created_by: user, ...changes, id: draft.nextId("dashboards"), project }, now);

/** POST: an empty dashboard, one after a template, or a duplicate. @throws SimError invalid_input */
export function createDashboard(
  desk: DashboardDesk,
  request: ProjectRequest<unknown>,
  fields: z.infer<typeof NewDashboard>,
): Dashboard {
  refuseTwoModels(fields);
  const changes = changesIn(fields);
  const { mode, template, source } = modelOf(desk, request.project.id, fields);
  return desk.worlds.change((draft) => {
    const maker = desk.maker(draft, request);
    const bare = emptyDashboard(maker, { ...(source && heritage(source)), ...changes, creation_mode: mode });
    const tiles = source ? duplicatedTiles(desk, maker, source, fields.duplicate_tiles ?? false) : [];
    const made = template ? withTemplate(maker, bare, template) : { ...bare, tiles };
    // Tags in the body replace the template's.
    return draft.put("dashboards", { ...made, ...(changes.tags && { tags: changes.tags }) });
  });
}

/** The contract lets it take a dashboard's writable fields, the service takes a template only. */
export const DashboardFromJson = NewDashboard.extend({ template: z.unknown().optional().meta({ type: "object" }) });
type DashboardFromJson = z.infer<typeof DashboardFromJson>;

const textOrNull = z.string().nullable().optional();

/** What a template is made of. Upstream PostHog/posthog posthog/api/dashboards/dashboard_template_schema.json. */
const Content = z.object({
  template_name: z.string(),
  dashboard_description: z.string(),
  dashboard_filters: z.record(z.string(), json()).default({}),
  tiles: z.array(z.record(z.string(), json())).min(1),
  id: z.string().optional(),
  team_id: z.number().nullable().optional(),
  created_at: textOrNull,
  image_url: textOrNull,
  variables: z.array(json()).nullable().optional(),
  tags: z.array(z.string()).default([]),
});

const ofNullable = ["team_id", "created_at", "image_url", "variables"];

/** The message of a JSON Schema validator. */
function complaint({ code, input, path, ...issue }: z.core.$ZodIssue): string {
  if (code === "too_small") return "[] should be non-empty";
  if (input === undefined) return `'${String(path[0])}' is a required property`;
  const type = "expected" in issue ? String(issue.expected).replace("record", "object") : "";
  const orNull = path.length === 1 && ofNullable.includes(String(path[0])) ? ", 'null'" : "";
  return `${JSON.stringify(input).slice(0, 200)} is not of type '${type}'${orNull}`;
}

/** @throws SimError required, invalid_input */
function contentOf(template: unknown): TemplateContent {
  if (!isObject(template)) throw invalid("Template must be a dictionary", "template");
  const { data: content, error } = safeParse(Content, template, { reportInput: true });
  if (!content) throw invalid(error.issues.slice(0, 1).map(complaint).join());
  return { ...content, tiles: content.tiles.map((tile) => ({ ...tile, type: stringOf(tile.type) })) };
}

/** Makes a dashboard of a template in the body; its other fields win over the template's. @throws SimError required, invalid_input */
export function createFromJson(desk: DashboardDesk, request: ProjectRequest<DashboardFromJson>): Dashboard {
  const { template, ...fields } = request.body();
  const isDocumented = desk.dialect === "documented";
  if (template === undefined || template === null) {
    if (isDocumented) return createDashboard(desk, request, fields);
    throw invalid("This field is required.", "template", "required");
  }
  const content = contentOf(template);
  const changes = isDocumented ? changesIn({ ...fields, deleted: undefined }) : {};
  return desk.worlds.change((draft) => {
    const maker = desk.maker(draft, request);
    const made = withTemplate(maker, emptyDashboard(maker, {}), content);
    return draft.put("dashboards", { ...made, ...changes });
  });
}

/** A body with a false `deleted` restores: only it finds deleted dashboards. */
function changeable(desk: DashboardDesk, { call, project, param }: ProjectRequest<unknown>): Dashboard {
  const find = isRestoring(call) ? anyDashboard : liveDashboard;
  return find(desk, project.id, param("id"));
}

/** @throws SimError permission_denied */
function checkRestriction(
  dashboard: Dashboard,
  { caller, level }: ProjectRequest<unknown>,
  { restriction_level }: ChangedDashboard,
): void {
  if (restriction_level === undefined || isInherent(dashboard, caller.user.id, level)) return;
  throw new SimError(
    "permission_denied",
    "Only the dashboard owner and project admins have the restriction rights required to change the dashboard's restriction level.",
  );
}

/** Insights that are on this dashboard only. */
const ownInsights = ({ places }: DashboardDesk, { tiles }: Dashboard): number[] =>
  tiles.flatMap(({ insight, deleted }) =>
    insight !== null && !deleted && places(insight).length === 1 ? [insight] : [],
  );

const insightsOf = ({ tiles }: Dashboard): number[] =>
  tiles.flatMap(({ insight }) => (insight === null ? [] : [insight]));

function markInsights({ worlds }: DashboardDesk, draft: Draft, ids: readonly number[], deleted: boolean): void {
  for (const id of ids) {
    const insight = worlds.get("insights", id);
    if (insight && insight.deleted !== deleted) draft.put("insights", { ...insight, deleted });
  }
}

const withTilesMarked = (dashboard: Dashboard, deleted: boolean): Dashboard => ({
  ...dashboard,
  deleted,
  tiles: dashboard.tiles.map((tile) => ({ ...tile, deleted })),
});

/** A deleted dashboard takes its tiles with it, and is no project's first any more. */
function removed(desk: DashboardDesk, draft: Draft, dashboard: Dashboard, alone: readonly number[]): Dashboard {
  markInsights(desk, draft, alone, true);
  const project = desk.worlds.projectById(dashboard.project);
  if (project?.primary_dashboard === dashboard.id) {
    draft.put("projects", { ...project, primary_dashboard: null });
  }
  return withTilesMarked(dashboard, true);
}

/** Tiles and their insights come back with it. */
function restored(desk: DashboardDesk, draft: Draft, dashboard: Dashboard): Dashboard {
  markInsights(desk, draft, insightsOf(dashboard), false);
  return withTilesMarked(dashboard, false);
}

/** Adds deep copies of tiles, at the given layouts. */
function withDuplicates(
  desk: DashboardDesk,
  maker: Maker,
  dashboard: Dashboard,
  duplicates: NonNullable<ChangedDashboard["duplicate_tiles"]>,
): Dashboard {
  const copies = duplicates.flatMap(({ id, layouts = {} }) => {
    const tile = dashboard.tiles.find((it) => it.id === id && !it.deleted);
    if (!tile) return [];
    const insight = tile.insight === null ? undefined : desk.worlds.get("insights", tile.insight);
    return [copyTile(maker, { ...tile, layouts }, insight)];
  });
  return { ...dashboard, tiles: [...dashboard.tiles, ...copies] };
}

/**
 * PATCH and PUT, which has no required field either.
 * Upstream PostHog/posthog posthog/api/dashboards/dashboard.py, `update`.
 * @throws SimError not_found, permission_denied, invalid_input, max_length
 */
export function changeDashboard(desk: DashboardDesk, request: ProjectRequest<ChangedDashboard>): Dashboard {
  const dashboard = changeable(desk, request);
  desk.rights.requireEdit(dashboard, request);
  const fields = request.body();
  refuseTwoModels(fields);
  checkRestriction(dashboard, request, fields);
  const changes = changesIn(fields);
  const alone = fields.delete_insights ? ownInsights(desk, dashboard) : [];
  return desk.worlds.change((draft) => {
    const maker = desk.maker(draft, request);
    const marked = fields.deleted
      ? removed(desk, draft, dashboard, alone)
      : dashboard.deleted
        ? restored(desk, draft, dashboard)
        : dashboard;
    const patched = patchTiles({ desk, request, maker }, { ...marked, ...changes }, fields.tiles ?? []);
    return draft.put("dashboards", withDuplicates(desk, maker, patched, fields.duplicate_tiles ?? []));
  });
}
