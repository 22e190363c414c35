import { z } from "zod";
import { groupedBy } from "../../../kernel/base/grouped-by.ts";
import type { Json, JsonObject } from "../../../kernel/base/json.ts";
import { isUuid, stringOf, withArticle } from "../../../kernel/base/text.ts";
import type { Endpoint } from "../../../kernel/http/endpoint.ts";
import { derived } from "../../../state/documents/derived.ts";
import { resourceId } from "../../../state/documents/resources.ts";
import { compareTimes, wireTime } from "../../../state/documents/time.ts";
import type { Draft, StoredResource } from "../../../state/documents/world.ts";
import { found, insufficientLevel, levels, numberIn } from "../../api-frame/access.ts";
import { isRestoring } from "../../api-frame/body.ts";
import type { Changing, ResourceRequest } from "../../api-frame/changing.ts";
import type { ResourceDesk } from "../../api-frame/desk.ts";
import { resourceRows } from "../../api-frame/resource.ts";
import { inOrganization, inProject, organizationRoot, projectRoot } from "../../api-frame/row.ts";
import { showUserOf, UserShape } from "../../api-frame/users.ts";
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
  if (!kind.isLoose) return body;
  const { stamps = [], shown = {}, parent } = kind;
  const written = new Set([keyField(kind), parent?.param, ...stamps, ...Object.keys(shown)]);
  return Object.fromEntries(Object.entries(body).filter(([name]) => !written.has(name)));
}

function shapeOf(kind: ResourceKind): z.ZodObject {
  const { noun, key, fields, unshown = [], shown = {}, stamps = [] } = kind;
  const written = Object.entries(fields).filter(([name]) => !unshown.includes(name));
  const shapes = written.map(([name, it]) => [name, it instanceof z.ZodOptional ? it.unwrap() : it]);
  const shape: z.ZodRawShape = {
    [keyField(kind)]: key === "number" ? z.int() : z.string(),
    ...Object.fromEntries(shapes),
    ...Object.fromEntries(stamps.map((name) => [name, isAuthor(name) ? UserShape.nullable() : z.string()])),
    ...shown,
  };
  return (kind.isLoose ? z.looseObject(shape) : z.object(shape)).meta({ title: titleOf(noun) });
}

/** A document of a scenario has the author and time of its creation only. */
const stampIn = ({ created_at = null, created_by = null, ...fields }: JsonObject, stamp: Stamp): Json =>
  fields[stamp] ?? (isAuthor(stamp) ? created_by : created_at);

export function showResource(desk: ResourceDesk, kind: ResourceKind, document: Stored): JsonObject {
  const { fields, key } = whole(kind, document);
  const { unshown = [], stamps = [] } = kind;
  const own = Object.entries(fields).filter(([name]) => !unshown.includes(name) && !creation.includes(name));
  const stamped = stamps.map((name): [string, Json] => {
    const value = stampIn(fields, name);
    return [name, isAuthor(name) ? showUserOf(desk, typeof value === "number" ? value : null) : value];
  });
  return { [keyField(kind)]: key, ...Object.fromEntries([...own, ...stamped]), ...kind.show?.(fields, document, desk) };
}

const stampsOf = (stamps: readonly Stamp[], now: string, author: number): JsonObject =>
  Object.fromEntries(stamps.map((name) => [name, isAuthor(name) ? author : now]));

