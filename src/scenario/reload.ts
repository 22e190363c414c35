import { collections, type ReadonlyWorld, type World } from "../world/world.ts";

/** What a reload does: `merge` keeps changes made at run time, `reset` drops them. */
export type OnChange = "merge" | "reset" | "ignore";

interface Identified {
  readonly id: number | string;
}

const textOf = (value: unknown): string => JSON.stringify(value);

const byId = <T extends Identified>(documents: readonly T[]): Map<number | string, T> =>
  new Map(documents.map((it) => [it.id, it]));

/**
 * One collection after an edit of its scenario: edited, removed and added documents become what the scenario has. All
 * others stay, with changes made at run time; also one made at run time whose number the scenario now uses.
 */
function mergedCollection<T extends Identified>(
  before: readonly T[],
  after: readonly T[],
  now: readonly T[],
  onTaken: (id: T["id"]) => void,
): T[] {
  const was = byId(before);
  const wanted = byId(after);
  const isEdited = (id: T["id"]) => textOf(was.get(id)) !== textOf(wanted.get(id));
  const kept = now.flatMap((it) => {
    if (!isEdited(it.id)) return [it];
    const next = wanted.get(it.id);
    if (next && !was.has(it.id) && textOf(next) !== textOf(it)) {
      onTaken(it.id);
      return [it];
    }
    return next ? [next] : [];
  });
  const present = byId(now);
  // a document that was deleted at run time comes back only if its part of the scenario was edited
  const added = after.filter((it) => !present.has(it.id) && isEdited(it.id));
  return [...kept, ...added];
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

/** A world after an edit of its scenario. */
export interface Reloaded {
  world: World;
  /** Documents made at run time whose number the scenario now uses; they stay. */
  taken: { collection: (typeof collections)[number]; id: number | string }[];
}

/** The world after an edit: `before` and `after` are the scenario's worlds, `now` is the current one. */
export function reloadedWorld(before: World, after: World, now: ReadonlyWorld): Reloaded {
  const taken: Reloaded["taken"] = [];
  const merged: Partial<Record<keyof World, unknown>> = {
    version: after.version,
    sequences: highest(now.sequences, after.sequences),
  };
  for (const name of collections) {
    const onTaken = (id: number | string) => taken.push({ collection: name, id });
    merged[name] = mergedCollection<Identified>(before[name], after[name], now[name], onTaken);
  }
  for (const name of lists) merged[name] = mergedList<unknown>(before[name], after[name], now[name]);
  // these are all keys of a world; the loops above made each of them from its own kind
  return { world: merged as World, taken };
}
