import { types } from "node:util";
import { createContext, Script } from "node:vm";

/** A regular expression that came over the wire, or in process as the operand of `@regex`. */
export interface Expression {
  readonly source: string;
  readonly flags: string;
  test(text: string): boolean;
  /** Did it once take too long? Then it holds for nothing any more. */
  readonly gaveUp: boolean;
}

/** Longest pattern, characters. */
export const longestPattern = 1_000;
/** Ways that a backtracking search may try in the worst case without being watched; some 0.1 s. */
const mostWays = 10_000_000;
/** A watched search is stopped after this, ms. */
const watchLimit = 100;
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
 * The expression that the operand of `@regex` stands for, or what is wrong with it, in words. JavaScript's
 * syntax; the flags `g`, `d` and `y` mean nothing here.
 */
export function expressionOf(operand: unknown): Expression | string {
  const parts = partsOf(operand);
  if (!parts) return 'wants a pattern as text, or {"pattern": …, "flags": …}';
  const key = `${parts.flags}/${parts.source}`;
  const found = known.get(key);
  if (found !== undefined) return found;
  const made = compile(parts.source, parts.flags.replace(/[dgy]/g, ""));
  known.set(key, made);
  // Patterns come from users: what is remembered must not grow for ever. The oldest go first.
  for (const oldest of known.keys()) {
    if (known.size <= mostKnown) break;
    known.delete(oldest);
  }
  return made;
}

function compile(source: string, flags: string): Expression | string {
  if (source.length > longestPattern)
    return `wants a pattern of at most ${longestPattern} characters, not ${source.length}`;
  try {
    return watched(new RegExp(source, flags));
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Searches at once where that is certain to end soon; else under a watch that stops it. */
function watched(expression: RegExp): Expression {
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
 * A rough upper bound, from the text of the pattern alone: each quantifier multiplies the ways by the text's
 * length, and a group that is repeated may take exponentially many.
 */
function quickness(source: string): (length: number) => boolean {
  if (/\)[*+{]/.test(source)) return (length) => length <= 12;
  const variable = source.match(/[*+?{]/g)?.length ?? 0;
  return (length) => (length + 1) ** (variable + 1) <= mostWays;
}

let desk: { script: Script; world: { expression?: RegExp; subject?: string } } | undefined;

/** Node stops a search only where a whole script can be stopped. */
function testInTime(expression: RegExp, subject: string): boolean | undefined {
  desk ??= { script: new Script("expression.test(subject)"), world: createContext({}) };
  Object.assign(desk.world, { expression, subject });
  try {
    return desk.script.runInContext(desk.world, { timeout: watchLimit }) === true;
  } catch {
    return undefined;
  } finally {
    Object.assign(desk.world, { expression: undefined, subject: undefined });
  }
}
