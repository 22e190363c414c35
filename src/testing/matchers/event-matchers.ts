import { wholeEvent } from "../../lab/assert/client-pattern.ts";
import type { EventPattern, PropertiesPattern, Scope } from "../../lab/assert/events-api.ts";
import { describePattern } from "../../lab/assert/match/describe.ts";
import { sightingOf } from "../../lab/assert/match/evaluate.ts";
import { fitsEvery } from "../../lab/assert/match/event-pattern.ts";
import { nameText, printable, quoted } from "../../lab/assert/match/printable.ts";
import type { Count } from "../../lab/assert/match/report-shapes.ts";
import type { Pattern, Terms } from "../../lab/assert/match/types.ts";
import type { Plan } from "../../lab/plan/plan.ts";
import { explain } from "../../state/journal/drop-reasons.ts";
import type { StoredEvent } from "../../state/journal/event.ts";
import type { SimRequest } from "../../state/journal/request-shapes.ts";
import {
  type CaptureOptions,
  failedBy,
  type MatcherCall,
  type MatcherOutcome,
  messageOf,
  reportIn,
} from "./matcher.ts";

const seqs = (matched: readonly number[][]): string =>
  [...new Set(matched.flat())]
    .sort((a, b) => a - b)
    .map((seq) => `#${seq}`)
    .join(", ");

async function verified(
  call: MatcherCall,
  terms: Terms,
  options: CaptureOptions,
  hold: string,
): Promise<MatcherOutcome> {
  const { distinctId: _, ...scope } = options;
  try {
    const { matched } = await call.tenant.events.verify(terms, { ...scope, title: call.title });
    const which = seqs(matched);
    return { pass: true, text: messageOf(call, which === "" ? hold : `${hold}: ${which}`) };
  } catch (error) {
    return failedBy(reportIn(error));
  }
}

/** The limit exceeds the time of quiet by at least this, ms: else quiet could never be observed. */
const leastMargin = 50;

/** With `.not` it waits until the sim is quiet, and no longer. */
async function quietly(call: MatcherCall, options: CaptureOptions): Promise<CaptureOptions> {
  if (!call.isNot) return options;
  const { settleMs: idleMs = 250, timeoutMs } = options;
  const limit = timeoutMs === undefined ? undefined : Math.max(timeoutMs, idleMs + leastMargin);
  await call.tenant.settle({ idleMs, timeoutMs: limit });
  return { ...options, timeoutMs: 0, settleMs: 0 };
}

/** @throws TypeError for a pattern that fits every event */
function notEvery(call: MatcherCall, event: EventPattern, match: Pattern): void {
  if (fitsEvery(match))
    throw new TypeError(
      `${call.title}: ${describePattern(event)} fits every event; give a name, or a pattern with a key`,
    );
}

/** `.not` is the sim's own "none of these": its report names the unexpected events. */
export async function captured(
  call: MatcherCall,
  event: EventPattern,
  properties?: PropertiesPattern,
  options: CaptureOptions = {},
): Promise<MatcherOutcome> {
  const match = wholeEvent(event, { properties, distinctId: options.distinctId });
  if (!call.isNot) notEvery(call, event, match);
  const count: Count = call.isNot ? { max: 0 } : { min: 1 };
  const outcome = await verified(call, { expect: [{ match, count }] }, options, "it was captured");
  return call.isNot ? { ...outcome, pass: !outcome.pass } : outcome;
}

export async function capturedTimes(
  call: MatcherCall,
  event: EventPattern,
  count: number,
  properties?: PropertiesPattern,
  options: CaptureOptions = {},
): Promise<MatcherOutcome> {
  if (!Number.isInteger(count) || count < 0)
    throw new TypeError(`${call.title}: the count must be a whole number from 0, not ${String(count)}`);
  const match = wholeEvent(event, { properties, distinctId: options.distinctId });
  const terms: Terms = { expect: [{ match, count: { min: count, max: count } }] };
  return verified(call, terms, await quietly(call, options), `it was captured exactly ${count} times`);
}

function listOf(call: MatcherCall, events: unknown): asserts events is readonly EventPattern[] {
  if (!Array.isArray(events)) throw new TypeError(`${call.title}: the events must be a list`);
}

export async function capturedInOrder(
  call: MatcherCall,
  events: readonly EventPattern[],
  options: CaptureOptions = {},
): Promise<MatcherOutcome> {
  listOf(call, events);
  if (events.length === 0) throw new TypeError(`${call.title}: the list of events is empty`);
  for (const it of events) notEvery(call, it, wholeEvent(it, { distinctId: options.distinctId }));
  const { settleMs: _, ...scope } = await quietly(call, options);
  try {
    const found = await call.tenant.events.waitForSequence(events, { ...scope, title: call.title });
    return {
      pass: true,
      text: messageOf(call, `they were captured in this order: ${seqs([found.map(({ seq }) => seq)])}`),
    };
  } catch (error) {
    return failedBy(reportIn(error));
  }
}

