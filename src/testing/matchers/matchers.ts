import { counted } from "../../kernel/base/text.ts";
import { checkOptions, keysOf, type OptionKeys } from "../../kernel/call/option-keys.ts";
import { assertionsOf } from "../../lab/assert/client-assertions.ts";
import { called } from "../../lab/assert/client-pattern.ts";
import { describePattern } from "../../lab/assert/match/describe.ts";
import type { ProxyCheckOptions } from "../../lab/proxy-check/client.ts";
import type { Tenant } from "../../sim/client/api.ts";
import { contacted } from "./contact-matchers.ts";
import {
  captured,
  capturedInOrder,
  capturedOnly,
  capturedTimes,
  noDroppedEvents,
  noUnmatchedRequests,
  trackingPlan,
} from "./event-matchers.ts";
import { insight } from "./insight-matchers.ts";
import type {
  CaptureOptions,
  ContactOptions,
  IdentityOptions,
  MatcherCall,
  MatcherOutcome,
  MatcherResult,
  RecordedOptions,
  RunnerState,
  ServedFlagOptions,
  SimMatchers,
} from "./matcher.ts";
import { identified, merged, servedFlag } from "./person-matchers.ts";
import { passThroughProxy } from "./proxy-matcher.ts";
import { recorded, recordedNoneOf } from "./recording-matchers.ts";

type ArgsOf<Name extends keyof SimMatchers<unknown>> = Parameters<SimMatchers<unknown>[Name]>;
type MatcherOf<Name extends keyof SimMatchers<unknown>> = (
  this: RunnerState | undefined,
  received: Tenant,
  ...args: ArgsOf<Name>
) => Promise<MatcherResult>;

const capture = keysOf<CaptureOptions>({ since: true, timeoutMs: true, settleMs: true, distinctId: true });
const recording = keysOf<RecordedOptions>({ quietMs: true, timeoutMs: true, session: true, allowUnread: true });
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
  toHaveInsight: { 2: identity },
  toPassThroughProxy: { 1: keysOf<ProxyCheckOptions>({ origin: true, framework: true, timeoutMs: true }) },
  toHaveRecorded: [recording],
  toHaveRecordedNoneOf: { 1: recording },
  toHaveBeenContacted: [keysOf<ContactOptions>({ since: true, timeoutMs: true })],
  toHaveServedFlag: { 2: keysOf<ServedFlagOptions>({ timeoutMs: true, distinctId: true }) },
};

/** Options that select: an undefined one would select everything. */
const selectors = ["distinctId", "session", "since"] as const;

/** @throws TypeError for a selecting option that is undefined or empty */
function checkSelectors(title: string, args: readonly unknown[]): void {
  for (const options of args) {
    if (!isObject(options) || Array.isArray(options)) continue;
    const selecting: Partial<Record<(typeof selectors)[number], unknown>> = options;
    const key = selectors.find(
      (it) => Object.hasOwn(options, it) && (selecting[it] === undefined || selecting[it] === ""),
    );
    if (key !== undefined) {
      const given = selecting[key] === "" ? "empty" : "undefined";
      throw new TypeError(`${title}: the option ${key} is ${given}; leave it out if it does not matter`);
    }
  }
}

/** @throws TypeError for what callers without a compiler pass */
function checkCall(name: keyof SimMatchers<unknown>, title: string, received: unknown, args: readonly unknown[]): void {
  if (!isTenant(received)) throw wrongReceiver(title, received);
  if (args.length === 2 && args[1] === undefined)
    throw new TypeError(`${title}: the second argument is undefined; leave it out if it does not matter`);
  const options = optionKeys[name] ?? {};
  checkOptions(name, options, args, checkCall);
  checkSelectors(
    title,
    Object.keys(options).map((position) => args[Number(position)]),
  );
}

type Evaluate<Args extends unknown[]> = (call: MatcherCall, ...args: Args) => Promise<MatcherOutcome>;

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;

const isTenant = (value: unknown): value is Tenant =>
  isObject(value) && "events" in value && isObject(value.events) && "verify" in value.events && "settle" in value;

/** The probable mistake. */
function hintOn(received: unknown): string {
  if (isObject(received) && "then" in received) return ", not a promise of one: await it first";
  if (isObject(received) && "waitFor" in received) return ", not its events";
  return `, not ${describePattern(received, 60)}`;
}

const wrongReceiver = (name: string, received: unknown): TypeError =>
  new TypeError(`${name}: expect() needs a sim, or a project of one${hintOn(received)}`);

/** The call as written; values that must not be recorded are personal, and only counted. */
function titleOf(shown: string, name: keyof SimMatchers<unknown>, args: readonly unknown[]): string {
  if (name !== "toHaveRecordedNoneOf") return called(shown, ...args);
  const [values] = args;
  return `${shown}(${Array.isArray(values) ? counted(values.length, "value") : ""})`;
}

function matcherOf<Args extends unknown[]>(name: keyof SimMatchers<unknown>, evaluate: Evaluate<Args>) {
  async function result(
    matcher: (...args: never[]) => unknown,
    state: RunnerState | undefined,
    received: Tenant,
    args: Args,
  ): Promise<MatcherResult> {
    const isNot = state?.isNot === true;
    const title = titleOf(isNot ? `not.${name}` : name, name, args);
    try {
      checkCall(name, title, received, args);
    } catch (error) {
      // the first frame is to be the test's own line
      if (error instanceof Error) Error.captureStackTrace(error, matcher);
      throw error;
    }
    const call: MatcherCall = { tenant: received, isNot, title };
    const {
      pass,
      text,
      report = { title, text, hints: [] },
    } = await assertionsOf(received).run(matcher, title, () => evaluate(call, ...args));
    return { pass, message: () => text, report };
  }
  return function matcher(this: RunnerState | undefined, received: Tenant, ...args: Args): Promise<MatcherResult> {
    return withReport(result(matcher, this, received, args));
  };
}

/** Runners make an error of the message alone, in a function that they pass to `then`: it gets the report as well. */
function withReport(result: Promise<MatcherResult>): Promise<MatcherResult> {
  const plain = result.then((it) => it);
  const reported: typeof result.then = (onResult, onError) =>
    plain.then(onResult, onError).catch(async (error: unknown) => {
      const { report } = await plain;
      if (error instanceof Error && !("report" in error)) Object.assign(error, { report });
      throw error;
    });
  // biome-ignore lint/suspicious/noThenProperty: it is the promise's own, with an addition
  return Object.assign(result, { then: reported });
}

/**
 * The matchers, for `expect.extend` of any runner: functions of the received value and the matcher's arguments, which
 * return `pass` and a message.
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
  toHaveInsight: matcherOf("toHaveInsight", insight),
  toPassThroughProxy: matcherOf("toPassThroughProxy", passThroughProxy),
  toHaveRecorded: matcherOf("toHaveRecorded", recorded),
  toHaveRecordedNoneOf: matcherOf("toHaveRecordedNoneOf", recordedNoneOf),
  toMatchTrackingPlan: matcherOf("toMatchTrackingPlan", trackingPlan),
  toHaveBeenContacted: matcherOf("toHaveBeenContacted", contacted),
  toHaveNoUnmatchedRequests: matcherOf("toHaveNoUnmatchedRequests", noUnmatchedRequests),
} satisfies { [Name in keyof SimMatchers<unknown>]: MatcherOf<Name> };
