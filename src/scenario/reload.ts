import { collections, type ReadonlyWorld, type World } from "../world/world.ts";

/** What a reload makes of a document that the sim's users have changed or made meanwhile. */
export type OnChange = "merge" | "reset" | "ignore";

interface Identified {
  readonly id: number | string;
}

const textOf = (value: unknown): string => JSON.stringify(value);

const byId = <T extends Identified>(documents: readonly T[]): Map<number | string, T> =>
  new Map(documents.map((it) => [it.id, it]));

/**
 * One collection after its scenario changed: documents that the edit changed become what the scenario says,
 * those that it dropped go, those that it added come. All others stay as they are now, however they were
 * made or changed; also where the scenario now wants the number of one that was made at run time.
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
  // A document that was deleted at run time comes back only when the scenario says something new about it.
  const added = after.filter((it) => !present.has(it.id) && isEdited(it.id));
  return [...kept, ...added];
}

/** Lists without ids are the scenario's where it changed them, else what they are now. */
const mergedList = <T>(before: readonly T[], after: readonly T[], now: readonly T[]): T[] =>
  textOf(before) === textOf(after) ? [...now] : [...after];

const lists = [
  "surveys",
  "early_access_features",
  "product_tours",
  "web_experiments",
  "prompts",
  "geoip",
] as const satisfies readonly (keyof World)[];

/** The higher of each number: what was given out once is never given again. */
function highest(...all: readonly Readonly<Record<string, number>>[]): Record<string, number> {
  const result: Record<string, number> = {};
  for (const [name, value] of all.flatMap((it) => Object.entries(it))) {
    result[name] = Math.max(result[name] ?? 0, value);
  }
  return result;
}

/** A world after an edit of its scenario, and what could not be done. */
export interface Reloaded {
  world: World;
  /** Documents that the scenario wants under a number that one made at run time has; that one stays. */
  taken: { collection: (typeof collections)[number]; id: number | string }[];
}

/**
 * The world after an edit of its scenario. `before` and `after` are the worlds that the scenario described
 * and describes, `now` is what has become of the first.
 */
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
  // Every key of a world is one of these; the loops above made each of them from its own kind.
  return { world: merged as World, taken };
}
