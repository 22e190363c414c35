import { isObject, type Json, own } from "../../kernel/json.ts";
import { maxDepth } from "./canonical.ts";

/** A place at which two documents differ; undefined: one of them has nothing there. */
export interface Difference {
  /** With places in lists: `req.body.batch[0].event`. */
  path: string;
  /** Last name in the path; "" inside lists. */
  name: string;
  recorded: Json | undefined;
  live: Json | undefined;
}

interface Walk {
  /** Are two leaves the same? */
  same(recorded: Json, live: Json, name: string): boolean;
  /** Generic path: what is passed over. */
  drops(name: string, path: string): boolean;
}

/** `req.body.batch[0].uuid` → `req.body.batch[].uuid`. */
export const genericPath = (path: string): string => path.replace(/\[\d+\]/g, "[]");

/** The places at which two documents differ, in the order of the recorded one. */
export function* differencesOf(
  recorded: Json | undefined,
  live: Json | undefined,
  walk: Walk,
  path = "req",
  name = "",
  depth = 0,
): Generator<Difference> {
  if (recorded === undefined || live === undefined || depth > maxDepth) {
    if (recorded !== live) yield { path, name, recorded, live };
  } else if (Array.isArray(recorded) && Array.isArray(live)) {
    for (let at = 0; at < Math.max(recorded.length, live.length); at++) {
      yield* differencesOf(recorded[at], live[at], walk, `${path}[${at}]`, "", depth + 1);
    }
  } else if (isObject(recorded) && isObject(live)) {
    for (const key of new Set([...Object.keys(recorded), ...Object.keys(live)])) {
      const below = `${path}.${key}`;
      if (walk.drops(key, genericPath(below))) continue;
      yield* differencesOf(own(recorded, key), own(live, key), walk, below, key, depth + 1);
    }
  } else if (!walk.same(recorded, live, name)) yield { path, name, recorded, live };
}
