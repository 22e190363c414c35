import { counted } from "../../kernel/base/text.ts";
import { checkOptions, keysOf, type OptionKeys } from "../../kernel/call/option-keys.ts";
import { assertionsOf } from "../../lab/assert/client-assertions.ts";
import { called } from "../../lab/assert/client-pattern.ts";
import { describePattern } from "../../lab/assert/match/describe.ts";
import type { ProxyCheckOptions } from "../../lab/proxy-check/client.ts";
import type { Tenant } from "../../sim/client/api.ts";
import {
  captured,
  capturedInOrder,
  capturedOnly,
  capturedTimes,
  noDroppedEvents,
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
import { recorded, recordedNoneOf } from "./recording-matchers.ts";
import { contacted, noUnmatchedRequests, passThroughProxy } from "./request-matchers.ts";

type ArgsOf<Name extends keyof SimMatchers<unknown>> = Parameters<SimMatchers<unknown>[Name]>;
type MatcherOf<Name extends keyof SimMatchers<unknown>> = (
  this: RunnerState | undefined,
  received: Tenant,
  ...args: ArgsOf<Name>
) => Promise<MatcherResult>;

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
function checkCall(
  name: string,
  title: string,
  received: unknown,
  args: readonly unknown[],
  options: OptionKeys,
): void {
  if (!isTenant(received)) throw wrongReceiver(title, received);
  if (args.length === 2 && args[1] === undefined)
    throw new TypeError(`${title}: the second argument is undefined; leave it out if it does not matter`);
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

function hintOn(received: unknown): string {
  if (isObject(received) && "then" in received) return ", not a promise of one: await it first";
  if (isObject(received) && "waitFor" in received) return ", not its events";
  return `, not ${describePattern(received, 60)}`;
}

const wrongReceiver = (name: string, received: unknown): TypeError =>
  new TypeError(`${name}: expect() needs a sim, or a project of one${hintOn(received)}`);

/** The call as written; values that must not be recorded are personal, and only counted. */
function titleOf(shown: string, name: string, args: readonly unknown[]): string {
  if (name !== "toHaveRecordedNoneOf") return called(shown, ...args);
  const [values] = args;
  return `${shown}(${Array.isArray(values) ? counted(values.length, "value") : ""})`;
}

function matcherOf(name: string, evaluate: Evaluate<never[]>, options: OptionKeys = {}) {
  async function result(
    matcher: (...args: never[]) => unknown,
    state: RunnerState | undefined,
    received: Tenant,
    args: never[],
  ): Promise<MatcherResult> {
    const isNot = state?.isNot === true;
    const title = titleOf(isNot ? `not.${name}` : name, name, args);
    try {
      checkCall(name, title, received, args, options);
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
  return function matcher(this: RunnerState | undefined, received: Tenant, ...args: never[]): Promise<MatcherResult> {
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

const capture = keysOf<CaptureOptions>({ since: true, timeoutMs: true, settleMs: true, distinctId: true });
const recording = keysOf<RecordedOptions>({ quietMs: true, timeoutMs: true, session: true, allowUnread: true });
const identity = keysOf<IdentityOptions>({ timeoutMs: true });

const matchers = {
  toHaveCaptured: [captured, { 2: capture }],
  toHaveCapturedTimes: [capturedTimes, { 3: capture }],
  toHaveCapturedInOrder: [capturedInOrder, { 1: capture }],
  toHaveCapturedOnly: [capturedOnly, { 1: capture }],
  toHaveNoDroppedEvents: [noDroppedEvents, [["since"]]],
  toHaveIdentified: [identified, { 2: identity }],
  toHaveMerged: [merged, { 2: identity }],
  toHaveServedFlag: [servedFlag, { 2: keysOf<ServedFlagOptions>({ timeoutMs: true, distinctId: true }) }],
  toHaveInsight: [insight, { 2: identity }],
  toPassThroughProxy: [
    passThroughProxy,
    { 1: keysOf<ProxyCheckOptions>({ origin: true, framework: true, timeoutMs: true }) },
  ],
  toHaveRecorded: [recorded, [recording]],
  toHaveRecordedNoneOf: [recordedNoneOf, { 1: recording }],
  toMatchTrackingPlan: [trackingPlan],
  toHaveBeenContacted: [contacted, [keysOf<ContactOptions>({ since: true, timeoutMs: true })]],
  toHaveNoUnmatchedRequests: [noUnmatchedRequests],
} as const satisfies {
  readonly [Name in keyof SimMatchers<unknown>]: readonly [evaluate: Evaluate<ArgsOf<Name>>, options?: OptionKeys];
};

/**
 * The matchers, for `expect.extend` of any runner: functions of the received value and the matcher's arguments, which
 * return `pass` and a message.
 */
export const simMatchers = Object.fromEntries(
  Object.entries(matchers).map(([name, [evaluate, options]]) => [name, matcherOf(name, evaluate, options)]),
) as { [Name in keyof SimMatchers<unknown>]: MatcherOf<Name> };
