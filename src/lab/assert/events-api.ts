import type { JsonObject } from "../../kernel/base/json.ts";
import { keysOf, knownOptions } from "../../kernel/call/option-keys.ts";
import type { StoredEvent } from "../../state/journal/event.ts";
import type { EventParameters } from "../../state/journal/query-shapes.ts";
import type { RequestQuery, SimRequest } from "../../state/journal/request-shapes.ts";
import type { EventSnapshot } from "../../state/journal/snapshot-client.ts";
import type { Contact } from "./contact-rows.ts";
import type { CheckedPattern } from "./match/operators.ts";
import type { Expectation, Pattern, Terms, Verdict } from "./match/types.ts";

/** A pattern for events: a name, a regular expression for names, or one for the whole event, e.g. `{ event: "signup", distinct_id: "u1" }`. */
export type EventPattern = string | RegExp | { readonly [key: string]: Pattern };
export type PropertiesPattern = { readonly [name: string]: Pattern };

export interface Scope {
  /** Only events after this cursor (`events.mark()`); by default all since the start, or the last clear. */
  since?: number;
  /** Only this project's; a project's own handle has this set. */
  project?: number;
}

export interface WaitOptions extends Scope {
  /** How long to wait, ms. Default 4,000: below the test runners' own limit, so that the report is shown. */
  timeoutMs?: number;
  /** First line of the report if the wait fails (default: the call). */
  title?: string;
}

export interface VerifyOptions extends WaitOptions {
  /** How long it must have been quiet before "no more" counts as true, ms. Default 250; 0 does not wait. */
  settleMs?: number;
}

/** Expectations on several patterns; `M` are the types of the patterns. */
type CheckedTerms<M extends readonly Pattern[]> = Omit<Terms, "expect"> & {
  expect: { readonly [Index in keyof M]: Expectation<CheckedPattern<M[Index]>> };
};

/** Selects events: the parameters of `GET /__sim/events`. */
export interface EventQuery<W extends PropertiesPattern = PropertiesPattern> extends EventParameters {
  /** A pattern for the whole event, e.g. `{ properties: { plan: "pro" } }`. */
  where?: CheckedPattern<W>;
}

export interface SnapshotOptions {
  /** Only events after this cursor (`events.mark()`). */
  since?: number;
  project?: number;
  /** Names of properties that differ from run to run: they are left out, at any depth. */
  omit?: readonly string[];
}

/** The captured events. Every method that waits returns on arrival of the event; nothing polls. */
export interface Events {
  /** Events in order of arrival. */
  list<W extends PropertiesPattern>(query?: EventQuery<W>): Promise<StoredEvent[]>;
  /** The events that were dropped, each with its reason. */
  dropped<W extends PropertiesPattern>(query?: Omit<EventQuery<W>, "outcome">): Promise<StoredEvent[]>;
  /** The requests that were rejected whole, newest first, each with its reason. */
  rejected(query?: Omit<RequestQuery, "outcome">): Promise<SimRequest[]>;
  /**
   * The first kept event that fits, now or when it arrives.
   * @throws ExpectationError with a report of what was captured instead
   */
  waitFor<E extends EventPattern, P extends PropertiesPattern>(
    event: CheckedPattern<E>,
    properties?: CheckedPattern<P>,
    options?: WaitOptions,
  ): Promise<StoredEvent>;
  /** The first `count` events that fit. @throws ExpectationError */
  waitForCount<E extends EventPattern, P extends PropertiesPattern>(
    event: CheckedPattern<E>,
    count: number,
    options?: WaitOptions & { properties?: CheckedPattern<P> },
  ): Promise<StoredEvent[]>;
  /** One event for each pattern, in this order; others may be in between. @throws ExpectationError */
  waitForSequence<E extends readonly EventPattern[]>(
    events: CheckedPattern<E>,
    options?: WaitOptions & { distinctId?: string },
  ): Promise<StoredEvent[]>;
  /** Settles, then finds that no event fits. @throws ExpectationError naming those that do */
  expectNone<E extends EventPattern, P extends PropertiesPattern>(
    event?: CheckedPattern<E>,
    properties?: CheckedPattern<P>,
    options?: VerifyOptions,
  ): Promise<void>;
  /**
   * Waits until every minimum is reached, settles if there is a maximum or `nothingElse`, then checks.
   * @throws ExpectationError
   */
  verify<M extends readonly Pattern[]>(terms: CheckedTerms<M>, options?: VerifyOptions): Promise<Verdict>;
  /**
   * The events for a snapshot test, without what differs from run to run: ids and times of the run are words such as
   * `<id 1>`, SDKs' measurements are left out. Settles first; dropped events are there with the reason.
   */
  snapshot(options?: SnapshotOptions): Promise<EventSnapshot[]>;
  /** Deletes the events; the numbering continues. */
  clear(): Promise<void>;
  /** The end of the log; pass it as `since` to select later events only. */
  mark(): Promise<number>;
  /** Events as they arrive, after `since` (default: now), until the loop ends or the signal aborts. */
  stream<W extends PropertiesPattern>(
    query?: EventQuery<W>,
    options?: { signal?: AbortSignal },
  ): AsyncIterable<StoredEvent>;
}

export interface ContactQuery {
  project?: number;
  /** Only requests after this cursor (`requests.mark()`). */
  since?: number;
  /** How long to wait for the first, ms. Default 0. */
  waitMs?: number;
  limit?: number;
}

export interface Requests {
  /** Newest first. */
  list(query?: RequestQuery): Promise<SimRequest[]>;
  /**
   * Those to paths that do not exist, newest first. A project's own include those without a project's key that arrived
   * since it was created: they may be of any test.
   */
  unmatched(query?: Omit<RequestQuery, "outcome">): Promise<SimRequest[]>;
  /**
   * Those of SDKs, newest first: events, configuration, flags, scripts, recordings, unknown paths; not the management
   * API. A project's own include those without a project's key that arrived since it was created.
   */
  contacts(query?: ContactQuery): Promise<Contact[]>;
  /** The newest request; pass it as `since` of `contacts` and `toHaveBeenContacted` to select later ones only. */
  mark(): Promise<number>;
  /** One with headers, raw and decoded body, answer and events. @throws ControlError not_found */
  get(n: number): Promise<SimRequest & JsonObject>;
  /** HAR 1.2, secrets masked. */
  har(query?: Omit<RequestQuery, "outcome">): Promise<JsonObject>;
}

const waiting = keysOf<WaitOptions>({ since: true, project: true, timeoutMs: true, title: true });
const verifying = [...waiting, ...keysOf<Omit<VerifyOptions, keyof WaitOptions>>({ settleMs: true })];
const anyOutcome = { except: ["outcome"] };

/** Parameters of a query are checked by the sim. */
export const eventOptions = knownOptions<Events>("events", {
  list: [{ except: [] }],
  dropped: [anyOutcome],
  rejected: [anyOutcome],
  waitFor: { 2: waiting },
  waitForCount: { 2: [...waiting, "properties"] },
  waitForSequence: { 1: [...waiting, "distinctId"] },
  expectNone: { 2: verifying },
  verify: [keysOf<Terms>({ expect: true, ordered: true, nothingElse: true, noEndedKeys: true }), verifying],
  snapshot: [keysOf<SnapshotOptions>({ since: true, project: true, omit: true })],
  stream: [{ except: [] }, ["signal"]],
});

export const requestOptions = knownOptions<Requests>("requests", {
  list: [{ except: [] }],
  unmatched: [anyOutcome],
  contacts: [keysOf<ContactQuery>({ project: true, since: true, waitMs: true, limit: true })],
  har: [anyOutcome],
});
