import { z } from "zod";
import { groupedBy } from "../../../kernel/base/grouped-by.ts";
import type { Json, JsonObject } from "../../../kernel/base/json.ts";
import { isUuid, stringOf, withArticle } from "../../../kernel/base/text.ts";
import type { Endpoint } from "../../../kernel/http/endpoint.ts";
import { derived } from "../../../state/documents/derived.ts";
import { UserShape } from "../../../state/documents/field-kinds.ts";
import { resourceId } from "../../../state/documents/resources.ts";
import { compareTimes, wireTime } from "../../../state/documents/time.ts";
import type { Draft, StoredResource } from "../../../state/documents/world.ts";
import { found, insufficientLevel, levels, numberIn } from "../../api-frame/access.ts";
import { isRestoring } from "../../api-frame/body.ts";
import type { ResourceDesk } from "../../api-frame/desk.ts";
import { resourceRows } from "../../api-frame/resource.ts";
import type { Changing, ResourceRequest } from "../../api-frame/row.ts";
import { inOrganization, inProject, organizationRoot, projectRoot } from "../../api-frame/row.ts";
import { showUserOf } from "../../api-frame/users.ts";
import { openCaptured } from "../definitions/captured.ts";
import { shortId } from "../insights/insight-views.ts";
import type { ResourceKind, Resources, Stamp, Writing } from "./kind.ts";

type Stored = StoredResource;

const ownerIn = ({ project, organization }: ResourceRequest): number | string => project?.id ?? organization.id;

/** The stored documents are found through one index for all kinds. */
export function openResources({ worlds, events }: ResourceDesk): Resources {
  const byOwner = derived(worlds, ["resources"], () =>
    groupedBy(worlds.current.resources, (it) => `${it.kind}/${it.project ?? it.organization}`),
  );
  return { stored: (kind, owner) => byOwner().get(`${kind}/${owner}`) ?? [], captured: openCaptured(events) };
}

const timeOf = ({ fields }: Stored): string => stringOf(fields.created_at ?? fields.joined_at ?? "");

/** The last created first, and of those created at once the higher number. */
function newestFirst(a: Stored, b: Stored): number {
  return compareTimes(timeOf(b), timeOf(a)) || (typeof b.key === "number" ? b.key - Number(a.key) : 0);
}

/** `hog_function` → `HogFunction` */
const titleOf = (noun: string): string => noun.replaceAll(/(?:^|[ _])(\w)/g, (_, letter) => letter.toUpperCase());

const creation = ["created_at", "created_by"];
const isAuthor = (stamp: string): boolean => stamp.endsWith("_by");
const isRenewed = (stamp: Stamp): boolean => stamp.startsWith("updated_") || stamp.startsWith("last_");

const keyField = ({ key }: ResourceKind): string => (key === "letters" ? "short_id" : "id");

/** What a client sent; in a loose kind without what only the sim writes. */
function sentOf(kind: ResourceKind, body: JsonObject): JsonObject {
  const { isLoose, fields, stamps = [], parent } = kind;
  if (!isLoose) return body;
  const written = new Set([keyField(kind), parent?.param, ...stamps]);
  return Object.fromEntries(Object.entries(body).filter(([name]) => !written.has(name) && !fields[name]?.show));
}

function shapeOf(kind: ResourceKind): z.ZodObject {
  const { noun, key, fields, stamps = [] } = kind;
  const all = Object.entries(fields).filter(([, { show }]) => show !== false);
  const written = all.flatMap(([name, { write }]) => (write ? [[name, write]] : []));
  const shown = all.flatMap(([name, { show }]) => (show ? [[name, show]] : []));
  const shape: z.ZodRawShape = {
    [keyField(kind)]: key === "number" ? z.int() : z.string(),
    ...Object.fromEntries(written),
    ...Object.fromEntries(stamps.map((name) => [name, isAuthor(name) ? UserShape.nullable() : z.string()])),
    ...Object.fromEntries(shown),
  };
  return (kind.isLoose ? z.looseObject(shape) : z.object(shape)).meta({ title: titleOf(noun) });
}

/** A document of a scenario has the author and time of its creation only. */
const stampIn = ({ created_at = null, created_by = null, ...fields }: JsonObject, stamp: Stamp): Json =>
  fields[stamp] ?? (isAuthor(stamp) ? created_by : created_at);

