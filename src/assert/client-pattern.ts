import type { EventPattern, PropertiesPattern } from "../client/api.ts";
import { longestTitle } from "./limits.ts";
import { describePattern } from "./match/describe.ts";
import type { Pattern } from "./match/types.ts";

type Keys = { readonly [key: string]: Pattern };

/** True for an object without operators that is not a matcher. */
const isPlain = (pattern: Keys): boolean =>
  Object.getPrototypeOf(pattern) === Object.prototype &&
  !Object.keys(pattern).some((key) => key.startsWith("@"));

/** `expect.stringContaining("…")` and its like, of jest and vitest. */
const isOfText = (event: object): boolean =>
  "getExpectedType" in event &&
  typeof event.getExpectedType === "function" &&
  event.getExpectedType() === "string";

const namesEvent = (event: EventPattern): boolean =>
  typeof event === "string" || event instanceof RegExp || isOfText(event);

/** Names of options, which are no properties. */
const optionNames: readonly string[] = ["distinctId", "settleMs", "since", "timeoutMs"];

/** @throws TypeError for properties that an event can hardly have: a negative assertion on them always holds */
function checkProperties(properties: PropertiesPattern): void {
  if (!isPlain(properties)) return;
  const keys = Object.keys(properties);
  const { properties: nested } = properties;
  if (keys.length === 1 && typeof nested === "object" && nested !== null && isPlain(nested as Keys))
    throw new TypeError(
      `properties are given flat: ${describePattern(nested)}, not ${describePattern(properties)}`,
    );
  if (keys.length > 0 && keys.every((key) => optionNames.includes(key)))
    throw new TypeError(
      `${keys.join(", ")} is an option: options come after the properties, which can be {}`,
    );
}

/** A pattern that fits if both fit. Keys stay at the top level if possible, where the log's index finds them. */
function both(pattern: Keys, more: Keys): Keys {
  const isApart = isPlain(pattern) && !Object.keys(more).some((key) => Object.hasOwn(pattern, key));
  return isApart ? { ...pattern, ...more } : { "@all": [pattern, more] };
}

/** The pattern of the whole event. @throws TypeError for values that are neither a name nor a pattern */
export function wholeEvent(
  event: EventPattern,
  { properties, distinctId }: { properties?: PropertiesPattern | undefined; distinctId?: string | undefined },
): Pattern {
  if (typeof event !== "string" && (typeof event !== "object" || event === null))
    throw new TypeError(`expected an event's name or a pattern, got ${describePattern(event)}`);
  const named: Keys = namesEvent(event) ? { event } : (event as Keys);
  if (properties !== undefined) checkProperties(properties);
  const whole = properties === undefined ? named : both(named, { properties });
  return distinctId === undefined ? whole : both(whole, { distinct_id: distinctId });
}

/** The call as in code: `waitFor("signup", {plan: "pro"})`. */
export function called(method: string, ...args: readonly unknown[]): string {
  const given = args.slice(0, args.findLastIndex((it) => it !== undefined) + 1);
  return `${method}(${given.map((it) => describePattern(it)).join(", ")})`.slice(0, longestTitle);
}
