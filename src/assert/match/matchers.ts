import type { Json } from "../../base/json.ts";

/** What a matcher or a predicate said; `note` is there when it could not say anything. */
export interface Said {
  fits: boolean;
  note: string | null;
}

type Ask = (value: Json) => unknown;

const isFunction = (value: unknown): value is (...args: unknown[]) => unknown => typeof value === "function";

/**
 * How to ask an object that judges values itself: `asymmetricMatch` of vitest, jest and jasmine, `test` of
 * sinon's matchers, a plain function. Undefined for any other value.
 */
export function askerOf(pattern: unknown): Ask | undefined {
  if ((typeof pattern !== "object" && typeof pattern !== "function") || pattern === null) return undefined;
  const judge = pattern as Record<"asymmetricMatch" | "test" | "and" | "or", unknown>;
  if (isFunction(judge.asymmetricMatch)) {
    const { asymmetricMatch } = judge;
    return (value) => asymmetricMatch.call(pattern, value);
  }
  if (isFunction(judge.test) && isFunction(judge.and) && isFunction(judge.or)) {
    const { test } = judge;
    return (value) => test.call(pattern, value);
  }
  return isFunction(pattern) ? (value) => pattern(value) : undefined;
}

const isPromise = (value: unknown): boolean =>
  typeof value === "object" && value !== null && "then" in value && isFunction(value.then);

/**
 * Asks. What throws does not fit: a predicate is shown every event, also those it was not written for. The
 * report says what was thrown.
 */
export function ask(asker: Ask, value: Json | undefined): Said {
  if (value === undefined) return { fits: false, note: null };
  try {
    const answer = asker(value);
    if (isPromise(answer))
      return { fits: false, note: "a predicate must answer at once, not with a promise" };
    return { fits: Boolean(answer), note: null };
  } catch (error) {
    return { fits: false, note: `it threw: ${error instanceof Error ? error.message : String(error)}` };
  }
}

/** A matcher of vitest or jest, as far as it can be read. */
export interface KnownMatcher {
  /** E.g. `Any`, `StringContaining`, `ObjectNotContaining`. */
  name: string;
  sample: unknown;
  precision: unknown;
}

const kin = Symbol.for("jest.asymmetricMatcher");

/** Reads a matcher of vitest or jest; undefined for those of others. */
export function readMatcher(pattern: object): KnownMatcher | undefined {
  const { $$typeof, sample, precision } = pattern as Record<string, unknown>;
  const name = $$typeof === kin ? textOf(() => String(pattern)) : undefined;
  return name === undefined ? undefined : { name, sample, precision };
}

/** Text that foreign code makes; undefined when it fails. */
export function textOf(make: () => unknown): string | undefined {
  try {
    const made = make();
    return typeof made === "string" ? made : undefined;
  } catch {
    return undefined;
  }
}