export function showResource(desk: ResourceDesk, kind: ResourceKind, document: Stored): JsonObject {
  const { fields, key } = whole(kind, document);
  const { stamps = [] } = kind;
  const own = Object.entries(fields).filter(([name]) => kind.fields[name]?.show !== false && !creation.includes(name));
  const stamped = stamps.map((name): [string, Json] => {
    const value = stampIn(fields, name);
    return [name, isAuthor(name) ? showUserOf(desk, typeof value === "number" ? value : null) : value];
  });
  return { [keyField(kind)]: key, ...Object.fromEntries([...own, ...stamped]), ...kind.show?.(fields, document, desk) };
}

const stampsOf = (stamps: readonly Stamp[], now: string, author: number): JsonObject =>
  Object.fromEntries(stamps.map((name) => [name, isAuthor(name) ? author : now]));

/** The document with every field: those of a scenario have what it gives. */
const whole = ({ blanks }: ResourceKind, document: Stored): Stored => ({
  ...document,
  fields: { ...blanks, ...document.fields },
});

const changing = (desk: ResourceDesk, draft: Draft, request: ResourceRequest): Changing => ({
  desk,
  draft,
  request,
  now: wireTime(desk.clock.now()),
});

/** Changes fields of a document as a client does with PATCH. @throws SimError for what the kind refuses */
export function changeResource(
  desk: ResourceDesk,
  kind: ResourceKind,
  request: ResourceRequest,
  document: Stored,
  sent: JsonObject,
): Stored {
  const { stamps = [] } = kind;
  const before = whole(kind, document);
  const body = sentOf(kind, sent);
  return desk.worlds.change((draft) => {
    const it: Writing = { ...changing(desk, draft, request), key: before.key, body, loaded: [], before };
    const renewed = stampsOf(stamps.filter(isRenewed), it.now, request.caller.user.id);
    const own: JsonObject = { ...before.fields, ...body, ...renewed };
    const fields = kind.prepare?.(own, it) ?? own;
    if (fields.deleted === true && before.fields.deleted !== true) kind.beforeRemoval?.(before, it);
    return draft.put("resources", { ...before, fields });
  });
}

/** A kind, with what its endpoints need. */
interface Rows {
  readonly desk: ResourceDesk;
  readonly resources: Resources;
  readonly kind: ResourceKind;
}

/** The part of the path that is a field of the documents. @throws SimError not_found */
function inParent({ desk, kind: { parent } }: Rows, request: ResourceRequest): JsonObject {
  if (!parent) return {};
  const key = request.param(parent.param);
  if (parent.kind) found(desk.worlds.get("resources", resourceId(parent.kind, ownerIn(request), key)));
  return { [parent.param]: parent.kind ? key : found(numberIn(key)) };
}

const loaded = ({ desk, resources, kind }: Rows, request: ResourceRequest) => kind.load?.(request, desk, resources);

async function all(rows: Rows, request: ResourceRequest): Promise<readonly Stored[]> {
  const { desk, resources, kind } = rows;
  const above = Object.entries(inParent(rows, request));
  const documents = ((await loaded(rows, request)) ?? resources.stored(kind.kind, ownerIn(request)))
    .map((it) => whole(kind, it))
    .filter(({ fields }) => fields.deleted !== true && above.every(([name, it]) => fields[name] === it))
    .toSorted(kind.compare ?? newestFirst);
  return kind.narrow?.(documents, request, desk) ?? documents;
}

function keyIn({ key }: ResourceKind, text: string): number | string | undefined {
  if (key === "number") return numberIn(text);
  return key !== undefined ? text : isUuid(text) ? text.toLowerCase() : undefined;
}

/** The document of the path. @throws SimError not_found */
async function named(rows: Rows, request: ResourceRequest, isPatch = false): Promise<Stored> {
  const { desk, kind } = rows;
  const key = keyIn(kind, request.param("id"));
  const id = key === undefined ? "" : resourceId(kind.kind, ownerIn(request), key);
  const known = await loaded(rows, request);
  const document = found(known ? known.find((it) => it.key === key) : desk.worlds.get("resources", id));
  const isInPlace = Object.entries(inParent(rows, request)).every(([name, it]) => document.fields[name] === it);
  const isFound =
    document.fields.deleted !== true ||
    kind.deletion === "always" ||
    (isPatch && (kind.deletion === "patch" || isRestoring(request.call)));
  return whole(kind, found(isInPlace && isFound ? document : undefined));
}

/** @throws SimError permission_denied */
function checkLevel({ kind }: Rows, { level }: ResourceRequest): void {
  if (kind.byAdmins && level < levels.admin) throw insufficientLevel();
}

