import type { EventPattern, PropertiesPattern } from "../client/api.ts";
import { wholeEvent } from "../client/pattern.ts";
import type { Count, Terms } from "../match/types.ts";
import { type Asked, type Judged, reportText, told } from "./asked.ts";
import type { CaptureOptions } from "./types.ts";

const seqs = (matched: readonly number[][]): string =>
  [...new Set(matched.flat())]
    .sort((a, b) => a - b)
    .map((seq) => `#${seq}`)
    .join(", ");

/** Judges terms by the sim; when they hold, `hold` says so, for whoever wanted that they do not. */
async function verified(asked: Asked, terms: Terms, options: CaptureOptions, hold: string): Promise<Judged> {
  const { distinctId: _, ...scope } = options;
  try {
    const { matched } = await asked.tenant.events.verify(terms, { ...scope, title: asked.title });
    const which = seqs(matched);
    return { pass: true, text: told(asked, which === "" ? hold : `${hold}: ${which}`) };
  } catch (error) {
    return { pass: false, text: reportText(error) };
  }
}

/** Quiet cannot be told in no time: the limit is never nearer than this to the time it must have been quiet, ms. */
const leastMargin = 50;

/** With `.not` nothing more is waited for once it is quiet. */
async function quietly(asked: Asked, options: CaptureOptions): Promise<CaptureOptions> {
  if (!asked.isNot) return options;
  const { settleMs: idleMs = 250, timeoutMs } = options;
  await asked.tenant.settle({
    idleMs,
    ...(timeoutMs !== undefined && { timeoutMs: Math.max(timeoutMs, idleMs + leastMargin) }),
  });
  return { ...options, timeoutMs: 0, settleMs: 0 };
}

/** `.not` is the sim's own "none of these": its report names the events that there should not be. */
export async function captured(
  asked: Asked,
  event: EventPattern,
  properties?: PropertiesPattern,
  options: CaptureOptions = {},
): Promise<Judged> {
  const match = wholeEvent(event, { properties, distinctId: options.distinctId });
  const count: Count = asked.isNot ? { max: 0 } : { min: 1 };
  const judged = await verified(asked, { expect: [{ match, count }] }, options, "it was captured");
  return asked.isNot ? { ...judged, pass: !judged.pass } : judged;
}

export async function capturedTimes(
  asked: Asked,
  event: EventPattern,
  count: number,
  properties?: PropertiesPattern,
  options: CaptureOptions = {},
): Promise<Judged> {
  if (!Number.isInteger(count) || count < 0)
    throw new TypeError(`${asked.title}: the count must be a whole number from 0, not ${String(count)}`);
  const match = wholeEvent(event, { properties, distinctId: options.distinctId });
  const terms: Terms = { expect: [{ match, count: { min: count, max: count } }] };
  return verified(asked, terms, await quietly(asked, options), `it was captured exactly ${count} times`);
}

function listOf(asked: Asked, events: unknown): asserts events is readonly EventPattern[] {
  if (!Array.isArray(events)) throw new TypeError(`${asked.title}: the events must be a list`);
}

export async function capturedInOrder(
  asked: Asked,
  events: readonly EventPattern[],
  options: CaptureOptions = {},
): Promise<Judged> {
  listOf(asked, events);
  if (events.length === 0) throw new TypeError(`${asked.title}: the list of events is empty`);
  const { settleMs: _, ...scope } = await quietly(asked, options);
  try {
    const found = await asked.tenant.events.waitForSequence(events, { ...scope, title: asked.title });
    return {
      pass: true,
      text: told(asked, `they were captured in this order: ${seqs([found.map(({ seq }) => seq)])}`),
    };
  } catch (error) {
    return { pass: false, text: reportText(error) };
  }
}

/** How often each pattern is in the list; only names are compared. */
function tallied(events: readonly EventPattern[]): [EventPattern, number][] {
  const names = events.filter((it) => typeof it === "string");
  const counts = new Map(names.map((name) => [name, names.filter((it) => it === name).length]));
  return [
    ...counts,
    ...events.filter((it) => typeof it !== "string").map((it): [EventPattern, number] => [it, 1]),
  ];
}

export async function capturedOnly(
  asked: Asked,
  events: readonly EventPattern[],
  options: CaptureOptions = {},
): Promise<Judged> {
  listOf(asked, events);
  const expect = tallied(events).map(([event, min]) => ({
    match: wholeEvent(event, { distinctId: options.distinctId }),
    count: { min },
  }));
  const terms: Terms = { expect, nothingElse: true };
  return verified(asked, terms, await quietly(asked, options), "nothing else was captured");
}
