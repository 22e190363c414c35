import { type Answers, answersBy } from "./client/answers.ts";
import { type Clock, clockBy } from "./client/clock.ts";
import { type Exports, exportsBy } from "./client/exports.ts";
import { type Faults, faultsBy } from "./client/faults.ts";
import { type Flags, flagsBy } from "./client/flags.ts";
import { type Query, queryText } from "./client/query.ts";
import { type StateClient, stateBy } from "./client/state.ts";
import type { JsonObject } from "./kernel/json.ts";
import type { StoredEvent } from "./model/event.ts";

/** Sends a request to a sim: in process, or over the network. */
export type Send = (request: Request) => Promise<Response>;

/** Which events; absent keys do not restrict. */
export interface EventQuery {
  event?: string;
  distinct_id?: string;
  project?: number;
  outcome?: "kept" | "dropped";
  /** Only events after this cursor. */
  since?: number;
  limit?: number;
  order?: "asc" | "desc";
  /** Recursive subset of the event, e.g. `{ properties: { plan: "pro" } }`. */
  where?: JsonObject;
}

export interface WaitOptions {
  /** How many, default 1. */
  count?: number;
  project?: number;
  /** Only events after this cursor; by default all that were captured since the start. */
  since?: number;
  /** Default 4,000 ms: under the test runners' own limit, so that this report is what people see. */
  timeoutMs?: number;
}

/** A control call that was answered with an error; `report` is set when a wait was in vain. */
export class ControlError extends Error {
  readonly status: number;
  readonly body: JsonObject;

  constructor(status: number, body: JsonObject) {
    const report = body.report as { text?: string } | undefined;
    super(report?.text ?? `${body.code}: ${body.detail}${body.hint ? ` (${body.hint})` : ""}`);
    this.name = "ControlError";
    this.status = status;
    this.body = body;
  }
}

/** The captured events. */
export interface Events {
  /** Events in order of arrival. */
  list(query?: EventQuery): Promise<StoredEvent[]>;
  /** The events that were dropped, each with its reason. */
  dropped(query?: Omit<EventQuery, "outcome">): Promise<StoredEvent[]>;
  /**
   * The first kept event with this name and these properties (recursive subset), now or when it comes.
   * @throws ControlError with a report of what was captured instead.
   */
  waitFor(event: string, properties?: JsonObject, options?: WaitOptions): Promise<StoredEvent>;
  /** Clears the events of a project or of all. */
  clear(project?: number): Promise<void>;
  /** Where the log ends now; pass it as `since` to look at later events only. */
  mark(): Promise<number>;
}

/** The control API as functions. One interface for a sim in process and one elsewhere. */
export interface Client extends StateClient {
  answers: Answers;
  clock: Clock;
  events: Events;
  exports: Exports;
  faults: Faults;
  flags: Flags;
  /** Returns when no request is in flight and it has been quiet for `idleMs`. @throws ControlError */
  settle(options?: { idleMs?: number; timeoutMs?: number }): Promise<void>;
  /** The journal, newest first. */
  requests(query?: {
    outcome?: "answered" | "rejected";
    project?: number;
    /** Only those whose `X-Test-Id` header says so. */
    partition?: string;
    limit?: number;
  }): Promise<JsonObject[]>;
  persons(query?: { distinct_id?: string; project?: number; limit?: number }): Promise<JsonObject[]>;
  groups(query?: { project?: number; limit?: number }): Promise<JsonObject[]>;
  info(): Promise<JsonObject>;
}

/** @param base Scheme, host and port of the sim. */
export function createClient(base: string, send: Send): Client {
  async function call<T>(method: string, path: string, body?: unknown): Promise<T> {
    const init: RequestInit = { method };
    if (body !== undefined) {
      init.body = JSON.stringify(body);
      init.headers = { "content-type": "application/json" };
    }
    const response = await send(new Request(`${base}/__sim/${path}`, init));
    const answer = (await response.json()) as T;
    if (!response.ok) throw new ControlError(response.status, answer as JsonObject);
    return answer;
  }
  async function fetched(path: string): Promise<Uint8Array> {
    const response = await send(new Request(base + path));
    if (!response.ok) throw new ControlError(response.status, (await response.json()) as JsonObject);
    return new Uint8Array(await response.arrayBuffer());
  }
  const get = <T>(path: string, query: Query = {}) => call<T>("GET", path + queryText(query));

  const list = async (query: EventQuery = {}) =>
    (await get<{ events: StoredEvent[] }>("events", { limit: 10_000, ...query })).events;

  return {
    events: {
      list,
      dropped: (query = {}) => list({ ...query, outcome: "dropped" }),
      async waitFor(event, properties, options = {}) {
        const { count, project, since, timeoutMs } = options;
        const answer = await call<{ events: StoredEvent[] }>("POST", "events/wait", {
          match: properties === undefined ? { event } : { event, properties },
          count,
          project,
          since,
          timeout_ms: timeoutMs,
        });
        return answer.events.at(-1) as StoredEvent;
      },
      clear: async (project) => void (await call("DELETE", `events${queryText({ project })}`)),
      mark: async () => (await get<{ cursor: number }>("events", { limit: 1, order: "desc" })).cursor,
    },
    ...stateBy(call),
    answers: answersBy(call),
    clock: clockBy(call),
    exports: exportsBy(call, fetched),
    faults: faultsBy(call),
    flags: flagsBy(call),
    settle: async ({ idleMs, timeoutMs } = {}) =>
      void (await call("POST", "settle", { idle_ms: idleMs, timeout_ms: timeoutMs })),
    requests: async (query = {}) => (await get<{ requests: JsonObject[] }>("requests", query)).requests,
    persons: async (query = {}) => (await get<{ persons: JsonObject[] }>("persons", query)).persons,
    groups: async (query = {}) => (await get<{ groups: JsonObject[] }>("groups", query)).groups,
    info: () => get("info"),
  };
}
