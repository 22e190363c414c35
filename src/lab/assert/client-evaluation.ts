import { performance } from "node:perf_hooks";
import type { Json } from "../../kernel/base/json.ts";
import type { HandleScope } from "../../kernel/call/call.ts";
import { ControlError, ExpectationError } from "../../kernel/call/errors.ts";
import type { StoredEvent } from "../../state/journal/event.ts";
import type { EventQuery, VerifyOptions, WaitOptions } from "./events-api.ts";
import { defaultSettle, defaultWait, settleGrace } from "./limits.ts";
import { differences } from "./match/differences.ts";
import { Evaluation, fitsEvent, forbids, mostNamed, sightingOf } from "./match/evaluate.ts";
import { reportOf } from "./match/failure-report.ts";
import { isUnanswered } from "./match/predicates.ts";
import { nameText } from "./match/printable.ts";
import type { Complaint, Sighting, Surroundings } from "./match/report-shapes.ts";
import type { Expectation, Pattern, Terms, Verdict } from "./match/types.ts";
import { toWire } from "./match/wire.ts";
import { largestPage, listingOf, pageOf } from "./stream-client.ts";

/**
 * Assertions with patterns that have no JSON form: a function, a custom matcher. The sim sends the events that a wider
 * pattern fits, as they come; they are tested here, by the rules and with the report of the sim.
 */

/** N events of one pattern, or one event for each pattern in order. */
export type WaitTarget = { match: Pattern; count: number } | { sequence: readonly Pattern[] };

interface Collected {
  events: StoredEvent[];
  evaluation: Evaluation;
  /** The end of the log when it was read. */
  cursor: number;
}

const scopeOf = ({ project }: HandleScope, options: WaitOptions): EventQuery => ({
  outcome: "kept",
  project: project ?? options.project ?? undefined,
  since: options.since ?? 0,
});

const concerns = ({ expect, nothingElse }: Terms): EventQuery => {
  if (nothingElse) return {};
  const [only, ...others] = expect;
  if (others.length > 0) return { where: { "@any": expect.map(({ match }) => match) } };
  return only ? { where: only.match as EventQuery["where"] } : {};
};

const pastEnd = (since: number, newest: number): TypeError =>
  new TypeError(`"since" is ${since}, but the newest event is #${newest}; take it from events.mark() of this sim`);

async function collect(
  place: HandleScope,
  query: EventQuery,
  seen: Collected,
  { waitMs, isEnough }: { waitMs: number; isEnough(): boolean },
): Promise<void> {
  const { query: listing } = listingOf(place, { ...query, order: "asc", limit: largestPage });
  const end = performance.now() + waitMs;
  for (;;) {
    const { cursor: since } = seen;
    const left = Math.max(0, Math.ceil(end - performance.now()));
    const page = await pageOf(place, { ...listing, since }, { waitMs: left });
    if (page.cursor < since) throw pastEnd(since, page.cursor);
    for (const event of page.events) {
      seen.events.push(event);
      seen.evaluation.take(event);
    }
    seen.cursor = page.cursor;
    const isOver = left === 0 && !page.more;
    if (isOver || (page.events.length > 0 && isEnough())) return;
  }
}

const termsOf = (target: WaitTarget): Terms =>
  "match" in target
    ? { expect: [{ match: target.match, count: { min: target.count } }] }
    : { expect: target.sequence.map((match) => ({ match, count: { min: 1 } })), ordered: true };

/** The sightings that fit: the sim knows only the wider pattern. */
async function fitting<T extends Sighting>(place: HandleScope, match: Pattern, sightings: readonly T[]): Promise<T[]> {
  const doFit = await Promise.all(
    sightings.map(async ({ seq }) => {
      const [event] = (await pageOf({ call: place.call }, { since: seq - 1, until: seq })).events;
      return event !== undefined && fitsEvent(match, event);
    }),
  );
  return sightings.filter((_, i) => doFit[i]);
}

/** Time for requests in flight to end, ms: the report then shows that their events came too late. */
const lateGrace = 250;

async function lateOnes(
  place: HandleScope,
  { match, cursor, options }: { match: Pattern; cursor: number; options: WaitOptions },
  inFlight: number,
): Promise<Sighting[]> {
  const { query } = listingOf(place, { ...scopeOf(place, options), since: cursor });
  const waitMs = inFlight > 0 ? lateGrace : 0;
  const { events } = await pageOf(place, { ...query, limit: mostNamed }, { waitMs });
  return events.filter((event) => fitsEvent(match, event)).map(sightingOf);
}

async function surroundings(place: HandleScope, match: Pattern, failure: Failure): Promise<Surroundings> {
  const { options, seen, waited } = failure;
  const { project, since } = scopeOf(place, options);
  const body = { match: toWire(match).wire, project, since };
  const around = await place.call<Surroundings>("POST", "events/surroundings", body);
  const [early, late, elsewhere] = await Promise.all([
    fitting(place, match, around.early),
    lateOnes(place, { match, cursor: seen.cursor, options }, around.in_flight),
    fitting(place, match, around.elsewhere),
  ]);
  return { ...around, early, late, elsewhere, waited_ms: Math.round(waited) };
}

