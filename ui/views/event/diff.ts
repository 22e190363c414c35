import type { Json, JsonObject, Path } from "../../../src/kernel/base/json.ts";
import { differences, isEqual } from "../../../src/kernel/base/json-differences.ts";
import type { StoredEvent } from "../../../src/state/journal/stored-event.ts";
import { isVolatile } from "../../copy/subject.ts";

export type Change = "same" | "added" | "removed" | "changed";

/** The result of comparing one path. */
export interface Difference {
  readonly path: Path;
  readonly change: Change;
  /** undefined: missing. */
  readonly before: Json | undefined;
  readonly after: Json | undefined;
  /** True for a field that differs between all events. */
  readonly isVolatile: boolean;
}

const changeOf = (before: Json | undefined, after: Json | undefined): Change => {
  if (before === undefined) return "added";
  return after === undefined ? "removed" : isEqual(before, after) ? "same" : "changed";
};

const isVolatileAt = (path: Path): boolean => path.some((step) => typeof step === "string" && isVolatile(step));

/** Maximum number of differences. */
const most = 2_000;

/** Differences at the deepest comparable paths, in the order of the later value; equal subtrees are one entry. */
export function differencesOf(before: Json, after: Json): Difference[] {
  const list: Difference[] = [];
  for (const { path, one, other } of differences(after, before, { alignsLists: true, listsEqual: true })) {
    if (list.length >= most) break;
    list.push({ path, change: changeOf(other, one), before: other, after: one, isVolatile: isVolatileAt(path) });
  }
  return list;
}

export function countsOf(differences: readonly Difference[]): Readonly<Record<Change | "volatile", number>> {
  const counts = { same: 0, added: 0, removed: 0, changed: 0, volatile: 0 };
  for (const { change, isVolatile } of differences) counts[isVolatile && change !== "same" ? "volatile" : change]++;
  return counts;
}

/** The compared part of an event. */
export const comparable = (event: StoredEvent): JsonObject => ({
  event: event.event,
  distinct_id: event.distinct_id,
  outcome: event.outcome,
  reason: event.reason,
  warnings: [...event.warnings],
  project: event.project,
  person_id: event.person_id,
  person_mode: event.person_mode,
  timestamp: event.timestamp,
  uuid: event.uuid,
  properties: event.properties,
});
