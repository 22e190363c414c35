import { types } from "node:util";
import { bounded, type BoundedExpression as Expression } from "../../../kernel/base/bounded-regexp.ts";
import { getOrMake, RecentMap } from "../../../kernel/base/recent-map.ts";

export const longestPattern = 1_000;

/** Compiled expressions: patterns come from users. */
const known = new RecentMap<string, Expression | string>(5_000);

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

/** The expression of an `@regex` operand, or the mistake in it. The flags `g`, `d` and `y` have no effect. */
export function expressionOf(operand: unknown): Expression | string {
  const parts = partsOf(operand);
  if (!parts) return 'expects a pattern as a string, or {"pattern": …, "flags": …}';
  const { source, flags } = parts;
  return getOrMake(known, `${flags}/${source}`, () => compile(source, flags.replace(/[dgy]/g, "")));
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
