import { pointerStep } from "../../base/json-pointer.ts";
import { didYouMean } from "../../base/nearest.ts";
import type { StoredEvent } from "../../journal/stored-event.ts";
import { checkPattern, type PatternProblem, shapeOf } from "./pattern.ts";
import { quoted } from "./printable.ts";
import type { Pattern } from "./types.ts";

/** Each key of an event; the compiler holds the list to the shape. */
const eventKeys: Readonly<Record<keyof StoredEvent, true>> = {
  event: true,
  distinct_id: true,
  properties: true,
  timestamp: true,
  uuid: true,
  seq: true,
  outcome: true,
  reason: true,
  detail: true,
  warnings: true,
  project: true,
  received_at: true,
  person_id: true,
  person_mode: true,
  request: true,
};
const known = Object.keys(eventKeys);

/** Operators whose operands are patterns of the same event. */
const joining: ReadonlySet<string> = new Set(["@not", "@any", "@all"]);

function strangeKey(key: string, pointer: string): PatternProblem {
  const near = didYouMean(key, known);
  return {
    pointer,
    detail: `an event has no ${quoted(key)}${near}`,
    hint: near === "" ? `it has ${known.join(", ")}; what the app sends is in properties` : null,
  };
}

function strangeKeys(pattern: Pattern, pointer: string): PatternProblem[] {
  const shape = shapeOf(pattern);
  const at = (key: string | number): string => pointer + pointerStep(key);
  if (shape.is === "list") return shape.items.flatMap((it, i) => strangeKeys(it, at(i)));
  if (shape.is === "operators") {
    const joined = Object.entries(shape.object).filter(([key]) => joining.has(key));
    return joined.flatMap(([key, operand]) => strangeKeys(operand, at(key)));
  }
  if (shape.is !== "object") return [];
  const strange = Object.keys(shape.object).filter((key) => !Object.hasOwn(eventKeys, key));
  return strange.map((key) => strangeKey(key, at(key)));
}

/**
 * What is wrong with a pattern of an event: besides what `checkPattern` finds, keys that no event has. Nothing would
 * ever fit them, so that "none came" would always hold.
 */
export function checkEventPattern(pattern: Pattern): PatternProblem[] {
  const problems = checkPattern(pattern);
  return problems.length > 0 ? problems : strangeKeys(pattern, "");
}
