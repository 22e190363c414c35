import type { EventPattern, PropertiesPattern } from "./events-api.ts";
import { longestTitle } from "./limits.ts";
import { describePattern } from "./match/describe.ts";
import { checkAsserted, fitsEvery } from "./match/event-pattern.ts";
import { type PatternProblem, shapeOf } from "./match/pattern.ts";
import type { Pattern } from "./match/types.ts";

type Keys = { readonly [key: string]: Pattern };

const isPlain = (pattern: Keys): boolean =>
  Object.getPrototypeOf(pattern) === Object.prototype && !Object.keys(pattern).some((key) => key.startsWith("@"));

/** What a matcher of jest or vitest is for: `string`, `object` …; undefined for other values. */
const expectedType = (event: object): unknown =>
  "getExpectedType" in event && typeof event.getExpectedType === "function" ? event.getExpectedType() : undefined;

const namesEvent = (event: string | object): boolean =>
  typeof event === "string" || event instanceof RegExp || expectedType(event) === "string";

/** @throws TypeError for values that are neither a name nor a pattern of the whole event */
function checkEvent(event: unknown): asserts event is EventPattern {
  const isMatcher = typeof event === "object" && event !== null && shapeOf(event).is === "predicate";
  if (isMatcher && !namesEvent(event) && !fitsEvery(event) && expectedType(event) !== "object") {
    throw new TypeError(
      `${describePattern(event)} as the event: write { event: … } around it if it is for the name, { "@all": [ … ] } if it is for the whole event`,
    );
  }
  const isPattern =
    isMatcher ||
    (typeof event === "object" && event !== null && ["object", "operators", "regex"].includes(shapeOf(event).is));
  if (typeof event === "string" || isPattern) return;
  throw new TypeError(`expected an event's name or a pattern, got ${describePattern(event)}`);
}

const optionNames: readonly string[] = ["distinctId", "settleMs", "since", "timeoutMs"];

/** @throws TypeError for options where properties are expected: a negative assertion on them always holds */
export function notOptions(properties: PropertiesPattern): void {
  const keys = typeof properties === "object" && properties !== null ? Object.keys(properties) : [];
  if (keys.length > 0 && keys.every((key) => optionNames.includes(key)))
    throw new TypeError(`${keys.join(", ")} is an option: options come after the properties, which can be {}`);
}

export const problemText = ({ detail, pointer, hint }: PatternProblem): string =>
  `${detail}${pointer === "" ? "" : ` (${pointer})`}${hint === null ? "" : `; ${hint}`}`;

/** A pattern that fits if both fit. Keys stay at the top level if possible, where the log's index finds them. */
function both(pattern: Keys, more: Keys): Keys {
  const isApart = isPlain(pattern) && !Object.keys(more).some((key) => Object.hasOwn(pattern, key));
  return isApart ? { ...pattern, ...more } : { "@all": [pattern, more] };
}

/** The pattern of the whole event. @throws TypeError for what is no pattern, or fits no event whatever the app does */
export function wholeEvent(
  event: EventPattern,
  { properties, distinctId }: { properties?: PropertiesPattern | undefined; distinctId?: string | undefined },
): Pattern {
  checkEvent(event);
  const named: Keys = namesEvent(event) ? { event } : (event as Keys);
  if (properties !== undefined) notOptions(properties);
  const withProperties = properties === undefined ? named : both(named, { properties });
  const whole = distinctId === undefined ? withProperties : both(withProperties, { distinct_id: distinctId });
  const [problem] = checkAsserted(whole);
  if (problem) throw new TypeError(problemText(problem));
  return whole;
}

/** The call as in code: `waitFor("signup", {plan: "pro"})`. */
export function called(method: string, ...args: readonly unknown[]): string {
  const given = args.slice(0, args.findLastIndex((it) => it !== undefined) + 1);
  return `${method}(${given.map((it) => describePattern(it)).join(", ")})`.slice(0, longestTitle);
}
