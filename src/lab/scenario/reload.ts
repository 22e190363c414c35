import { isObject } from "../../kernel/base/json.ts";
import { type CollectionName, collections, type ReadonlyWorld, type World } from "../../state/documents/world.ts";
import { Identities, renumber } from "./renumber.ts";

/** What an edit of the scenario does: `merge` keeps changes made at run time, `reset` drops them. */
export type OnChange = "merge" | "reset" | "ignore";

type Id = number | string;

interface Identified {
  readonly id: Id;
}

type Fields = Readonly<Record<string, unknown>>;

/** JSON with sorted keys. */
const textOf = (value: unknown): string =>
  JSON.stringify(value, (_, it: unknown) =>
    isObject(it) ? Object.fromEntries(Object.entries(it).sort(([a], [b]) => (a < b ? -1 : 1))) : it,
  ) ?? "";

/** Fields that reading and saving set by themselves: they are no change of a user. */
const automatic: ReadonlySet<string> = new Set([
  "updated_at",
  "last_updated_at",
  "last_modified_at",
  "last_modified_by",
  "last_accessed_at",
  "last_refresh",
  "scheduled_until",
  "version",
  "current_organization",
  "current_project",
]);

const isEdited = (was: object, now: object): boolean => {
  const before = was as Fields;
  return Object.entries(now).some(([field, it]) => !automatic.has(field) && textOf(before[field]) !== textOf(it));
};

const byId = <T extends Identified>(documents: readonly T[]): Map<Id, T> => new Map(documents.map((it) => [it.id, it]));

/** A document that is not as the scenario has it: a user changed, deleted or made it, or what arrived belongs to it. */
export interface KeptDocument {
  readonly collection: CollectionName;
  readonly document: Identified;
  readonly why: "changed" | "deleted" | "made" | "in use";
}

/** A document after an edit, field by field: a field that a user changed stays. */
function mergedDocument<T extends Identified>(was: T, next: T, now: T): { document: T; isKept: boolean } {
  const [before, wanted, current] = [was, next, now] as unknown as Fields[];
  const fields = new Set([...Object.keys(now), ...Object.keys(next)]);
  let isKept = "deleted" in now && now.deleted === true && (before?.deleted ?? false) === false && isEdited(was, next);
  const entries = [...fields].flatMap((field): [string, unknown][] => {
    const [a, b, c] = [before, wanted, current].map((it) => it?.[field]);
    const [old, edited, mine] = [a, b, c].map(textOf);
    const stays = mine !== old || edited === old;
    if (mine !== old && edited !== old && mine !== edited && !automatic.has(field)) isKept = true;
    const value = stays ? c : b;
    return value === undefined ? [] : [[field, value]];
  });
  // it has the fields of the two
  return { document: Object.fromEntries(entries) as unknown as T, isKept };
}

/** One collection after an edit: the documents of the scenario in its order, then those made at run time. */
function mergedCollection<T extends Identified>(
  { base, after, now }: Record<"base" | "after" | "now", readonly T[]>,
  isLeaving: (id: Id) => boolean,
  keep: (document: T, why: KeptDocument["why"]) => void,
): T[] {
  const was = byId(base);
  const current = byId(now);
  const own = after.flatMap((next): T[] => {
    const [before, mine] = [was.get(next.id), current.get(next.id)];
    if (!mine) {
      if (!before) return [next];
      if (isEdited(before, next)) keep(next, "deleted");
      return [];
    }
    if (!before) {
      if (isEdited(next, mine)) keep(mine, "made");
      return [mine];
    }
    const { document, isKept } = mergedDocument(before, next, mine);
    if (isKept) keep(mine, "changed");
    return [document];
  });
  const wanted = byId(after);
  const others = now.filter((mine) => !wanted.has(mine.id) && !isLeaving(mine.id));
  for (const mine of others) {
    const before = was.get(mine.id);
    if (before) keep(mine, isEdited(before, mine) ? "changed" : "in use");
  }
  return [...own, ...others];
}

/** Lists without ids: the scenario's if it was edited, else the current one. */
const mergedList = <T>(before: readonly T[], after: readonly T[], now: readonly T[]): T[] =>
  textOf(before) === textOf(after) ? [...now] : [...after];

const lists = ["product_tours", "prompts", "geoip"] as const satisfies readonly (keyof World)[];

/** The higher of each number: numbers are never used twice. */
function highest(...all: readonly Readonly<Record<string, number>>[]): Record<string, number> {
  const result: Record<string, number> = {};
  for (const [name, value] of all.flatMap((it) => Object.entries(it))) {
    result[name] = Math.max(result[name] ?? 0, value);
  }
  return result;
}

