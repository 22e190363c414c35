import type { Json } from "../../../kernel/base/json.ts";
import { shapeOf } from "./pattern.ts";
import { readMatcher, textOf } from "./predicates.ts";
import { keyText, printable, quoted } from "./printable.ts";
import type { Pattern } from "./types.ts";

/** The characters left to write: a pattern of any size and shape is described in bounded time. */
interface Pen {
  left: number;
  /** True if keys with `@` are those of plain values. */
  literal: boolean;
}

const deepest = 6;

/** The items; ends with `…` when no characters are left. */
function joined<T>(items: readonly T[], pen: Pen, write: (item: T) => string): string {
  const parts: string[] = [];
  for (const item of items) {
    if (pen.left <= 0) return [...parts, "…"].join(", ");
    parts.push(write(item));
    pen.left -= 2;
  }
  return parts.join(", ");
}

function spend(pen: Pen, text: string): string {
  pen.left -= text.length;
  return text;
}

const objectText = (object: object, pen: Pen, depth: number): string =>
  `{${joined(Object.entries(object), pen, ([key, it]) => `${spend(pen, keyText(key))}: ${write(it, pen, depth + 1)}`)}}`;

const listText = (items: readonly unknown[], pen: Pen, depth: number): string =>
  `[${joined(items, pen, (it) => write(it, pen, depth + 1))}]`;

function operatorsText(object: object, pen: Pen, depth: number): string {
  const entries = Object.entries(object).slice(0, 8);
  return entries
    .map(([key, operand]) => `${spend(pen, printable(key, 40))} ${write(operand, pen, depth + 1)}`)
    .join(" ");
}

/** As vitest and jest print it: `Any<Number>`, `StringContaining "x"`. */
function matcherText(matcher: object, pen: Pen, depth: number): string {
  const { toAsymmetricMatcher, message } = matcher as Record<string, unknown>;
  if (typeof toAsymmetricMatcher === "function") {
    const own = textOf(() => toAsymmetricMatcher.call(matcher));
    if (own !== undefined) return spend(pen, printable(own, 80));
  }
  const known = readMatcher(matcher);
  if (known) {
    const sample = known.sample === undefined ? "" : ` ${write(known.sample, pen, depth + 1)}`;
    return `${spend(pen, printable(known.name, 40))}${sample}`;
  }
  const name = typeof message === "string" ? message : textOf(() => String(matcher));
  return spend(pen, printable(name?.startsWith("[object") ? "a matcher" : (name ?? "a matcher"), 80));
}

const predicateText = (predicate: unknown): string =>
  printable((textOf(() => String(predicate)) ?? "a function").replace(/\s+/g, " "), 60);

function leaf(value: unknown): string {
  return typeof value === "string" ? quoted(value) : Object.is(value, -0) ? "-0" : String(value);
}

const dateText = (date: Date): string => (Number.isNaN(date.getTime()) ? "Invalid Date" : `Date ${date.toISOString()}`);

function write(value: unknown, pen: Pen, depth: number): string {
  if (pen.left <= 0 || depth > deepest) return "…";
  if (pen.literal) {
    if (Array.isArray(value)) return listText(value, pen, depth);
    return typeof value === "object" && value !== null ? objectText(value, pen, depth) : spend(pen, leaf(value));
  }
  const shape = shapeOf(value);
  switch (shape.is) {
    case "object":
      return objectText(shape.object, pen, depth);
    case "operators":
      return operatorsText(shape.object, pen, depth);
    case "list":
      return listText(shape.items, pen, depth);
    case "predicate":
      return typeof value === "object" && value !== null
        ? matcherText(value, pen, depth)
        : spend(pen, predicateText(value));
    case "regex":
      return spend(pen, printable(String(shape.regex), 80));
    case "moment":
      return spend(pen, dateText(shape.date));
    case "converted":
      return write(shape.pattern, pen, depth + 1);
    case "never":
      return spend(pen, printable(textOf(() => Object.prototype.toString.call(value)) ?? "?", 40));
    case "literal":
    case "absent":
      return spend(pen, leaf(value));
  }
}

const bounded = (text: string, limit: number): string => (text.length > limit ? `${text.slice(0, limit - 1)}…` : text);

/**
 * A pattern as in code, on one line that is safe to print: `{plan: "pro", amount: Any<Number>}`, `/checkout/`,
 * `@gte 10`. At most `limit` characters.
 */
export const describePattern = (pattern: Pattern, limit = 120): string =>
  bounded(write(pattern, { left: limit, literal: false }, 0), limit);

export const describeValue = (value: Json | undefined, limit = 120): string | null =>
  value === undefined ? null : bounded(write(value, { left: limit, literal: true }, 0), limit);
