import type { Contact } from "../assert/contact-rows.ts";
import type { CheckedPattern } from "../assert/match/operators.ts";
import type { Expectation, Pattern, Terms, Verdict } from "../assert/match/types.ts";
import type { EventParameters } from "../assert/search-rows.ts";
import type { JsonObject } from "../base/json.ts";
import type { Clock } from "../clock/client.ts";
import type { Guard, GuardOptions } from "../egress/blocked-call.ts";
import type { Framework } from "../egress/env-names.ts";
import type { Exports } from "../exports/client.ts";
import type { Answers } from "../faults/answers-client.ts";
import type { Faults } from "../faults/client.ts";
import type { Flags } from "../flags/client.ts";
import type { StoredEvent } from "../journal/event.ts";
import type { SimRequest } from "../journal/request-shapes.ts";
import type { EventSnapshot } from "../journal/snapshot-client.ts";
import type { LintPage } from "../lint/shapes.ts";
import type { StoredGroup, StoredPerson, StoredPersonWithHistory } from "../people/shapes.ts";
import type { Proxies } from "../proxies/client.ts";
import type { QueryClient } from "../query/client.ts";
import type { StateClient } from "../scenario/state/client.ts";
import type { SessionRecordings } from "../sessions/client.ts";
import type { Recording, Tapes } from "../tapes/client.ts";
import type { SimTrafficOptions } from "../traffic/client.ts";
import type { TrafficFigures } from "../traffic/figures.ts";

/** A pattern for events: a name, a regular expression for names, or one for the whole event, e.g. `{ event: "signup", distinct_id: "u1" }`. */
export type EventPattern = string | RegExp | { readonly [key: string]: Pattern };
/** A pattern for an event's properties. */
export type PropertiesPattern = { readonly [name: string]: Pattern };

/** The part of the log to search. */
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

export interface RequestQuery {
  outcome?: "answered" | "rejected" | "unmatched";
  project?: number;
  /** Only those with this `X-Test-Id` header. */
  partition?: string;
  /** As the page's filter box takes it: `status:>=400 -route:/flags`. */
  filter?: string;
  limit?: number;
}

/** Selects requests of SDKs. */
export interface ContactQuery {
  project?: number;
  /** Only requests after this cursor (`requests.mark()`). */
  since?: number;
  /** How long to wait for the first, ms. Default 0. */
  waitMs?: number;
  limit?: number;
}

/** The journal. */
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

/** A person with its merged ids and its properties. */
export type SimPerson = StoredPerson;

export interface Persons {
  /** Newest first. */
  list(query?: {
    distinct_id?: string;
    search?: string;
    project?: number;
    limit?: number;
  }): Promise<SimPerson[]>;
  /** By uuid or distinct id, with the events that changed it; undefined if it does not exist. */
  get(id: string): Promise<StoredPersonWithHistory | undefined>;
}

export interface Groups {
  /** Newest first. */
  list(query?: { project?: number; limit?: number }): Promise<StoredGroup[]>;
}

/** The common part of the handles of a project and of a sim, which covers all projects; matchers take either. */
export interface Tenant extends QueryClient {
  /** Public key, `phc_…`; for a sim that of its first project, as all keys below. */
  readonly apiKey: string;
  readonly secretApiKey: string;
  /** A personal key with full access, `phx_…`. */
  readonly personalApiKey: string;
  readonly projectId: number;
  /** The `host` option of SDKs: scheme, host and port of the sim. */
  readonly host: string;
  /** The same as `host`. */
  readonly url: string;
  readonly events: Events;
  readonly requests: Requests;
  readonly persons: Persons;
  readonly groups: Groups;
  readonly flags: Flags;
  readonly faults: Faults;
  readonly answers: Answers;
  readonly proxies: Proxies;
  /** The session recordings that were captured; `recording` of a sim makes tapes. */
  readonly recordings: SessionRecordings;
  /**
   * Likely mistakes in the captured traffic: wrong flag values, odd times, personal data, names and types that differ.
   * `maxMs` bounds the work for new events. @throws ControlError
   */
  lint(query?: { project?: number; maxMs?: number }): Promise<LintPage>;
  /** Returns when no request is in flight and it has been quiet for `idleMs` (default: 250). @throws ControlError */
  settle(options?: { idleMs?: number; timeoutMs?: number }): Promise<void>;
  /** The variables that point an app at it, for one framework (`next`, `vite` …) or all of them. */
  env(framework?: Framework): Record<string, string>;
}

/** The project of one test. */
export interface Project extends Tenant, AsyncDisposable {
  readonly id: number;
  readonly name: string;
  /** Restores its initial state. */
  reset(): Promise<void>;
  /**
   * Deletes it with all its data. Can be called twice.
   * @throws NotAwaitedError if an assertion of this handle has no result yet
   */
  dispose(): Promise<void>;
}

export interface ProjectOptions {
  /** Shown by the inspector and in reports; e.g. the test's name. */
  name?: string;
  /** Values of flags, which override their rules. */
  flags?: Readonly<Record<string, boolean | string>>;
  /** Settings over the copied ones, as the service's API has them, e.g. `{ anonymize_ips: true }`. */
  settings?: JsonObject;
  /** The project whose flags, cohorts and settings are copied; null: none. Default: the first one. */
  like?: number | null;
}

/** A sim, in process or elsewhere. */
export interface SimClient extends Tenant, StateClient, AsyncDisposable {
  readonly inspectorUrl: string;
  readonly clock: Clock;
  readonly exports: Exports;
  readonly tapes: Tapes;
  readonly recording: Recording;
  /** Makes a project for a test: its events, persons, flags and faults are its own. @throws ControlError */
  project(options?: ProjectOptions): Promise<Project>;
  /**
   * Generates traffic and captures it in a project: journeys with given rates, whose true figures it returns. The same
   * options give the same events, and a sim keeps each event once.
   * @throws TypeError for mistakes in the options or the persona; ControlError
   */
  generate(options?: SimTrafficOptions): Promise<TrafficFigures>;
  /**
   * Blocks the calls of this process to the real service: `await using guard = sim.guard()`. Blocked calls fail at
   * once, and leaving the block throws an EgressError that names them. @throws TypeError for an invalid host
   */
  guard(options?: GuardOptions): Guard;
  info(): Promise<JsonObject>;
  /**
   * Closes a sim in process; for a sim elsewhere, only the handle. Leaving the handle's `await using` block also throws a
   * NotAwaitedError if an assertion has no result yet.
   */
  close(): Promise<void>;
}
