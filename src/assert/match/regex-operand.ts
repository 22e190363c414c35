import { types } from "node:util";
import { createContext, Script } from "node:vm";

/** The regular expression of an `@regex` operand. */
export interface Expression {
  readonly source: string;
  readonly flags: string;
  test(text: string): boolean;
  /** True if a search took too long once; it then fits nothing. */
  readonly gaveUp: boolean;
}

/** Longest pattern, characters. */
export const longestPattern = 1_000;
/** Steps that a search without a time limit may take in the worst case; about 0.1 s. */
const mostWays = 10_000_000;
/** Limit of other searches, ms. */
const timeLimit = 100;
/** Expressions that are kept, compiled. */
const mostKnown = 5_000;

const known = new Map<string, Expression | string>();

const text = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

/** `"…"`, `{ pattern, flags }` or a RegExp; undefined for anything else. */
function partsOf(operand: unknown): { source: string; flags: string } | undefined {
  if (typeof operand === "string") return { source: operand, flags: "" };
  if (types.isRegExp(operand)) return { source: operand.source, flags: operand.flags };
  if (typeof operand !== "object" || operand === null) return undefined;
  const { pattern, flags = "", ...others } = operand as Record<string, unknown>;
  const [source, letters] = [text(pattern), text(flags)];
  if (source === undefined || letters === undefined || Object.keys(others).length > 0) return undefined;
  return { source, flags: letters };
}

/**
 * The expression of an `@regex` operand, or the mistake in it. JavaScript's syntax; the flags `g`, `d` and `y` have no
 * effect.
 */
export function expressionOf(operand: unknown): Expression | string {
  const parts = partsOf(operand);
  if (!parts) return 'expects a pattern as a string, or {"pattern": …, "flags": …}';
  const key = `${parts.flags}/${parts.source}`;
  const found = known.get(key);
  if (found !== undefined) return found;
  const made = compile(parts.source, parts.flags.replace(/[dgy]/g, ""));
  known.set(key, made);
  // patterns come from users: their number is limited, the oldest are dropped
  for (const oldest of known.keys()) {
    if (known.size <= mostKnown) break;
    known.delete(oldest);
  }
  return made;
}

function compile(source: string, flags: string): Expression | string {
  if (source.length > longestPattern)
    return `expects a pattern of at most ${longestPattern} characters, not ${source.length}`;
  try {
    return bounded(new RegExp(source, flags));
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Searches without a time limit if that is certain to end soon; else in a script with one. */
function bounded(expression: RegExp): Expression {
  const isQuick = quickness(expression.source);
  let gaveUp = false;
  return {
    source: expression.source,
    flags: expression.flags,
    test(subject) {
      if (isQuick(subject.length)) return expression.test(subject);
      if (gaveUp) return false;
      const answer = testInTime(expression, subject);
      if (answer === undefined) gaveUp = true;
      return answer === true;
    },
    get gaveUp() {
      return gaveUp;
    },
  };
}

/**
 * A rough upper bound from the pattern's text: each quantifier multiplies the steps by the subject's length, and a
 * repeated group may take exponentially many.
 */
function quickness(source: string): (length: number) => boolean {
  if (/\)[*+{]/.test(source)) return (length) => length <= 12;
  const variable = source.match(/[*+?{]/g)?.length ?? 0;
  return (length) => (length + 1) ** (variable + 1) <= mostWays;
}

let runner: { script: Script; world: { expression?: RegExp; subject?: string } } | undefined;

/** Node can stop a search only by stopping a script. */
function testInTime(expression: RegExp, subject: string): boolean | undefined {
  runner ??= { script: new Script("expression.test(subject)"), world: createContext({}) };
  Object.assign(runner.world, { expression, subject });
  try {
    return runner.script.runInContext(runner.world, { timeout: timeLimit }) === true;
  } catch {
    return undefined;
  } finally {
    Object.assign(runner.world, { expression: undefined, subject: undefined });
  }
}
