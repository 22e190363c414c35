import type { Guard, GuardOptions } from "../guard/types.ts";
import type { Framework } from "../kernel/env-names.ts";
import type { JsonObject } from "../kernel/json.ts";
import type { Checked } from "../match/operators.ts";
import type { Expectation, Pattern, Terms, Verdict } from "../match/types.ts";
import type { StoredEvent } from "../model/event.ts";
import type { Answers } from "./answers.ts";
import type { Clock } from "./clock.ts";
import type { Exports } from "./exports.ts";
import type { Faults } from "./faults.ts";
import type { Flags } from "./flags.ts";
import type { Recording } from "./recording.ts";
import type { StateClient } from "./state.ts";
import type { Tapes } from "./tapes.ts";

/** Which events: a name, what a name is like, or what the whole event is like, e.g. `{ event: "signup", distinct_id: "u1" }`. */
export type EventPattern = string | RegExp | { readonly [key: string]: Pattern };
/** What an event's properties must be like. */
export type PropertiesPattern = { readonly [name: string]: Pattern };

/** In which stretch of the log to look. */
export interface Scope {
  /** Only events after this cursor (`events.mark()`); by default all since the start, or the last clear. */
  since?: number;
  /** Only this project's; a project's own handle has this set. */
  project?: number;
}

export interface WaitOptions extends Scope {
  /** How long to wait, ms. Default 4,000: under the test runners' own limit, so that the report is what people see. */
  timeoutMs?: number;
  /** First line of the report when the wait is in vain; by default what was called. */
  title?: string;
}

export interface VerifyOptions extends WaitOptions {
  /** How long it must have been quiet before "no more" counts as true, ms. Default 250; 0 does not wait. */
  settleMs?: number;
}

/** What all patterns must satisfy together; `M` are the types of the patterns. */
type CheckedTerms<M extends readonly Pattern[]> = Omit<Terms, "expect"> & {
  expect: { readonly [Index in keyof M]: Expectation<Checked<M[Index]>> };
};

/** Which events are listed. */
export interface EventQuery<W extends PropertiesPattern = PropertiesPattern> extends Scope {
  event?: string;
  distinct_id?: string;
  outcome?: "kept" | "dropped";
  /** Only events up to this cursor. */
  until?: number;
  limit?: number;
  order?: "asc" | "desc";
  /** What the event must be like besides. */
  where?: Checked<W>;
  /** The same as the page's filter box takes it: `event:signup prop.amount:>10 -is:warned`. */
  filter?: string;
}

/** What was captured, to be asserted. Every method that waits is answered on arrival; nothing polls, nothing sleeps. */
export interface Events {
  /** Events in order of arrival. */
  list<W extends PropertiesPattern>(query?: EventQuery<W>): Promise<StoredEvent[]>;
  /** The events that were dropped, each with its reason. */
  dropped<W extends PropertiesPattern>(query?: Omit<EventQuery<W>, "outcome">): Promise<StoredEvent[]>;
  /** The requests that were rejected whole, newest first, each with its reason. */
  rejected(query?: Omit<RequestQuery, "outcome">): Promise<SimRequest[]>;
  /**
   * The first kept event that fits, now or when it comes.
   * @throws ExpectationError with a report of what was captured instead
   */
  waitFor<E extends EventPattern, P extends PropertiesPattern>(
    event: Checked<E>,
    properties?: Checked<P>,
    options?: WaitOptions,
  ): Promise<StoredEvent>;
  /** The first `count` events that fit. @throws ExpectationError */
  waitForCount<E extends EventPattern, P extends PropertiesPattern>(
    event: Checked<E>,
    count: number,
    options?: WaitOptions & { properties?: Checked<P> },
  ): Promise<StoredEvent[]>;
  /** One event for each pattern, in this order; others may come in between. @throws ExpectationError */
  waitForSequence<E extends readonly EventPattern[]>(
    events: Checked<E>,
    options?: WaitOptions & { distinctId?: string },
  ): Promise<StoredEvent[]>;
  /** Settles, then finds that no event fits. @throws ExpectationError naming those that do */
  expectNone<E extends EventPattern, P extends PropertiesPattern>(
    event?: Checked<E>,
    properties?: Checked<P>,
    options?: VerifyOptions,
  ): Promise<void>;
  /**
   * Waits until every minimum is reached, settles if a maximum or `nothingElse` is asked, then judges.
   * @throws ExpectationError
   */
  verify<M extends readonly Pattern[]>(terms: CheckedTerms<M>, options?: VerifyOptions): Promise<Verdict>;
  /** Clears them; the numbering goes on. */
  clear(): Promise<void>;
  /** Where the log ends now; pass it as `since` to look at later events only. */
  mark(): Promise<number>;
  /** Events as they come, from `since` (default: now) on, until the loop is left or the signal says so. */
  stream<W extends PropertiesPattern>(
    query?: EventQuery<W>,
    options?: { signal?: AbortSignal },
  ): AsyncIterable<StoredEvent>;
}

export interface RequestQuery {
  outcome?: "answered" | "rejected" | "unmatched";
  project?: number;
  /** Only those whose `X-Test-Id` header says so. */
  partition?: string;
  /** As the page's filter box takes it: `status:>=400 -route:/flags`. */
  filter?: string;
  limit?: number;
}