const missed = ({ complaints }: Verdict, { expect }: Terms): Expectation | undefined =>
  complaints.flatMap((it) => ("expectation" in it ? (expect[it.expectation] ?? []) : []))[0];

interface Failure {
  code: "wait_timeout" | "expectation_failed";
  terms: Terms;
  seen: Collected;
  waited: number;
  options: WaitOptions;
  shared?: readonly Complaint[];
}

async function failed(place: HandleScope, failure: Failure): Promise<ExpectationError> {
  const { code, terms, seen, options } = failure;
  const latest = async (outcome: "kept" | "dropped") => {
    const query = { ...scopeOf(place, options), outcome, until: seen.cursor, limit: largestPage };
    return (await pageOf(place, listingOf(place, { ...query, order: "desc" }).query)).events.reverse();
  };
  const [kept, dropped] = await Promise.all([latest("kept"), latest("dropped")]);
  const evaluated = seen.evaluation.verdict();
  const verdict = { ...evaluated, complaints: [...evaluated.complaints, ...(failure.shared ?? [])] };
  const around = await surroundings(place, missed(verdict, terms)?.match ?? {}, failure);
  const title = options.title ?? "";
  const report = reportOf({ title, terms, verdict, kept, dropped, surroundings: around });
  return new ExpectationError(409, { code, detail: report.title }, report);
}

const none = (terms: Terms, { since = 0 }: WaitOptions): Collected => ({
  events: [],
  evaluation: new Evaluation(terms),
  cursor: since,
});

/** Waits for events of patterns without a JSON form. @throws ExpectationError */
export async function waitHere(place: HandleScope, target: WaitTarget, options: WaitOptions): Promise<StoredEvent[]> {
  const terms = termsOf(target);
  const started = performance.now();
  const query = { ...scopeOf(place, options), ...concerns(terms) };
  const seen = none(terms, options);
  const { isMet, chosen } = seen.evaluation;
  await collect(place, query, seen, { waitMs: options.timeoutMs ?? defaultWait, isEnough: isMet });
  if (isMet()) return chosen;
  const waited = performance.now() - started;
  throw await failed(place, { code: "wait_timeout", terms, seen, waited, options });
}

/** @throws TypeError if only a function without an answer keeps an event from fitting a pattern with a maximum */
function checkAnswered(terms: Terms, events: readonly StoredEvent[]): void {
  for (const { match, count } of terms.expect) {
    if (count?.max === undefined) continue;
    for (const event of events) {
      const found = fitsEvent(match, event) ? [] : differences(match, event as unknown as Json);
      const [first] = found;
      if (!first || !found.every(({ hint }) => isUnanswered(hint))) continue;
      throw new TypeError(
        `${first.expected} gave no answer for #${event.seq} ${nameText(event.event)}: ${first.hint}; return true or false for every value`,
      );
    }
  }
}

/** Verifies terms with patterns without a JSON form; returns the seqs that fit. @throws ExpectationError */
export async function verifyHere(place: HandleScope, terms: Terms, options: VerifyOptions): Promise<number[][]> {
  const started = performance.now();
  const query = { ...scopeOf(place, options), ...concerns(terms) };
  const seen = none(terms, options);
  const { isMet, isExceeded } = seen.evaluation;
  await collect(place, query, seen, {
    waitMs: isMet() ? 0 : (options.timeoutMs ?? defaultWait),
    isEnough: () => isMet() || isExceeded(),
  });
  if (forbids(terms) && isMet() && !isExceeded()) {
    await settle(place, options, performance.now() - started);
    await collect(place, query, seen, { waitMs: 0, isEnough: () => false });
  }
  const verdict = seen.evaluation.verdict();
  if (verdict.passed) checkAnswered(terms, seen.events);
  const waited = performance.now() - started;
  const failure: Failure = { code: "expectation_failed", terms, seen, waited, options };
  if (verdict.passed && forbids(terms)) {
    // of an event that was not kept only the sim knows more than its name
    const { ended, wrong_keys, project } = await surroundings(place, {}, failure);
    const expected = project?.api_key ?? null;
    failure.shared = [
      ...ended
        .filter(({ certain }) => certain)
        .map(({ name, api_key, events: sent }) => ({ kind: "ended_key" as const, name, api_key, sent })),
      ...wrong_keys
        .filter(({ certain, events }) => certain && events.length > 0)
        .map(({ api_key, events: sent }) => ({ kind: "wrong_key" as const, api_key, expected, sent })),
    ];
  }
  if (verdict.passed && !failure.shared?.length) return verdict.matched;
  throw await failed(place, failure);
}

/** If it does not get quiet in time, the events until then count. */
async function settle(
  place: HandleScope,
  { project, settleMs = defaultSettle, timeoutMs = defaultWait }: VerifyOptions,
  waited: number,
): Promise<void> {
  if (settleMs === 0) return;
  const timeout = Math.ceil(Math.max(timeoutMs - waited, settleMs + settleGrace));
  const body = { project: place.project ?? project, idle_ms: settleMs, timeout_ms: timeout };
  try {
    await place.call("POST", "settle", body);
  } catch (error) {
    if (!(error instanceof ControlError && error.code === "wait_timeout")) throw error;
  }
}
