import type { Path } from "../../../src/kernel/base/json.ts";
import { isObject, type Json, type JsonObject, own } from "../../../src/kernel/base/json.ts";
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

/** Deep equality; the order of keys does not matter. */
export function isSame(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((it, i) => isSame(it, b[i] ?? null));
  if (!isObject(a) || !isObject(b)) return false;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && isSame(a[key], b[key]));
}

type Steps = readonly (readonly [step: string | number, before: Json | undefined, after: Json | undefined])[];

/** Keys in the order of the later value, then removed ones. */
function keySteps(before: JsonObject, after: JsonObject): Steps {
  const keys = new Set([...Object.keys(after), ...Object.keys(before)]);
  return [...keys].map((key) => [key, own(before, key), own(after, key)] as const);
}

/** Number of equal items from either end. */
function equalCount(
  a: readonly Json[],
  b: readonly Json[],
  most: number,
  at: (list: readonly Json[], i: number) => Json,
) {
  let count = 0;
  while (count < most && isSame(at(a, count), at(b, count))) count++;
  return count;
}

const fromFront = (list: readonly Json[], i: number): Json => list[i] ?? null;
const fromEnd = (list: readonly Json[], i: number): Json => list[list.length - 1 - i] ?? null;

/** Matches equal ends, so that an inserted item is one difference; compares the rest by index. */
function itemSteps(before: readonly Json[], after: readonly Json[]): Steps {
  const shorter = Math.min(before.length, after.length);
  const front = equalCount(before, after, shorter, fromFront);
  const end = equalCount(before, after, shorter - front, fromEnd);
  const [removed, added] = [before.length - end, after.length - end];
  const rows: (readonly [number, Json | undefined, Json | undefined])[] = [];
  for (let i = front; i < Math.max(removed, added); i++)
    rows.push([i, i < removed ? before[i] : undefined, i < added ? after[i] : undefined]);
  return rows;
}

const changeOf = (before: Json | undefined, after: Json | undefined): Change => {
  if (before === undefined) return "added";
  return after === undefined ? "removed" : isSame(before, after) ? "same" : "changed";
};

function stepsOf(before: Json | undefined, after: Json | undefined): Steps | undefined {
  if (isObject(before) && isObject(after)) return keySteps(before, after);
  return Array.isArray(before) && Array.isArray(after) ? itemSteps(before, after) : undefined;
}

const isVolatileAt = (path: Path): boolean => path.some((step) => typeof step === "string" && isVolatile(step));

/** Maximum number of differences. */
const most = 2_000;

function collect(before: Json | undefined, after: Json | undefined, path: Path, found: Difference[]): void {
  if (found.length >= most) return;
  const change = changeOf(before, after);
  const steps = change === "changed" ? stepsOf(before, after) : undefined;
  if (steps === undefined) found.push({ path, change, before, after, isVolatile: isVolatileAt(path) });
  else for (const [step, one, other] of steps) collect(one, other, [...path, step], found);
}

/** Differences at the deepest comparable paths; equal subtrees are one entry. */
export function differencesOf(before: Json, after: Json): Difference[] {
  const found: Difference[] = [];
  if (isObject(before) && isObject(after))
    for (const [step, one, other] of keySteps(before, after)) collect(one, other, [step], found);
  else collect(before, after, [], found);
  return found;
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
