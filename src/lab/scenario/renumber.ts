import { uuidV5 } from "../../kernel/base/ids.ts";
import { isUuid } from "../../kernel/base/text.ts";
import {
  conditionReferences,
  isFlagField,
  type References,
  renumbered,
  rewrite,
} from "../../service/flags/references.ts";
import { referenceFields, resourceId } from "../../state/documents/resources.ts";
import {
  type CollectionName,
  collections,
  type Dashboard,
  type DocumentOf,
  type ReadonlyWorld,
  type StoredResource,
  type Tile,
  type World,
} from "../../state/documents/world.ts";

type Id = number | string;

/** The identity of an owner or another document, in place of its number. */
type IdentityOf = (collection: CollectionName, id: Id | null) => string | null;

/**
 * What makes a document the same one in two worlds, whatever its number: its key or name, in its owner. UUIDs that
 * are derived from names are names.
 */
const identities: {
  readonly [C in CollectionName]: (document: DocumentOf<C>, of: IdentityOf) => readonly unknown[];
} = {
  users: ({ email }) => [email.toLowerCase()],
  organizations: ({ id }) => [id],
  memberships: ({ organization, user }, of) => [organization, of("users", user)],
  projects: ({ api_key }) => [api_key],
  personal_api_keys: ({ key }) => [key],
  dashboards: ({ project, name }, of) => [of("projects", project), name],
  dashboard_templates: ({ project, template_name }, of) => [of("projects", project), template_name],
  dashboard_collaborators: ({ dashboard, user }, of) => [of("dashboards", dashboard), of("users", user)],
  sharing_configurations: ({ dashboard }, of) => [of("dashboards", dashboard)],
  insights: ({ project, name }, of) => [of("projects", project), name],
  feature_flags: ({ project, key }, of) => [of("projects", project), key],
  flag_overrides: ({ project, flag, distinct_id }, of) => [of("projects", project), flag, distinct_id],
  cohorts: ({ project, name }, of) => [of("projects", project), name],
  batch_exports: ({ project, name }, of) => [of("projects", project), name],
  batch_export_runs: ({ batch_export, data_interval_start, data_interval_end }, of) => [
    of("batch_exports", batch_export),
    data_interval_start,
    data_interval_end,
  ],
  batch_export_backfills: ({ batch_export, start_at, end_at }, of) => [
    of("batch_exports", batch_export),
    start_at,
    end_at,
  ],
  batch_export_logs: ({ batch_export, run, timestamp, message }, of) => [
    of("batch_exports", batch_export),
    of("batch_export_runs", run),
    timestamp,
    message,
  ],
  resources: ({ kind, project, organization, key, fields }, of) => [
    kind,
    project === null ? organization : of("projects", project),
    typeof key === "string" ? key : (fields.name ?? fields.title ?? fields.content ?? key),
  ],
};

/** A document that was deleted is not the one that has its name now. */
const isDeleted = (document: object): boolean =>
  "deleted" in document ? document.deleted === true : "fields" in document && isDeleted(document.fields as object);

/** The identities of a world's documents. Documents with the same one are distinguished by their order. */
export class Identities {
  readonly #identities = new Map<CollectionName, Map<Id, string>>();
  readonly #ids = new Map<CollectionName, Map<string, Id>>();

  constructor(world: ReadonlyWorld) {
    // owners come before what they own
    for (const name of collections) this.#add(name, world);
  }

  /** The document's identity; null for an unknown id. */
  of(collection: CollectionName, id: Id | null): string | null {
    return (id === null ? undefined : this.#identities.get(collection)?.get(id)) ?? null;
  }

  find(collection: CollectionName, identity: string): Id | undefined {
    return this.#ids.get(collection)?.get(identity);
  }

  #add<C extends CollectionName>(name: C, world: ReadonlyWorld): void {
    const byId = new Map<Id, string>();
    const byIdentity = new Map<string, Id>();
    this.#identities.set(name, byId);
    this.#ids.set(name, byIdentity);
    for (const document of world[name] as readonly DocumentOf<C>[]) {
      const own = identities[name](document, (owners, id) => this.of(owners, id));
      const parts = [isDeleted(document), ...own];
      let identity = JSON.stringify(parts);
      for (let n = 2; byIdentity.has(identity); n++) identity = JSON.stringify([...parts, n]);
      byId.set(document.id, identity);
      byIdentity.set(identity, document.id);
    }
  }
}

