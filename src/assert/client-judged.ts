import { performance } from "node:perf_hooks";
import type { EventQuery, VerifyOptions, WaitOptions } from "../client/api.ts";
import type { Place } from "../client/call.ts";
import { ControlError, ExpectationError } from "../client/errors.ts";
import { largestPage, listingOf, pageOf } from "../client/pages.ts";
import type { StoredEvent } from "../journal/event.ts";
import { fitsEvent, inOrder, judge, sightingOf } from "./match/judge.ts";
import { defaultSettle, defaultWait, settleGrace } from "./match/patience.ts";
import { reportOf } from "./match/report.ts";
import type { Expectation, Pattern, Sighting, Surroundings, Terms, Verdict } from "./match/types.ts";
import { toWire } from "./match/wire.ts";

/**
 * Assertions with patterns that cannot be said over HTTP: a function, a matcher of one's own. The sim sends what
 * may be it, as it comes; it is judged here, by the rules and with the report of the sim.
 */

/** What is waited for: so many events of one pattern, or one of each in order. */
export type Wish = { match: Pattern; count: number } | { sequence: readonly Pattern[] };

/** Events that a report names at most. */
const mostNamed = 20;

interface Collected {
  events: StoredEvent[];
  /** Where it was left off. */
  cursor: number;
}

const scopeOf = ({ project }: Place, options: WaitOptions): EventQuery => ({
  outcome: "kept",
  project: project ?? options.project ?? undefined,
  since: options.since ?? 0,
});

/** Every event that may concern the terms is like this. */
const concerns = ({ expect, nothingElse }: Terms): EventQuery => {
  if (nothingElse) return {};
  const [only, ...others] = expect;
  if (others.length > 0) return { where: { "@any": expect.map(({ match }) => match) } };
  return only ? { where: only.match as EventQuery["where"] } : {};
};

/** Adds what comes until it is enough, or `waitMs` are over. */
async function collect(
  place: Place,
  query: EventQuery,
  { events, cursor }: Collected,
  { waitMs, isEnough }: { waitMs: number; isEnough(events: readonly StoredEvent[]): boolean },
): Promise<Collected> {
  const { query: asked } = listingOf(place, { ...query, order: "asc", limit: largestPage });
  const end = performance.now() + waitMs;
  let since = cursor;
  for (;;) {
    const left = Math.max(0, Math.ceil(end - performance.now()));
    const page = await pageOf(place, { ...asked, since }, { waitMs: left });
    events.push(...page.events);
    since = page.cursor;
    const isOver = left === 0 && !page.more;
    if (isOver || (page.events.length > 0 && isEnough(events))) return { events, cursor: since };
  }
}

const termsOf = (wish: Wish): Terms =>
  "match" in wish
    ? { expect: [{ match: wish.match, count: { min: wish.count } }] }
    : { expect: wish.sequence.map((match) => ({ match, count: { min: 1 } })), ordered: true };

/** The first events of one pattern, or one of each after the other. */
function picked(wish: Wish, terms: Terms, events: readonly StoredEvent[]): StoredEvent[] {
  if ("match" in wish) return events.filter((event) => fitsEvent(wish.match, event)).slice(0, wish.count);
  return (inOrder(terms, events) ?? []).flat();
}

/** Those of the sightings that really fit: the sim can only tell what may. */
async function fitting<T extends Sighting>(
  place: Place,
  match: Pattern,
  sightings: readonly T[],
): Promise<T[]> {
  const doFit = await Promise.all(
    sightings.map(async ({ seq }) => {
      const [event] = (await pageOf({ call: place.call }, { since: seq - 1, until: seq })).events;
      return event !== undefined && fitsEvent(match, event);
    }),
  );
  return sightings.filter((_, i) => doFit[i]);
}

/** How long an answer that is on its way may take to be told as late, ms. */
const lateGrace = 250;

/** Events that came after the wait was over. */
async function lateOnes(
  place: Place,
  { match, cursor, options }: { match: Pattern; cursor: number; options: WaitOptions },
  inFlight: number,
): Promise<Sighting[]> {
  const { query } = listingOf(place, { ...scopeOf(place, options), since: cursor });
  const waitMs = inFlight > 0 ? lateGrace : 0;
  const { events } = await pageOf(place, { ...query, limit: mostNamed }, { waitMs });
  return events.filter((event) => fitsEvent(match, event)).map(sightingOf);
}

