import type { JsonObject } from "../../kernel/base/json.ts";
import { type HandleScope, type Query, queryText } from "../../kernel/call/call.ts";
import { ExpectationError, fromCaller, withLine } from "../../kernel/call/errors.ts";
import { newest } from "../../kernel/call/newest.ts";
import type { StoredEvent } from "../../state/journal/event.ts";
import type { RequestQuery, SimRequest } from "../../state/journal/request-shapes.ts";
import type { Assertions } from "./client-assertions.ts";
import type { WaitTarget } from "./client-evaluation.ts";
import { called, problemText, wholeEvent } from "./client-pattern.ts";
import type { ContactPage } from "./contact-rows.ts";
import {
  type ContactQuery,
  type EventQuery,
  type Events,
  eventOptions,
  type Requests,
  requestOptions,
  type VerifyOptions,
  type WaitOptions,
} from "./events-api.ts";
import type { KnownCauses } from "./match/causes.ts";
import { describePattern } from "./match/describe.ts";
import { fitsEvent } from "./match/evaluate.ts";
import { checkTerms } from "./match/event-pattern.ts";
import type { Terms } from "./match/types.ts";
import { toWire } from "./match/wire.ts";
import { largestPage, listingOf, pageOf, streamOf } from "./stream-client.ts";

async function list(place: HandleScope, query: EventQuery): Promise<StoredEvent[]> {
  const { query: asked, exact } = listingOf(place, query);
  const { limit = largestPage, where } = query;
  if (exact) return pagesOf(place, asked, limit);
  const found: StoredEvent[] = [];
  let since = query.since ?? 0;
  for (;;) {
    const page = await pageOf(place, { ...asked, since, limit: largestPage, order: "asc" });
    found.push(...page.events.filter((event) => fitsEvent(where, event)));
    if (!page.more) break;
    since = page.cursor;
  }
  return (query.order === "desc" ? found.reverse() : found).slice(0, limit);
}

/** A page may end early if much was searched; the next one continues. */
async function pagesOf(place: HandleScope, query: Query, limit: number): Promise<StoredEvent[]> {
  const found: StoredEvent[] = [];
  for (let asked = query; ; ) {
    const page = await pageOf(place, { ...asked, limit: limit - found.length });
    found.push(...page.events);
    if (!page.more || found.length >= limit) return found;
    asked = query.order === "desc" ? { ...asked, until: page.cursor - 1 } : { ...asked, since: page.cursor };
  }
}

const scopeBody = (place: HandleScope, { since, project, timeoutMs, title }: WaitOptions) => ({
  since,
  project: place.project ?? project,
  timeout_ms: timeoutMs,
  title,
});

/** The server evaluates patterns that JSON can express; the client evaluates others by the same rules. */
async function wait(place: HandleScope, target: WaitTarget, options: WaitOptions): Promise<StoredEvent[]> {
  const wired = ("match" in target ? [target.match] : target.sequence).map((it) => toWire(it));
  if (!wired.every(({ exact }) => exact))
    return (await import("./client-evaluation.ts")).waitHere(place, target, options);
  const wires = wired.map(({ wire }) => wire);
  const what = "match" in target ? { match: wires[0], count: target.count } : { sequence: wires };
  const body = { ...what, ...scopeBody(place, options) };
  return (await place.call<{ events: StoredEvent[] }>("POST", "events/wait", body)).events;
}

/** @throws TypeError for what callers without a compiler pass, and for terms that hold or fail whatever the app does */
function checkVerified(terms: Terms | undefined): void {
  const expected = `expected { expect: [{ match: { event: "signed_up" } }] }`;
  const list: unknown = terms?.expect;
  if (!Array.isArray(list)) throw new TypeError(`${expected}, got ${describePattern(terms)}`);
  const wrong = list.findIndex((it: unknown) => typeof it !== "object" || it === null || !("match" in it));
  if (wrong >= 0) throw new TypeError(`${expected}, got ${describePattern(list[wrong])} at expect[${wrong}]`);
  if (terms) refuseMeaningless(terms);
}

/** @throws TypeError */
function refuseMeaningless(terms: Terms): void {
  const [problem] = checkTerms(terms);
  if (problem) throw new TypeError(problemText(problem));
}

async function verify(place: HandleScope, terms: Terms, options: VerifyOptions): Promise<number[][]> {
  const wired = terms.expect.map(({ match }) => toWire(match));
  if (!wired.every(({ exact }) => exact))
    return (await import("./client-evaluation.ts")).verifyHere(place, terms, options);
  const body = {
    expect: terms.expect.map(({ count }, i) => ({ match: wired[i]?.wire, count })),
    ordered: terms.ordered,
    nothing_else: terms.nothingElse,
    no_ended_keys: terms.noEndedKeys,
    settle_ms: options.settleMs,
    ...scopeBody(place, options),
  };
  return (await place.call<{ matched: number[][] }>("POST", "events/verify", body)).matched;
}

const first = (events: readonly StoredEvent[]): StoredEvent => {
  const [event] = events;
  if (event) return event;
  throw new TypeError("the sim answered a wait without an event");
};

async function explain(error: ExpectationError, known: KnownCauses): Promise<ExpectationError> {
  if (Object.values(known).every(({ length }) => length === 0)) return error;
  const { withKnown } = await import("./match/failure-report.ts");
  return new ExpectationError(error.status, error.body, withKnown(error.report, known));
}