/** Fields that hold the id of another document, or a list of them. */
const idFields: Readonly<Record<string, CollectionName>> = {
  project: "projects",
  current_project: "projects",
  scoped_teams: "projects",
  user: "users",
  created_by: "users",
  last_modified_by: "users",
  dashboard: "dashboards",
  primary_dashboard: "dashboards",
  insight: "insights",
  batch_export: "batch_exports",
  backfill: "batch_export_backfills",
  run: "batch_export_runs",
};

const resourceFields: Readonly<Record<string, CollectionName>> = {
  created_by: "users",
  ...Object.fromEntries(
    Object.entries(referenceFields).map(([field, of]) => [field, of === "flags" ? "feature_flags" : of]),
  ),
};

type Ids = ReadonlyMap<Id, Id>;

/** New ids by old ones, of each collection. */
type NewIds = ReadonlyMap<CollectionName, Ids>;

const numbersIn = (ids: NewIds, collection: CollectionName): ReadonlyMap<number, number> =>
  (ids.get(collection) ?? new Map()) as ReadonlyMap<number, number>;

/** A value with a new id; one without keeps its own. A new id has the type of the old one. */
const replaced = (ids: NewIds, collection: CollectionName, value: unknown): unknown =>
  ids.get(collection)?.get(value as Id) ?? value;

function withIds(fields: object, ids: NewIds, named: Readonly<Record<string, CollectionName>>): object {
  const entries = Object.entries(fields).map(([field, value]): [string, unknown] => {
    const of = Object.hasOwn(named, field) ? named[field] : undefined;
    if (of === undefined) return [field, value];
    return [field, Array.isArray(value) ? value.map((it) => replaced(ids, of, it)) : replaced(ids, of, value)];
  });
  return Object.fromEntries(entries);
}

function resourceFieldsWith(fields: StoredResource["fields"], ids: NewIds): object {
  const flags = numbersIn(ids, "feature_flags");
  return Object.fromEntries(
    Object.entries(withIds(fields, ids, resourceFields)).map(([name, value]) => [
      name,
      isFlagField(name) ? (renumbered(value, flags) ?? null) : value,
    ]),
  );
}

function documentWith<C extends CollectionName>(
  collection: C,
  document: DocumentOf<C>,
  ids: NewIds,
  conditions: References,
): DocumentOf<C> {
  const own = { ...idFields, id: collection };
  const next = withIds(rewrite(document, conditions), ids, own) as DocumentOf<C>;
  if (collection === "dashboards") {
    const dashboard = next as Dashboard;
    dashboard.tiles = dashboard.tiles.map((tile) => ({
      ...(withIds(tile, ids, idFields) as Tile),
      text: tile.text && (withIds(tile.text, ids, idFields) as Tile["text"]),
    }));
  }
  if (collection !== "resources") return next;
  const resource = next as StoredResource;
  // a resource's id ends with its key
  if (typeof resource.key === "number") resource.key = Number(/\d+$/.exec(resource.id)?.[0] ?? resource.key);
  resource.fields = resourceFieldsWith(resource.fields, ids) as StoredResource["fields"];
  return next;
}

/** True for a document that goes, so that its number is free: see `leaving` in reload.ts. */
type IsLeaving = (collection: CollectionName, id: Id) => boolean;

class FreeIds {
  readonly #taken: Set<Id>;
  #highest: number;

  /** @param known All ids that the collection has or had */
  constructor(taken: Set<Id>, known: Iterable<Id>) {
    this.#taken = taken;
    this.#highest = 0;
    for (const id of known) if (typeof id === "number") this.#highest = Math.max(this.#highest, id);
  }

  /** The id itself if it is free, else another one. */
  claim<T extends Id>(id: T): T {
    const free = this.#taken.has(id) ? this.#other(id) : id;
    this.#taken.add(free);
    return free as T;
  }

  #other(id: Id): Id {
    if (typeof id === "number") return ++this.#highest;
    for (let n = 2; ; n++) {
      const other = isUuid(id) ? uuidV5(id, String(n)) : `${id}-${n}`;
      if (!this.#taken.has(other)) return other;
    }
  }
}

interface Renumbered {
  readonly base: World;
  readonly built: World;
  readonly now: ReadonlyWorld;
  readonly isLeaving: IsLeaving;
}

/** New ids of a collection: of `matched` documents, and of new ones. */
function newIds(
  name: Exclude<CollectionName, "resources">,
  { base, built, now, isLeaving }: Renumbered,
  matched: Ids,
): Ids {
  const staying = now[name].filter(({ id }) => !isLeaving(name, id));
  const taken = new Set<Id>([...staying.map(({ id }) => id), ...matched.values()]);
  const free = new FreeIds(
    taken,
    [...base[name], ...built[name], ...now[name]].map(({ id }) => id),
  );
  return new Map(built[name].map(({ id }) => [id, matched.get(id) ?? free.claim<Id>(id)]));
}

