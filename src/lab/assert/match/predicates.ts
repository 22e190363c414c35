import type { Json } from "../../../kernel/base/json.ts";

/** The answer of a predicate; `note`: why it gave none. */
export interface PredicateResult {
  fits: boolean;
  note: string | null;
}

/** A function of the test's code, or a matcher's method. */
export type Predicate = (value: Json) => unknown;

const isFunction = (value: unknown): value is (...args: unknown[]) => unknown => typeof value === "function";

/**
 * The predicate of a pattern that tests values itself: `asymmetricMatch` of vitest, jest and jasmine, `test` of
 * sinon's matchers, a plain function. Undefined for any other value.
 */
export function predicateOf(pattern: unknown): Predicate | undefined {
  if ((typeof pattern !== "object" && typeof pattern !== "function") || pattern === null) return undefined;
  const matcher = pattern as Record<"asymmetricMatch" | "test" | "and" | "or", unknown>;
  if (isFunction(matcher.asymmetricMatch)) {
    const { asymmetricMatch } = matcher;
    return (value) => asymmetricMatch.call(pattern, value);
  }
  if (isFunction(matcher.test) && isFunction(matcher.and) && isFunction(matcher.or)) {
    const { test } = matcher;
    return (value) => test.call(pattern, value);
  }
  return isFunction(pattern) ? (value) => pattern(value) : undefined;
}

const isPromise = (value: unknown): boolean =>
  typeof value === "object" && value !== null && "then" in value && isFunction(value.then);

const threw = "it threw: ";
const promised = "a predicate must answer at once, not with a promise";

export const isUnanswered = (note: string | null): boolean =>
  note !== null && (note.startsWith(threw) || note === promised);

/**
 * Tests a value. If the predicate throws, the value does not fit: a predicate gets every event, also those it was not
 * written for. The report shows the error.
 */
export function testWith(predicate: Predicate, value: Json | undefined): PredicateResult {
  if (value === undefined) return { fits: false, note: null };
  try {
    const answer = predicate(value);
    if (isPromise(answer)) return { fits: false, note: promised };
    return { fits: Boolean(answer), note: null };
  } catch (error) {
    return { fits: false, note: `${threw}${error instanceof Error ? error.message : String(error)}` };
  }
}

export interface KnownMatcher {
  /** E.g. `Any`, `StringContaining`, `ObjectNotContaining`. */
  name: string;
  sample: unknown;
  precision: unknown;
}

const mark = Symbol.for("jest.asymmetricMatcher");

export function readMatcher(pattern: object): KnownMatcher | undefined {
  const { $$typeof, sample, precision } = pattern as Record<string, unknown>;
  const name = $$typeof === mark ? textOf(() => String(pattern)) : undefined;
  return name === undefined ? undefined : { name, sample, precision };
}

/** Text that other code makes; undefined if it throws. */
export function textOf(make: () => unknown): string | undefined {
  try {
    const made = make();
    return typeof made === "string" ? made : undefined;
  } catch {
    return undefined;
  }
}