/** Fields that name the owner of a document. */
const owners = {
  project: "projects",
  organization: "organizations",
  dashboard: "dashboards",
  batch_export: "batch_exports",
  user: "users",
} as const satisfies Record<string, CollectionName>;

export interface Reloaded {
  world: World;
  /** The scenario's own world with the ids that its documents have here: the base of the next edit. */
  base: World;
  /** What a user changed, and the scenario has otherwise. */
  kept: KeptDocument[];
}

/** Ids of documents that go, by collection. */
type Leaving = ReadonlyMap<CollectionName, ReadonlySet<Id>>;

interface ReloadedParts {
  /** The world that was last applied; an empty one where that is not known. */
  base: World;
  built: World;
  now: ReadonlyWorld;
  /** Projects with events stay. */
  hasEvents?: (project: number) => boolean;
}

/** The world after an edit. Documents are matched by keys and names, never by numbers; what a user changed stays. */
export function reloadedWorld(parts: ReloadedParts): Reloaded {
  const { base, built, now } = parts;
  const left = leaving(parts);
  const isLeaving = (name: CollectionName, id: Id) => left.get(name)?.has(id) === true;
  const after = renumber({ base, built, now, isLeaving });
  const kept: KeptDocument[] = [];
  const merged: Partial<Record<keyof World, unknown>> = {
    version: after.version,
    sequences: highest(now.sequences, after.sequences),
  };
  for (const collection of collections) {
    const versions = { base: base[collection], after: after[collection], now: now[collection] };
    merged[collection] = mergedCollection<Identified>(
      versions,
      (id) => isLeaving(collection, id),
      (document, why) => kept.push({ collection, document, why }),
    );
  }
  for (const name of lists) merged[name] = mergedList<unknown>(base[name], after[name], now[name]);
  // these are all keys of a world; the loops above made each of them from its own kind
  return { world: merged as World, base: after, kept };
}

/** The documents that go: the edited scenario has none of them, no user changed them, and none that stays has them. */
function leaving({ base, built, now, hasEvents = () => false }: ReloadedParts): Leaving {
  const [inBase, inBuilt] = [new Identities(base), new Identities(built)];
  const ids = new Map(
    collections.map((name) => {
      const current = byId<Identified>(now[name]);
      const gone = (base[name] as readonly Identified[]).filter((was) => {
        const mine = current.get(was.id);
        return inBuilt.find(name, inBase.of(name, was.id) ?? "") === undefined && (!mine || !isEdited(was, mine));
      });
      return [name, new Set(gone.map(({ id }) => id))] as const;
    }),
  );
  for (const { id } of now.projects) if (hasEvents(id)) ids.get("projects")?.delete(id);
  const stays = (name: CollectionName, document: Identified) => !ids.get(name)?.has(document.id);
  const keepOwners = (document: object): boolean =>
    Object.entries(owners).some(([field, of]) => {
      const id = (document as Fields)[field];
      return id !== undefined && ids.get(of)?.delete(id as Id) === true;
    });
  const keepAllOwners = () =>
    collections.flatMap((name) => now[name].filter((it) => stays(name, it) && keepOwners(it))).length > 0;
  while (keepAllOwners());
  return ids;
}

const label = ({ document }: KeptDocument): string => {
  const { key, name, email, template_name, label: text, fields, id } = document as unknown as Fields;
  const title = isObject(fields) ? (fields.name ?? fields.title) : undefined;
  const shown = title ?? (typeof name === "string" && typeof key !== "string" ? name : undefined);
  return String(shown ?? email ?? template_name ?? text ?? key ?? name ?? id);
};

const nounOf = ({ collection, document }: KeptDocument): string =>
  ("kind" in document ? String(document.kind) : collection).replaceAll("_", " ").replace(/s$/, "");

/** More documents are counted. */
const maxKept = 5;

/** `feature flag "beta", dashboard "Sales" and 3 more`: one line. */
export function keptInWords(kept: readonly KeptDocument[]): string {
  const shown = kept.slice(0, maxKept).map((it) => {
    const name = it.collection === "personal_api_keys" ? "" : ` ${JSON.stringify(label(it))}`;
    return `${nounOf(it)}${name} (${it.why})`;
  });
  const more = kept.length > maxKept ? ` and ${kept.length - maxKept} more` : "";
  return `${shown.join(", ")}${more}`;
}