/** The document with every field: those of a scenario have what it gives. */
const whole = ({ initial }: ResourceKind, document: Stored): Stored => ({
  ...document,
  fields: { ...initial, ...document.fields },
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

export function kindRows(desk: ResourceDesk, resources: Resources, kind: ResourceKind): Endpoint[] {
  const { worlds } = desk;
  const { deletion, parent, filters = [], limit, methods, stamps = [], compare = newestFirst } = kind;

  /** The part of the path that is a field of the documents. @throws SimError not_found */
  function inParent(request: ResourceRequest): JsonObject {
    if (!parent) return {};
    const key = request.param(parent.param);
    if (parent.kind) found(worlds.get("resources", resourceId(parent.kind, ownerIn(request), key)));
    return { [parent.param]: parent.kind ? key : found(numberIn(key)) };
  }

  const load = (request: ResourceRequest) =>
    kind.load?.(request, desk, resources) ?? resources.stored(kind.kind, ownerIn(request));

  async function all(request: ResourceRequest): Promise<readonly Stored[]> {
    const above = Object.entries(inParent(request));
    const documents = (await load(request))
      .map((it) => whole(kind, it))
      .filter(({ fields }) => fields.deleted !== true && above.every(([name, it]) => fields[name] === it))
      .toSorted(compare);
    return kind.narrow?.(documents, request, desk) ?? documents;
  }

  function keyIn(text: string): number | string | undefined {
    if (kind.key === "number") return numberIn(text);
    return kind.key !== undefined ? text : isUuid(text) ? text.toLowerCase() : undefined;
  }

  /** The document of the path. @throws SimError not_found */
  async function named(request: ResourceRequest, isPatch = false): Promise<Stored> {
    const key = keyIn(request.param("id"));
    const id = key === undefined ? "" : resourceId(kind.kind, ownerIn(request), key);
    const loaded = await kind.load?.(request, desk, resources);
    const document = found(loaded ? loaded.find((it) => it.key === key) : worlds.get("resources", id));
    const isInPlace = Object.entries(inParent(request)).every(([name, it]) => document.fields[name] === it);
    const isFound =
      document.fields.deleted !== true ||
      deletion === "always" ||
      (isPatch && (deletion === "patch" || isRestoring(request.call)));
    return whole(kind, found(isInPlace && isFound ? document : undefined));
  }

  /** @throws SimError permission_denied */
  function checkLevel({ level }: ResourceRequest): void {
    if (kind.byAdmins && level < levels.admin) throw insufficientLevel();
  }

  /** Numbers are assigned once all is well. */
  const newKey = () => (kind.key === "letters" ? shortId(desk.ids) : desk.ids.uuid());

  async function create(request: ResourceRequest<JsonObject>): Promise<Stored> {
    checkLevel(request);
    const loaded = (await kind.load?.(request, desk, resources)) ?? [];
    const above = inParent(request);
    const { caller, organization, project } = request;
    return worlds.change((draft) => {
      const made = kind.key === "number" ? {} : { key: newKey() };
      const body = sentOf(kind, request.body());
      const it: Writing = { ...changing(desk, draft, request), ...made, body, loaded };
      const own = { ...kind.initial, ...it.body, ...above, ...stampsOf(stamps, it.now, caller.user.id) };
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

  async function change(request: ResourceRequest<JsonObject>, isPatch: boolean): Promise<Stored> {
    const before = await named(request, isPatch);
    checkLevel(request);
    // another call may have changed it meanwhile
    const current = kind.load ? before : (worlds.get("resources", before.id) ?? before);
    const changed = changeResource(desk, kind, request, current, request.body());
    const loaded = await kind.load?.(request, desk, resources);
    return loaded?.find((it) => it.key === changed.key) ?? changed;
  }

  async function remove(request: ResourceRequest): Promise<void> {
    const document = await named(request);
    checkLevel(request);
    worlds.change((draft) => {
      kind.beforeRemoval?.(document, changing(desk, draft, request));
      const fields = kind.remains?.(document);
      if (fields) draft.put("resources", { ...document, fields: { ...fields, deleted: true } });
      else draft.remove("resources", document.id);
    });
  }

  const has = (method: NonNullable<typeof methods>[number]) => methods?.includes(method) ?? true;
  const note = kind.isOnlyStored ? " (stored, not enforced)" : "";
  const plural = kind.kind.replaceAll("_", " ");
  const one = withArticle(kind.noun);
  const fields = kind.isLoose ? z.looseObject(kind.fields) : z.object(kind.fields);
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
    all,
    ...(has("list") && { list: { summary: `Lists ${plural}${note}` } }),
    ...(has("create") && { create: { summary: `Creates ${one}${note}`, body, handle: create } }),
    ...(has("read") && { read: { summary: `Returns ${one}`, handle: async (request) => show(await named(request)) } }),
    ...(has("change") && {
      patch: {
        summary: `Changes ${one}${deletion === "hard" ? "" : "; deletes and restores it with `deleted`"}`,
        body: patch,
        handle: (request) => change(request, true),
      },
      put: {
        summary: `Changes ${one}; its required fields are required`,
        body,
        handle: (request) => change(request, false),
      },
    }),
    ...(has("remove") && {
      remove:
        deletion === "hard"
          ? { summary: `Deletes ${one}`, handle: remove }
          : { summary: `Always refused: ${plural} are deleted with PATCH` },
    }),
  });
}