export function eventsBy(place: HandleScope, requests: Requests, assertions: Assertions): Events {
  /** Ends the wait before the test's own limit, and notes in the report that it was shortened. */
  const within = async <T extends WaitOptions, R>(options: T, run: (options: T) => Promise<R>): Promise<R> => {
    const { timeoutMs = assertions.waitMs } = options;
    const left = assertions.within(timeoutMs);
    try {
      return await run({ ...options, timeoutMs: left });
    } catch (error) {
      const isTooFew =
        error instanceof ExpectationError && error.report.complaints.some(({ kind }) => kind === "too_few");
      if (!isTooFew) throw error;
      const explained = await explain(error, await assertions.known());
      throw left < timeoutMs
        ? withLine(explained, `the wait was shortened from ${timeoutMs} ms to ${left} ms by the test's own limit`)
        : explained;
    }
  };
  /** Runs an assertion; its error points at the line that called `above`. */
  const asserted = <T>(
    above: (...args: never[]) => unknown,
    title: string,
    run: (title: string) => Promise<T>,
  ): Promise<T> => assertions.run(above, title, () => fromCaller(above, () => run(title)));
  const mark = async () => (await pageOf(place, { since: Number.MAX_SAFE_INTEGER, limit: 1 })).cursor;
  assertions.arrival = (since, waitMs) =>
    pageOf(place, { ...listingOf(place, { outcome: "kept", since }).query, limit: 1 }, { waitMs });
  const events: Events = eventOptions({
    list: (query = {}) => list(place, query),
    dropped: (query = {}) => list(place, { ...query, outcome: "dropped" }),
    rejected: (query) => requests.list({ ...query, outcome: "rejected" }),
    waitFor: (event, properties, options) =>
      asserted(events.waitFor, options?.title ?? called("waitFor", event, properties), async (title) => {
        const match = wholeEvent(event, { properties });
        return first(await within({ ...options, title }, (it) => wait(place, { match, count: 1 }, it)));
      }),
    waitForCount: (event, count, { properties, ...options } = {}) => {
      const name = options.title ?? called("waitForCount", event, count, properties);
      return asserted(events.waitForCount, name, async (title) => {
        if (!Number.isInteger(count) || count < 1)
          throw new TypeError(
            `the count must be a whole number from 1, got ${describePattern(count)}; expectNone() is for none`,
          );
        const match = wholeEvent(event, { properties });
        return within({ ...options, title }, (it) => wait(place, { match, count }, it));
      });
    },
    waitForSequence: (patterns, { distinctId, ...options } = {}) => {
      const scope = distinctId === undefined ? undefined : { distinctId };
      const name = options.title ?? called("waitForSequence", patterns, scope);
      return asserted(events.waitForSequence, name, async (title) => {
        if (!Array.isArray(patterns))
          throw new TypeError(`expected a list of names and patterns, got ${describePattern(patterns)}`);
        const sequence = patterns.map((it) => wholeEvent(it, { distinctId }));
        return within({ ...options, title }, (it) => wait(place, { sequence }, it));
      });
    },
    expectNone: (event, properties, options) =>
      asserted(events.expectNone, options?.title ?? called("expectNone", event, properties), async (title) => {
        const match = wholeEvent(event ?? {}, { properties });
        const terms: Terms = { expect: [{ match, count: { max: 0 } }] };
        refuseMeaningless(terms);
        await within({ ...options, title }, (it) => verify(place, terms, it));
      }),
    verify: (terms, options) =>
      asserted(events.verify, options?.title ?? called("verify", terms), async (title) => {
        checkVerified(terms);
        const matched = await within({ ...options, title }, (it) => verify(place, terms, it));
        return { passed: true, complaints: [], matched };
      }),
    async snapshot({ omit = [], ...scope } = {}) {
      if (!Array.isArray(omit) || !omit.every((it) => typeof it === "string"))
        throw new TypeError(`omit: expected a list of names of properties, got ${describePattern(omit)}`);
      const project = place.project ?? scope.project;
      await place.call("POST", "settle", { project, timeout_ms: assertions.within() });
      const { snapshotOf } = await import("../../state/journal/snapshot-client.ts");
      return snapshotOf(await list(place, scope), omit);
    },
    clear: async () => void (await place.call("DELETE", `events${queryText({ project: place.project })}`)),
    mark,
    stream: (query = {}, { signal } = {}) => streamOf(place, { query, signal, mark }),
  });
  return events;
}

const most = 10_000;

export function requestsBy({ call, project }: HandleScope): Requests {
  const asked = (query: RequestQuery | undefined) => ({ ...query, project: project ?? query?.project });
  const list = async (query: RequestQuery = {}) => {
    const paged = { path: "requests", list: "requests", pageSize: most };
    return (await newest<SimRequest>((path) => call("GET", path), paged, { limit: most, ...asked(query) })).entries;
  };
  const contacts = ({ waitMs, ...query }: ContactQuery) =>
    call<ContactPage>("GET", `contacts${queryText({ ...query, ...asked(query), wait_ms: waitMs })}`);
  return requestOptions({
    list,
    contacts: async (query = {}) => (await contacts({ limit: most, ...query })).contacts,
    mark: async () => (await contacts({ limit: 1 })).cursor,
    unmatched: (query) => list({ ...query, outcome: "unmatched" }),
    get: (n) => call<SimRequest & JsonObject>("GET", `requests/${n}`),
    har: ({ limit = most, ...query } = {}) => call("GET", `requests.har${queryText({ ...asked(query), limit })}`),
  });
}
