import { isObject, type Json, own, type Path } from "./json.ts";

export interface JsonDifference {
  readonly path: Path;
  readonly one: Json | undefined;
  readonly other: Json | undefined;
}

interface Comparison {
  /** True if two values of which one is neither list nor object are equal. Default: they are identical. */
  same?(one: Json, other: Json, path: Path): boolean;
  drops?(path: Path): boolean;
  /** True if equal ends of lists are paired, so that an inserted item is one difference; items are paired by index otherwise. */
  alignsLists?: boolean;
  /** True if equal values are listed as well, as whole as possible. */
  listsEqual?: boolean;
}

/** Deeper values are compared by their texts: a walk would run out of stack. */
const deepest = 200;

/** Deep equality; the order of keys does not matter. */
export const isEqual = (one: Json | undefined, other: Json | undefined): boolean =>
  differences(one, other).next().done === true;

type Steps = Iterable<readonly [step: string | number, one: Json | undefined, other: Json | undefined]>;

function* itemSteps(one: readonly Json[], other: readonly Json[], isAligned: boolean): Steps {
  const shorter = isAligned ? Math.min(one.length, other.length) : 0;
  let front = 0;
  while (front < shorter && isEqual(one[front], other[front])) front++;
  let end = 0;
  while (end < shorter - front && isEqual(one.at(-1 - end), other.at(-1 - end))) end++;
  const [left, right] = [one.slice(0, one.length - end), other.slice(0, other.length - end)];
  for (let i = front; i < Math.max(left.length, right.length); i++) yield [i, left[i], right[i]];
}

function stepsOf(one: Json, other: Json, isAligned = false): Steps | undefined {
  if (Array.isArray(one) && Array.isArray(other)) return itemSteps(one, other, isAligned);
  if (!isObject(one) || !isObject(other)) return undefined;
  const keys = new Set([...Object.keys(one), ...Object.keys(other)]);
  return [...keys].map((key) => [key, own(one, key), own(other, key)] as const);
}

/** The deepest places at which two values differ, in the order of the first one. */
export function* differences(
  one: Json | undefined,
  other: Json | undefined,
  comparison: Comparison = {},
  path: Path = [],
): Generator<JsonDifference> {
  const { same = (a, b) => a === b, drops, alignsLists, listsEqual } = comparison;
  if (one === undefined || other === undefined || path.length > deepest) {
    if (JSON.stringify(one) !== JSON.stringify(other)) yield { path, one, other };
    return;
  }
  const isWhole = listsEqual && path.length > 0 && isEqual(one, other);
  const steps = isWhole ? undefined : stepsOf(one, other, alignsLists);
  if (steps === undefined && (listsEqual || !same(one, other, path))) yield { path, one, other };
  for (const [step, a, b] of steps ?? []) {
    const at = [...path, step];
    if (typeof step === "number" || !drops?.(at)) yield* differences(a, b, comparison, at);
  }
}