async function surroundings(place: Place, match: Pattern, failure: Failure): Promise<Surroundings> {
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

/** What the report looks for: the first expectation that failed. */
const missed = ({ complaints }: Verdict, { expect }: Terms): Expectation | undefined =>
  complaints.flatMap((it) => ("expectation" in it ? (expect[it.expectation] ?? []) : []))[0];

interface Failure {
  code: "wait_timeout" | "expectation_failed";
  terms: Terms;
  /** What was judged, and how far. */
  seen: Collected;
  waited: number;
  options: WaitOptions;
}

async function failed(place: Place, failure: Failure): Promise<ExpectationError> {
  const { code, terms, seen, options } = failure;
  const latest = async (outcome: "kept" | "dropped") => {
    const query = { ...scopeOf(place, options), outcome, until: seen.cursor, limit: largestPage };
    return (await pageOf(place, listingOf(place, { ...query, order: "desc" }).query)).events.reverse();
  };
  const [kept, dropped] = await Promise.all([latest("kept"), latest("dropped")]);
  const verdict = judge(terms, seen.events);
  const around = await surroundings(place, missed(verdict, terms)?.match ?? {}, failure);
  const title = options.title ?? "";
  const report = reportOf({ title, terms, verdict, kept, dropped, surroundings: around });
  return new ExpectationError(409, { code, detail: report.title }, report);
}

const none = (options: WaitOptions): Collected => ({ events: [], cursor: options.since ?? 0 });

/** Waits for events of patterns that only this end can judge. @throws ExpectationError */
export async function waitHere(place: Place, wish: Wish, options: WaitOptions): Promise<StoredEvent[]> {
  const terms = termsOf(wish);
  const started = performance.now();
  const query = { ...scopeOf(place, options), ...concerns(terms) };
  const seen = await collect(place, query, none(options), {
    waitMs: options.timeoutMs ?? defaultWait,
    isEnough: (found) => judge(terms, found).passed,
  });
  if (judge(terms, seen.events).passed) return picked(wish, terms, seen.events);
  const waited = performance.now() - started;
  throw await failed(place, { code: "wait_timeout", terms, seen, waited, options });
}

/** The terms without what forbids. */
const minima = ({ expect, ordered = false }: Terms): Terms => ({
  expect: expect.map(({ match, count = { min: 1 } }) => ({
    match,
    count: count.min === undefined ? {} : { min: count.min },
  })),
  ordered,
});

const forbids = ({ expect, nothingElse }: Terms): boolean =>
  nothingElse === true || expect.some(({ count }) => count?.max !== undefined);

/** Does what came already exceed the terms, whatever comes? */
const exceeded = (terms: Terms, events: readonly StoredEvent[]): boolean =>
  judge(terms, events).complaints.some(({ kind }) => kind === "too_many");

/** Verifies terms that only this end can judge; returns the seqs that fit. @throws ExpectationError */
export async function verifyHere(place: Place, terms: Terms, options: VerifyOptions): Promise<number[][]> {
  const started = performance.now();
  const query = { ...scopeOf(place, options), ...concerns(terms) };
  const isReached = (events: readonly StoredEvent[]) => judge(minima(terms), events).passed;
  const isDecided = (events: readonly StoredEvent[]) => isReached(events) || exceeded(terms, events);
  let seen = await collect(place, query, none(options), {
    waitMs: isReached([]) ? 0 : (options.timeoutMs ?? defaultWait),
    isEnough: isDecided,
  });
  if (forbids(terms) && isReached(seen.events) && !exceeded(terms, seen.events)) {
    await settle(place, options, performance.now() - started);
    seen = await collect(place, query, seen, { waitMs: 0, isEnough: () => false });
  }
  const verdict = judge(terms, seen.events);
  if (verdict.passed) return verdict.matched;
  const waited = performance.now() - started;
  throw await failed(place, { code: "expectation_failed", terms, seen, waited, options });
}

/** Where it does not get quiet, what came until then is judged. */
async function settle(
  place: Place,
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
