import type { Tenant } from "../client/api.ts";
import { assertionsOf } from "../client/assertions.ts";
import { checkOptions, keysOf, type OptionKeys } from "../client/option-keys.ts";
import { called } from "../client/pattern.ts";
import { describePattern } from "../match/describe.ts";
import type { Asked, Judged } from "./asked.ts";
import { captured, capturedInOrder, capturedOnly, capturedTimes } from "./captured.ts";
import { noDroppedEvents, noUnmatchedRequests } from "./clean-record.ts";
import { identified, merged } from "./people.ts";
import { servedFlag } from "./served.ts";
import { trackingPlan } from "./tracking-plan.ts";
import type {
  CaptureOptions,
  IdentityOptions,
  MatcherResult,
  RunnerState,
  ServedFlagOptions,
  SimMatchers,
} from "./types.ts";

type ArgsOf<Name extends keyof SimMatchers<unknown>> = Parameters<SimMatchers<unknown>[Name]>;
type MatcherOf<Name extends keyof SimMatchers<unknown>> = (
  this: RunnerState | undefined,
  received: Tenant,
  ...args: ArgsOf<Name>
) => Promise<MatcherResult>;

const capture = keysOf<CaptureOptions>({ since: true, timeoutMs: true, settleMs: true, distinctId: true });
const identity = keysOf<IdentityOptions>({ timeoutMs: true });

/** The options of the matchers, by their position. */
const optionKeys: { readonly [Name in keyof SimMatchers<unknown>]?: OptionKeys } = {
  toHaveCaptured: { 2: capture },
  toHaveCapturedTimes: { 3: capture },
  toHaveCapturedInOrder: { 1: capture },
  toHaveCapturedOnly: { 1: capture },
  toHaveNoDroppedEvents: [["since"]],
  toHaveIdentified: { 2: identity },
  toHaveMerged: { 2: identity },
  toHaveServedFlag: { 2: keysOf<ServedFlagOptions>({ timeoutMs: true, distinctId: true }) },
};

type Judge<Args extends unknown[]> = (asked: Asked, ...args: Args) => Promise<Judged>;

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;

const isTenant = (value: unknown): value is Tenant =>
  isObject(value) &&
  "events" in value &&
  isObject(value.events) &&
  "verify" in value.events &&
  "settle" in value;

/** What was probably meant. */
function hintOn(received: unknown): string {
  if (isObject(received) && "then" in received) return ", not a promise of one: await it first";
  if (isObject(received) && "waitFor" in received) return ", not its events";
  return `, not ${describePattern(received, 60)}`;
}

const wrongReceiver = (name: string, received: unknown): TypeError =>
  new TypeError(`${name}: expect() wants a sim, or a project of one${hintOn(received)}`);

function matcherOf<Args extends unknown[]>(name: keyof SimMatchers<unknown>, judge: Judge<Args>) {
  return async function matcher(
    this: RunnerState | undefined,
    received: Tenant,
    ...args: Args
  ): Promise<MatcherResult> {
    const isNot = this?.isNot === true;
    const title = called(isNot ? `not.${name}` : name, ...args);
    if (!isTenant(received)) throw wrongReceiver(title, received);
    checkOptions(name, optionKeys[name] ?? {}, args, matcher);
    const asked: Asked = { tenant: received, isNot, title };
    const { pass, text } = await assertionsOf(received).run(matcher, title, () => judge(asked, ...args));
    return { pass, message: () => text };
  };
}

/**
 * The matchers, for `expect.extend` of any runner that has it: functions of what was received and the matcher's
 * arguments, which tell `pass` and a message.
 */
export const simMatchers = {
  toHaveCaptured: matcherOf("toHaveCaptured", captured),
  toHaveCapturedTimes: matcherOf("toHaveCapturedTimes", capturedTimes),
  toHaveCapturedInOrder: matcherOf("toHaveCapturedInOrder", capturedInOrder),
  toHaveCapturedOnly: matcherOf("toHaveCapturedOnly", capturedOnly),
  toHaveNoDroppedEvents: matcherOf("toHaveNoDroppedEvents", noDroppedEvents),
  toHaveIdentified: matcherOf("toHaveIdentified", identified),
  toHaveMerged: matcherOf("toHaveMerged", merged),
  toHaveServedFlag: matcherOf("toHaveServedFlag", servedFlag),
  toMatchTrackingPlan: matcherOf("toMatchTrackingPlan", trackingPlan),
  toHaveNoUnmatchedRequests: matcherOf("toHaveNoUnmatchedRequests", noUnmatchedRequests),
} satisfies { [Name in keyof SimMatchers<unknown>]: MatcherOf<Name> };
