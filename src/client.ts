import { type Answers, answersBy } from "./client/answers.ts";
import { type Clock, clockBy } from "./client/clock.ts";
import { type Exports, exportsBy } from "./client/exports.ts";
import { type StateClient, stateBy } from "./client/state.ts";
import type {
  FlagDistribution,
  FlagExplanation,
  SetOverride,
  ShownFlag,
  ShownOverride,
} from "./control/flags/answers.ts";
import type { Json, JsonObject } from "./kernel/json.ts";
import type { StoredEvent } from "./model/event.ts";
import type { FaultOrder, PresetName, ShownFault, ShownPreset } from "./model/fault.ts";

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

export type { FlagDistribution, FlagExplanation };
/** A flag, its rules in words, and its overrides. */
export type FlagSummary = ShownFlag;
/** What a flag is to be, whatever its rules say. */
export type FlagOverride = ShownOverride;
/** An override that was just set, with a hint where the project has no such flag. */
export type FlagOverrideSet = SetOverride;

/** Whose flag; the first project's unless told. */
export interface OfProject {
  project?: number;
}

/** What is said of whom a flag is evaluated for; it counts before what is stored. */
export interface FlagSubject extends OfProject {
  /** Person properties. */
  person?: JsonObject;
  /** Keys of groups by their type, e.g. `{ company: "acme" }`. */
  groups?: Record<string, string | number>;
  /** Properties of groups by their type. */
  groupProperties?: Record<string, JsonObject>;
}

export interface ExplainOptions extends FlagSubject {
  distinctId: string;
  /** For flags that go by device. */
  deviceId?: string;
  /** The id before the person was identified. */
  anonDistinctId?: string;
  /** An address that tells `$geoip_` properties. */
  ip?: string;
}

export interface OverrideOptions extends OfProject {
  /** What the flag carries; without it the flag's own payload for the value. */
  payload?: Json;
  /** Only for this distinct id; by default for everybody. */
  distinctId?: string;
  /** Sets a variant that the flag does not have. */
  force?: boolean;
}

/** The feature flags: overridden, explained, simulated. */
export interface Flags {
  /** The flags of a project or of all, with their overrides. */
  list(query?: OfProject): Promise<FlagSummary[]>;
  /** One flag. @throws ControlError not_found */
  get(key: string, options?: OfProject): Promise<FlagSummary>;
  /**
   * Has a flag be true, false or a variant, whatever its rules say: for everybody, or for a distinct id, whose
   * own override counts first. Clients see it with their next request; it lasts until it is unset, or `reset`.
   * @throws ControlError invalid_input when the flag has no such variant; not_found for an unknown project
   */
  set(key: string, value: boolean | string, options?: OverrideOptions): Promise<FlagOverrideSet>;
  /** Removes a flag's overrides, all or a distinct id's; returns how many there were. */
  unset(key: string, options?: OfProject & { distinctId?: string }): Promise<number>;
  /** Removes the overrides of a project or of all; returns how many there were. */
  clear(project?: number): Promise<number>;
  /**
   * Why somebody gets a flag's value: each condition with what it wanted and what there was, hashes and their
   * thresholds, and what would have had to differ. @throws ControlError not_found
   */
  explain(key: string, subject: ExplainOptions): Promise<FlagExplanation>;
  /** What the rules give to `count` (1,000 unless told, 100,000 at most) generated subjects. @throws ControlError */
  simulate(key: string, options?: FlagSubject & { count?: number }): Promise<FlagDistribution>;
}

/** What is to differ from a preset, and for how many requests, how long, which of them. */
export type FaultOptions = Omit<FaultOrder, "preset">;
/** A rule: which requests, what happens to them, how often. */
export type FaultRule = FaultOptions & { effect: NonNullable<FaultOrder["effect"]> };
export type { PresetName as FaultPresetName };
/** A rule, and how often it was used. */
export type Fault = ShownFault;
export type FaultPreset = ShownPreset;

/** What goes wrong on purpose. Never touches the control API; ends with `clear`, or `reset`. */
export interface Faults {
  /** The faults in force, and those that are over, in the order they were applied. */
  list(): Promise<Fault[]>;
  /** The presets, and what they do. */
  presets(): Promise<FaultPreset[]>;
  /** Puts a preset in force, e.g. `apply("flags-partial", { times: 2 })`, or a rule. @throws ControlError */
  apply(preset: PresetName, options?: FaultOptions): Promise<Fault>;
  apply(rule: FaultRule): Promise<Fault>;
  /** Ends and forgets the faults of an id or name, or all; returns how many there were. @throws ControlError not_found */
  clear(which?: string): Promise<number>;
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

type Query = Record<string, string | number | JsonObject | undefined>;

function queryText(query: Query): string {
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) {
    if (value !== undefined)
      search.set(key, typeof value === "object" ? JSON.stringify(value) : String(value));
  }
  return search.size === 0 ? "" : `?${search}`;
}

type Call = <T>(method: string, path: string, body?: unknown) => Promise<T>;

const subjectBody = ({ project, person, groups, groupProperties }: FlagSubject) => ({
  project,
  person,
  groups,
  group_properties: groupProperties,
});

function flagsBy(call: Call): Flags {
  const at = (key: string, rest = "") => `flags/${encodeURIComponent(key)}${rest}`;
  const remove = async (path: string) => (await call<{ removed: number }>("DELETE", path)).removed;
  return {
    list: async ({ project } = {}) =>
      (await call<{ flags: FlagSummary[] }>("GET", `flags${queryText({ project })}`)).flags,
    get: (key, { project } = {}) => call("GET", at(key, queryText({ project }))),
    set: (key, value, { payload, distinctId, project, force } = {}) =>
      call("PUT", at(key), { value, payload, distinct_id: distinctId, project, force }),
    unset: (key, { project, distinctId } = {}) =>
      remove(at(key, queryText({ project, distinct_id: distinctId }))),
    clear: (project) => remove(`flags${queryText({ project })}`),
    explain: (key, subject) =>
      call("POST", at(key, "/explain"), {
        ...subjectBody(subject),
        distinct_id: subject.distinctId,
        device_id: subject.deviceId,
        anon_distinct_id: subject.anonDistinctId,
        ip: subject.ip,
      }),
    simulate: (key, { count, ...subject } = {}) =>
      call("POST", at(key, "/simulate"), { ...subjectBody(subject), count }),
  };
}

const faultsBy = (call: Call): Faults => ({
  list: async () => (await call<{ faults: Fault[] }>("GET", "faults")).faults,
  presets: async () => (await call<{ presets: FaultPreset[] }>("GET", "faults/presets")).presets,
  apply: (what: PresetName | FaultRule, options: FaultOptions = {}) =>
    call<Fault>("POST", "faults", typeof what === "string" ? { ...options, preset: what } : what),
  clear: async (which) => {
    const path = which === undefined ? "faults" : `faults/${encodeURIComponent(which)}`;
    return (await call<{ removed: number }>("DELETE", path)).removed;
  },
});

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
