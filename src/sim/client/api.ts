import type { JsonObject } from "../../kernel/base/json.ts";
import type { Events, Requests } from "../../lab/assert/events-api.ts";
import type { Clock } from "../../lab/clock/client.ts";
import type { Guard, GuardOptions } from "../../lab/egress/blocked-call.ts";
import type { Framework } from "../../lab/egress/env-names.ts";
import type { Answers } from "../../lab/faults/answers-client.ts";
import type { Faults } from "../../lab/faults/client.ts";
import type { TrafficFigures } from "../../lab/generate/figures.ts";
import type { LintPage } from "../../lab/lint/shapes.ts";
import type { Groups, Persons } from "../../lab/person-history/client.ts";
import type { Proxies } from "../../lab/proxy-check/client.ts";
import type { StateClient } from "../../lab/scenario/state/client.ts";
import type { SessionRecordings } from "../../lab/sessions/client.ts";
import type { Recording, Tapes } from "../../lab/tapes/client.ts";
import type { Exports } from "../../service/batch-exports/client.ts";
import type { Flags } from "../../service/flags/client.ts";
import type { QueryClient } from "../../service/query/client.ts";
import type { SimTrafficOptions } from "./generate.ts";

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
  /** Deletes it with all its data. Can be called twice. @throws NotAwaitedError if an assertion of it has no result yet */
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
