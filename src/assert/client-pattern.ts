import type { EventPattern, PropertiesPattern } from "../client/api.ts";
import { describePattern } from "./match/describe.ts";
import type { Pattern } from "./match/types.ts";

type Keys = { readonly [key: string]: Pattern };

/** Neither operators nor somebody's matcher. */
const isPlain = (pattern: Keys): boolean =>
  Object.getPrototypeOf(pattern) === Object.prototype &&
  !Object.keys(pattern).some((key) => key.startsWith("@"));

const namesEvent = (event: EventPattern): event is string | RegExp =>
  typeof event === "string" || event instanceof RegExp;

/** What fits both. Keys stay at the top where they can: there the log's index finds them. */
function both(pattern: Keys, more: Keys): Keys {
  const isApart = isPlain(pattern) && !Object.keys(more).some((key) => Object.hasOwn(pattern, key));
  return isApart ? { ...pattern, ...more } : { "@all": [pattern, more] };
}

/** What the whole event must be like. @throws TypeError when it is neither a name nor a pattern */
export function wholeEvent(
  event: EventPattern,
  { properties, distinctId }: { properties?: PropertiesPattern | undefined; distinctId?: string | undefined },
): Pattern {
  if (typeof event !== "string" && (typeof event !== "object" || event === null))
    throw new TypeError(
      `an event is told by its name or by what it is like, not by ${describePattern(event)}`,
    );
  const named: Keys = namesEvent(event) ? { event } : event;
  const whole = properties === undefined ? named : both(named, { properties });
  return distinctId === undefined ? whole : both(whole, { distinct_id: distinctId });
}

/** A title may not be longer. */
const longestTitle = 1_000;

/** The call as it was written, e.g. `waitFor("signup", {plan: "pro"})`. */
export function called(method: string, ...args: readonly unknown[]): string {
  const given = args.slice(0, args.findLastIndex((it) => it !== undefined) + 1);
  return `${method}(${given.map((it) => describePattern(it)).join(", ")})`.slice(0, longestTitle);
}