/** The same for resources, whose ids have their project and their key; the numbers of a kind are its own. */
function newResourceIds({ base, built, now, isLeaving }: Renumbered, matched: Ids, projects: Ids | undefined): Ids {
  const known = [...base.resources, ...built.resources, ...now.resources];
  const kinds = new Map<string, FreeIds>();
  const keysOf = (kind: string): FreeIds => {
    const staying = now.resources.filter((it) => it.kind === kind && !isLeaving("resources", it.id));
    const keys = [...staying.map(({ id }) => id), ...matched.values()].flatMap((id) => [id, keyIn(id)]);
    return new FreeIds(
      new Set(keys),
      known.filter((it) => it.kind === kind).map(({ key }) => key),
    );
  };
  return new Map(
    built.resources.map(({ id, kind, project, organization, key }) => {
      const found = matched.get(id);
      if (found !== undefined) return [id, found];
      const free = kinds.get(kind) ?? keysOf(kind);
      kinds.set(kind, free);
      const owner = project === null ? organization : (projects?.get(project) ?? project);
      const own = resourceId(kind, owner ?? "", typeof key === "number" ? free.claim(key) : key);
      return [id, typeof key === "number" ? own : free.claim(own)];
    }),
  );
}

/** The number that a resource's id ends with; other ids as they are. */
const keyIn = (id: Id): Id => {
  const [, number] = /\/(\d+)$/.exec(String(id)) ?? [];
  return number === undefined ? id : Number(number);
};

/** Tiles and texts with the numbers that they had, and new ones where these are taken. */
function withTileNumbers(dashboards: Dashboard[], { base, now, isLeaving }: Renumbered): Dashboard[] {
  const known = [...base.dashboards, ...now.dashboards, ...dashboards].flatMap(({ tiles }) => tiles);
  const staying = now.dashboards.filter(({ id }) => !isLeaving("dashboards", id)).flatMap((it) => it.tiles);
  const tileIds = new FreeIds(
    new Set(staying.map(({ id }) => id)),
    known.map(({ id }) => id),
  );
  const textIds = new FreeIds(
    new Set(staying.flatMap(({ text }) => text?.id ?? [])),
    known.flatMap(({ text }) => text?.id ?? []),
  );
  const former = new Map(base.dashboards.map((it) => [it.id, it.tiles]));
  return dashboards.map((dashboard) => {
    const left = [...(former.get(dashboard.id) ?? [])];
    const tiles = dashboard.tiles.map((tile): Tile => {
      const at = left.findIndex((it) => it.insight === tile.insight && it.text?.body === tile.text?.body);
      const [same] = at === -1 ? [] : left.splice(at, 1);
      const text = tile.text && { ...tile.text, id: same?.text?.id ?? textIds.claim(tile.text.id) };
      return { ...tile, id: same?.id ?? tileIds.claim(tile.id), text };
    });
    return { ...dashboard, tiles };
  });
}

/**
 * The world of an edited scenario with the ids of the same documents in the world that was last applied, or of those
 * that a request made. New documents keep their numbers where these are free.
 */
export function renumber(parts: Renumbered): World {
  const { base, built, now } = parts;
  const [inBase, inBuilt, inNow] = [new Identities(base), new Identities(built), new Identities(now)];
  const ids = new Map<CollectionName, Ids>();
  for (const name of collections) {
    const matched = new Map<Id, Id>();
    for (const { id } of built[name]) {
      const identity = inBuilt.of(name, id) ?? "";
      const same = inBase.find(name, identity) ?? inNow.find(name, identity);
      if (same !== undefined) matched.set(id, same);
    }
    const next =
      name === "resources" ? newResourceIds(parts, matched, ids.get("projects")) : newIds(name, parts, matched);
    ids.set(name, next);
  }
  const conditions = conditionReferences(numbersIn(ids, "cohorts"), numbersIn(ids, "feature_flags"));
  const owned = <T extends { project: number }>(list: readonly T[]) =>
    list.map((it) => withIds(it, ids, idFields) as T);
  const documents = collections.map((name) => [
    name,
    // the collection and its documents belong together
    built[name].map((it) => documentWith(name, it as never, ids, conditions)),
  ]);
  const world: World = { ...built, ...Object.fromEntries(documents) };
  return {
    ...world,
    dashboards: withTileNumbers(world.dashboards, parts),
    product_tours: owned(world.product_tours),
    prompts: owned(world.prompts),
  };
}