function tallied(events: readonly EventPattern[]): [EventPattern, number][] {
  const names = events.filter((it) => typeof it === "string");
  const counts = new Map(names.map((name) => [name, names.filter((it) => it === name).length]));
  return [...counts, ...events.filter((it) => typeof it !== "string").map((it): [EventPattern, number] => [it, 1])];
}

export async function capturedOnly(
  call: MatcherCall,
  events: readonly EventPattern[],
  options: CaptureOptions = {},
): Promise<MatcherOutcome> {
  listOf(call, events);
  const expect = tallied(events).map(([event, min]) => {
    const match = wholeEvent(event, { distinctId: options.distinctId });
    notEvery(call, event, match);
    return { match, count: { min } };
  });
  const terms: Terms = { expect, nothingElse: true };
  return verified(call, terms, await quietly(call, options), "nothing else was captured");
}

const shown = 10;

/** Paths that take events: events of a rejected request are lost. */
const capturePath = /^\/+(?:e|s|capture|track|engage|batch|i\/v\d+(?:\/[\w-]+)+)\/*(?:\?|$)/;

export const capped = (lines: readonly string[], what: string): string[] =>
  lines.length > shown ? [...lines.slice(0, shown), `  … and ${lines.length - shown} more ${what}`] : [...lines];

function droppedLine({ seq, event, distinct_id, reason }: StoredEvent): string {
  const why = reason === null ? "" : `: ${reason}: ${explain(reason).sentence}; ${explain(reason).fix}`;
  return `  #${seq} ${nameText(event)} of ${quoted(distinct_id)}${why}`;
}

export const requestLine = ({ n, method, target, status, rejected }: SimRequest): string =>
  `  request #${n} ${method} ${printable(target)} (HTTP ${status})${rejected ? `: ${rejected.reason}: ${printable(rejected.detail)}` : ""}${rejected?.hint ? `\n    ${printable(rejected.hint, 400)}` : ""}`;

/** Fails on dropped events and on rejected requests with events: both are lost. */
export async function noDroppedEvents(
  call: MatcherCall,
  { since }: Pick<Scope, "since"> = {},
): Promise<MatcherOutcome> {
  const { events, settle } = call.tenant;
  await settle();
  const scope = since === undefined ? {} : { since };
  const dropped = await events.dropped(scope);
  const rejected = (await events.rejected()).filter(({ target }) => capturePath.test(target));
  const shared = await verified(call, { expect: [], noEndedKeys: true }, { ...scope, timeoutMs: 0 }, "");
  const pass = dropped.length + rejected.length === 0;
  const lines = [
    ...(dropped.length > 0 ? [`dropped events: ${dropped.length}`] : []),
    ...capped(dropped.map(droppedLine), "events"),
    ...(rejected.length > 0 ? [`requests that were rejected with all their events: ${rejected.length}`] : []),
    ...capped(rejected.map(requestLine), "requests"),
  ];
  if (shared.report) {
    const text = [shared.text, ...lines].join("\n");
    return { ...shared, text, report: { ...shared.report, text } };
  }
  const text = messageOf(call, ...(pass ? ["every event was kept"] : lines));
  return {
    ...{ pass, text },
    report: {
      ...{ title: call.title, text, hints: [] },
      dropped: dropped.flatMap((it) =>
        it.reason === null ? [] : [{ ...sightingOf(it), reason: it.reason, ...explain(it.reason), fits: false }],
      ),
      rejected: rejected.flatMap((it) =>
        it.rejected === null ? [] : [{ n: it.n, method: it.method, target: it.target, ...it.rejected }],
      ),
    },
  };
}

const page = 10_000;

async function eventsOf({ tenant }: MatcherCall): Promise<StoredEvent[]> {
  await tenant.settle();
  const events: StoredEvent[] = [];
  for (let since = 0; ; ) {
    const more = await tenant.events.list({ outcome: "kept", since, limit: page });
    events.push(...more);
    const last = more.at(-1);
    if (!last || more.length < page) return events;
    since = last.seq;
  }
}

const isPlan = (plan: unknown): plan is Plan | string =>
  typeof plan === "string" || (typeof plan === "object" && plan !== null && "checks" in plan);

function titled(call: MatcherCall, plan: Plan | string): MatcherCall {
  if (typeof plan === "string") return call;
  const name = plan.title === null ? "a plan" : JSON.stringify(plan.title);
  return { ...call, title: call.title.replace(/\(.*/s, () => `(${name})`) };
}

/** The code that reads and checks plans is loaded on first use. */
export async function trackingPlan(call: MatcherCall, plan: Plan | string): Promise<MatcherOutcome> {
  if (!isPlan(plan)) throw new TypeError(`${call.title}: give a plan from definePlan(), or the path of a plan file`);
  const { checkPlan } = await import("../../lab/plan/check-plan.ts");
  const { violations, text } = await checkPlan(plan, await eventsOf(call));
  return { pass: violations.length === 0, text: messageOf(titled(call, plan), text) };
}