async function create(rows: Rows, request: ResourceRequest<JsonObject>): Promise<Stored> {
  const { desk, kind } = rows;
  checkLevel(rows, request);
  const known = (await loaded(rows, request)) ?? [];
  const above = inParent(rows, request);
  const { caller, organization, project } = request;
  return desk.worlds.change((draft) => {
    // numbers are assigned once all is well
    const made = kind.key === "number" ? {} : { key: kind.key === "letters" ? shortId(desk.ids) : desk.ids.uuid() };
    const body = sentOf(kind, request.body());
    const it: Writing = { ...changing(desk, draft, request), ...made, body, loaded: known };
    const own = { ...kind.blanks, ...body, ...above, ...stampsOf(kind.stamps ?? [], it.now, caller.user.id) };
    const fields = kind.prepare?.(own, it) ?? own;
    const key = it.key ?? draft.nextId(`resources/${kind.kind}`);
    return draft.put("resources", {
      id: resourceId(kind.kind, ownerIn(request), key),
      kind: kind.kind,
      project: project?.id ?? null,
      organization: project ? null : organization.id,
      key,
      fields,
    });
  });
}

async function change(rows: Rows, request: ResourceRequest<JsonObject>, isPatch: boolean): Promise<Stored> {
  const { desk, kind } = rows;
  const before = await named(rows, request, isPatch);
  checkLevel(rows, request);
  // another call may have changed it meanwhile
  const current = kind.load ? before : (desk.worlds.get("resources", before.id) ?? before);
  const changed = changeResource(desk, kind, request, current, request.body());
  return (await loaded(rows, request))?.find((it) => it.key === changed.key) ?? changed;
}

async function remove(rows: Rows, request: ResourceRequest): Promise<void> {
  const { desk, kind } = rows;
  const document = await named(rows, request);
  checkLevel(rows, request);
  desk.worlds.change((draft) => {
    kind.beforeRemoval?.(document, changing(desk, draft, request));
    const fields = kind.remains?.(document);
    if (fields) draft.put("resources", { ...document, fields: { ...fields, deleted: true } });
    else draft.remove("resources", document.id);
  });
}

export function kindRows(desk: ResourceDesk, resources: Resources, kind: ResourceKind): Endpoint[] {
  const rows = { desk, resources, kind };
  const { deletion, parent, filters = [], limit, methods } = kind;
  const has = (method: NonNullable<typeof methods>[number]) => methods?.includes(method) ?? true;
  const note = kind.isOnlyStored ? " (stored, not enforced)" : "";
  const plural = kind.kind.replaceAll("_", " ");
  const one = withArticle(kind.noun);
  const fields = kind.isLoose ? z.looseObject(kind.writable) : z.object(kind.writable);
  const body = fields as unknown as z.ZodType<JsonObject>;
  const patch = fields.partial() as unknown as z.ZodType<JsonObject>;
  const access = (action: "read" | "write") =>
    (kind.of === "project" ? inProject : inOrganization)(`${kind.scope}:${action}`);
  const root = kind.of === "project" ? projectRoot : organizationRoot;
  const show = (document: Stored) => showResource(desk, kind, document);
  return resourceRows<Stored, JsonObject, JsonObject, JsonObject, "project" | "organization">(desk, {
    path: `${root}/${parent ? `${parent.path}/:${parent.param}/` : ""}${kind.path ?? kind.kind}`,
    reads: access("read"),
    writes: access("write"),
    shape: shapeOf(kind),
    show,
    filters,
    ...(kind.query && { query: kind.query }),
    ...(limit !== undefined && { limit }),
    all: (request) => all(rows, request),
    ...(has("list") && { list: { summary: `Lists ${plural}${note}` } }),
    ...(has("create") && {
      create: { summary: `Creates ${one}${note}`, body, handle: (request) => create(rows, request) },
    }),
    ...(has("read") && {
      read: { summary: `Returns ${one}`, handle: async (request) => show(await named(rows, request)) },
    }),
    ...(has("change") && {
      patch: {
        summary: `Changes ${one}${deletion === "hard" ? "" : "; deletes and restores it with `deleted`"}`,
        body: patch,
        handle: (request) => change(rows, request, true),
      },
      put: {
        summary: `Changes ${one}; its required fields are required`,
        body,
        handle: (request) => change(rows, request, false),
      },
    }),
    ...(has("remove") && {
      remove:
        deletion === "hard"
          ? { summary: `Deletes ${one}`, handle: (request) => remove(rows, request) }
          : { summary: `Always refused: ${plural} are deleted with PATCH` },
    }),
  });
}
