import { SimError } from "../base/errors.ts";
import { isObject, type Json, type JsonObject } from "../base/json.ts";
import { checkEventPattern } from "./match/event-pattern.ts";
import { namePatterns } from "./match/judge.ts";
import type { Pattern } from "./match/types.ts";

/** Refuses a pattern of events that is wrong. @throws SimError invalid_input */
export function refuseWrong(pattern: Json, pointer: string): void {
  const [problem] = checkEventPattern(pattern);
  if (!problem) return;
  throw new SimError("invalid_input", problem.detail, {
    pointer: pointer + problem.pointer,
    ...(problem.hint !== null && { hint: problem.hint }),
  });
}

/** What an event must be like, as it stands in a body; a text is its name. @throws SimError invalid_input */
export function patternIn(value: Json | undefined, pointer: string): JsonObject {
  if (typeof value === "string") return { event: value };
  if (!isObject(value)) {
    throw new SimError("invalid_input", "a pattern must be an object, or the event's name", {
      pointer,
      hint: 'for example {"event": "signup", "properties": {"plan": "pro"}}',
    });
  }
  refuseWrong(value, pointer);
  return value;
}

/** The name of all events that fit, where the pattern says it. */
const nameIn = (pattern: Pattern): string | undefined =>
  namePatterns(pattern).find((it): it is string => typeof it === "string");

/** The names of the events that fit one of the patterns; undefined when they may have any. */
export function namesIn(patterns: readonly Pattern[]): ReadonlySet<string> | undefined {
  const names = patterns.map(nameIn);
  const known = names.filter((it) => it !== undefined);
  return known.length === names.length ? new Set(known) : undefined;
}

const idIn = (pattern: Pattern): Json | undefined => (isObject(pattern) ? pattern.distinct_id : undefined);

/** The distinct id of all events that fit one of the patterns, where they say so. */
export function distinctIdIn(patterns: readonly Pattern[]): string | undefined {
  const ids = new Set(patterns.map(idIn));
  const [id] = ids;
  return ids.size === 1 && typeof id === "string" ? id : undefined;
}