/** A request in the journal, in short. */
export interface SimRequest {
  n: number;
  at: string;
  method: string;
  /** Path and query as sent, secrets masked. */
  target: string;
  /** 0 where a fault kept the answer from arriving. */
  status: number;
  ms: number;
  project: number | null;
  outcome: "answered" | "rejected";
  /** `hint`: what to do about it, where the sim knows that of the request itself (an unknown path). */
  rejected: { reason: string; detail: string; hint?: string } | null;
  fault: string | null;
  scripted: boolean;
  /** What answered where it was neither the emulator nor a script: `tape:checkout#12`, `upstream`. */
  source: string | null;
  partition: string | null;
  /** How many events it carried, and how many of them were dropped. */
  events: number;
  dropped: number;
}

/** The journal. */
export interface Requests {
  /** Newest first. */
  list(query?: RequestQuery): Promise<SimRequest[]>;
  /**
   * Those to paths that do not exist, newest first. A project's own include those without any project's key that
   * arrived since it was made: they may be of any test.
   */
  unmatched(query?: Omit<RequestQuery, "outcome">): Promise<SimRequest[]>;
  /** One with headers, raw and decoded body, answer and events. @throws ControlError not_found */
  get(n: number): Promise<SimRequest & JsonObject>;
  /** HAR 1.2, secrets masked. */
  har(query?: Omit<RequestQuery, "outcome">): Promise<JsonObject>;
}

/** A person: its merged ids and what is known of it. */
export interface SimPerson {
  uuid: string;
  project: number;
  distinct_ids: string[];
  is_identified: boolean;
  created_at: string;
  version: number;
  properties: JsonObject;
}

export interface Persons {
  /** Newest first. */
  list(query?: {
    distinct_id?: string;
    search?: string;
    project?: number;
    limit?: number;
  }): Promise<SimPerson[]>;
  /** By uuid or distinct id, with the events that changed it; undefined when there is none. */
  get(id: string): Promise<(SimPerson & { history: JsonObject[] }) | undefined>;
}

export interface Groups {
  /** Newest first. */
  list(query?: { project?: number; limit?: number }): Promise<JsonObject[]>;
}

/** Something about captured events that is probably not as it was meant; it breaks nothing. */
export interface LintFinding {
  /** Machine-readable; the README lists them. */
  code: string;
  /** `hint`: it may be meant so. */
  severity: "warning" | "hint";
  sentence: string;
  fix: string;
  project: number;
  /** Name of the event; null: the request is meant. */
  event: string | null;
  /** Where, and what was seen; never the value that may be private. */
  detail: string;
  first_seq: number | null;
  last_seq: number | null;
  /** How often it was seen. */
  count: number;
  /** Number of the last request that showed it. */
  n: number;
}

/** What the linter has to say. */
export interface LintPage {
  /** One for each code, project, event and subject, in the order of their first times. */
  findings: LintFinding[];
  /** Events that were looked at since the start, or the last clear. */
  looked: number;
  /** Events that were left out because too many were new. */
  skipped: number;
  /** Events still to be looked at; not 0 only with `maxMs`. */
  behind: number;
  /** The last event that was looked at. */
  cursor: number;
}

/** What a handle of a project and a sim have in common; what matchers take. A sim's is about all projects. */
export interface Tenant {
  /** Public key, `phc_…`; for a sim that of its first project, as all keys below. */
  readonly apiKey: string;
  readonly secretApiKey: string;
  /** A personal key that may do everything there, `phx_…`. */
  readonly personalApiKey: string;
  readonly projectId: number;
  /** What SDKs take as host: scheme, host and port of the sim. */
  readonly host: string;
  /** The same, as it is called elsewhere. */
  readonly url: string;
  readonly events: Events;
  readonly requests: Requests;
  readonly persons: Persons;
  readonly groups: Groups;
  readonly flags: Flags;
  readonly faults: Faults;
  readonly answers: Answers;
  /**
   * Warnings about what was captured up to now: flags that do not fit, odd times, personal data, names and types that
   * differ. `maxMs` bounds the work for what is new. @throws ControlError
   */
  lint(query?: { project?: number; maxMs?: number }): Promise<LintPage>;
  /** Returns when no request is in flight and it has been quiet for `idleMs` (250 unless told). @throws ControlError */
  settle(options?: { idleMs?: number; timeoutMs?: number }): Promise<void>;
  /** The variables that point an app at it, for one framework (`next`, `vite` …) or all of them. */
  env(framework?: Framework): Record<string, string>;
}

/** A project of its own for one test. */
export interface Project extends Tenant, AsyncDisposable {
  readonly id: number;
  readonly name: string;
  /** Back to how it was made. */
  reset(): Promise<void>;
  /**
   * Deletes it with all it has. Harmless when done twice.
   * @throws NotAwaitedError when an assertion of this handle has no result yet
   */
  dispose(): Promise<void>;
}

export interface ProjectOptions {
  /** Shown by the inspector and in reports; e.g. the test's name. */
  name?: string;
  /** Flags and what they are to be, whatever their rules say. */
  flags?: Readonly<Record<string, boolean | string>>;
  /** The project whose flags, cohorts and settings it gets; null: none. Default: the first one. */
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
   * From now on this process cannot reach the real service: `await using guard = sim.guard()`. Blocked calls fail at
   * once, and leaving the block throws an EgressError that names them. @throws TypeError on a host that is none
   */
  guard(options?: GuardOptions): Guard;
  info(): Promise<JsonObject>;
  /**
   * Ends what this end holds: the sim itself in process, nothing but the handle elsewhere. Leaving the handle's
   * `await using` block also throws a NotAwaitedError when an assertion has no result yet.
   */
  close(): Promise<void>;
}
