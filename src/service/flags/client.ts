import type { Json, JsonObject } from "../../kernel/base/json.ts";
import { type HandleScope, queryText } from "../../kernel/call/call.ts";
import { newest } from "../../kernel/call/newest.ts";
import { keysOf, knownOptions } from "../../kernel/call/option-keys.ts";
import type { FlagDecision, FlagServing, FlagServings } from "./decision-shapes.ts";
import type {
  ExplainRequest,
  FlagDistribution,
  FlagExplanation,
  FlagOverride,
  FlagOverrideSet,
  FlagSummary,
  OverrideOrder,
  SimulateRequest,
} from "./shapes.ts";

export type {
  FlagDecision,
  FlagDistribution,
  FlagExplanation,
  FlagOverride,
  FlagOverrideSet,
  FlagServing,
  FlagServings,
  FlagSummary,
};

/** The project of the flag (default: the first). */
export interface OfProject {
  project?: number;
}

/** The subject of an evaluation; its properties override the stored ones. */
export interface FlagSubject extends OfProject {
  person?: JsonObject;
  /** Keys of groups by their type, e.g. `{ company: "acme" }`. */
  groups?: Record<string, string | number>;
  /** Properties of groups by their type. */
  groupProperties?: Record<string, JsonObject>;
}

export interface ExplainOptions extends FlagSubject {
  distinctId: string;
  /** For flags that are bucketed by device. */
  deviceId?: string;
  /** The id before the person was identified. */
  anonDistinctId?: string;
  /** IP address from which `$geoip_` properties are derived. */
  ip?: string;
}

export interface OverrideOptions extends OfProject {
  /** Default: the flag's own payload for the value. */
  payload?: Json;
  /** Only for this distinct id (default: for all). */
  distinctId?: string;
  /** Sets a flag that the project does not have, or a variant that the flag does not have. */
  force?: boolean;
}

export interface ServedOptions extends OfProject {
  /** Only values for this distinct id. */
  distinctId?: string;
  /** The requested value (default: any). */
  value?: boolean | string;
  /** Waits up to N ms for the value (default: 0). */
  waitMs?: number;
  /** Default 20. */
  limit?: number;
}

/** Which decisions; absent keys do not restrict. */
export interface DecisionQuery extends OfProject {
  key?: string;
  distinctId?: string;
  /** Default 50. */
  limit?: number;
}

export interface Flags {
  /** The flags of a project or of all, with their overrides. */
  list(query?: OfProject): Promise<FlagSummary[]>;
  /** One flag. @throws ControlError not_found */
  get(key: string, options?: OfProject): Promise<FlagSummary>;
  /**
   * Overrides a flag with true, false or a variant: for all, or for a distinct id, whose own override comes first.
   * Clients get it with their next request; it lasts until `unset` or `reset`.
   * @throws ControlError invalid_input when the flag has no such variant; not_found for an unknown flag or project
   */
  set(key: string, value: boolean | string, options?: OverrideOptions): Promise<FlagOverrideSet>;
  /** Removes a flag's overrides, all or a distinct id's; returns how many there were. */
  unset(key: string, options?: OfProject & { distinctId?: string }): Promise<number>;
  /** Removes the overrides of a project or of all; returns how many there were. */
  clear(project?: number): Promise<number>;
  /**
   * Why a subject gets a flag's value: the filters of each condition set with the properties they found, hashes and
   * their thresholds, and why a set did not match. @throws ControlError not_found
   */
  explain(key: string, subject: ExplainOptions): Promise<FlagExplanation>;
  /** The values that the rules give to `count` generated subjects (default: 1,000; at most 100,000). @throws ControlError */
  simulate(key: string, options?: FlagSubject & { count?: number }): Promise<FlagDistribution>;
  /**
   * The values of a flag that clients got, newest first: in answers, and in local evaluations that SDKs reported. Waits up
   * to `waitMs` for one that has `value`.
   */
  served(key: string, options?: ServedOptions): Promise<FlagServings>;
  /** The decisions about flags, their reasons, and the uses that followed, newest first. */
  decisions(query?: DecisionQuery): Promise<FlagDecision[]>;
}

export const decisionPages = { path: "flag-decisions", list: "decisions", pageSize: 500 };

const subjectBody = ({ person, groups, groupProperties }: FlagSubject) => ({
  person,
  groups,
  group_properties: groupProperties,
});

export function flagsBy({ call, project: fixed }: HandleScope): Flags {
  const at = (key: string, rest = "") => `flags/${encodeURIComponent(key)}${rest}`;
  const whose = (project: number | undefined) => ({ project: fixed ?? project });
  const remove = async (path: string) => (await call<{ removed: number }>("DELETE", path)).removed;
  return withOptions({
    list: async ({ project } = {}) =>
      (await call<{ flags: FlagSummary[] }>("GET", `flags${queryText(whose(project))}`)).flags,
    get: (key, { project } = {}) => call("GET", at(key, queryText(whose(project)))),
    set: (key, value, { payload, distinctId, project, force } = {}) =>
      call("PUT", at(key), {
        ...{ value, payload, distinct_id: distinctId, force },
        ...whose(project),
      } satisfies OverrideOrder),
    unset: (key, { project, distinctId } = {}) =>
      remove(at(key, queryText({ ...whose(project), distinct_id: distinctId }))),
    clear: (project) => remove(`flags${queryText(whose(project))}`),
    explain: (key, subject) =>
      call("POST", at(key, "/explain"), {
        ...subjectBody(subject),
        ...whose(subject.project),
        distinct_id: subject.distinctId,
        device_id: subject.deviceId,
        anon_distinct_id: subject.anonDistinctId,
        ip: subject.ip,
      } satisfies ExplainRequest),
    served: (key, { project, distinctId, value, waitMs, limit } = {}) => {
      const asked = typeof value === "string" ? JSON.stringify(value) : value?.toString();
      const query = { ...whose(project), distinct_id: distinctId, value: asked, wait_ms: waitMs, limit };
      return call("GET", at(key, `/served${queryText(query)}`));
    },
    decisions: async ({ distinctId, project, limit = 50, key } = {}) => {
      const query = { ...whose(project), key, distinct_id: distinctId, limit };
      return (await newest<FlagDecision>((path) => call("GET", path), decisionPages, query)).entries;
    },
    simulate: (key, { count, ...subject } = {}) =>
      call("POST", at(key, "/simulate"), {
        ...subjectBody(subject),
        ...whose(subject.project),
        count,
      } satisfies SimulateRequest),
  });
}

const ofProject = keysOf<OfProject>({ project: true });
const subject = keysOf<FlagSubject>({ ...{ project: true, person: true, groups: true, groupProperties: true } });

const withOptions = knownOptions<Flags>("flags", {
  list: [ofProject],
  get: { 1: ofProject },
  set: { 2: keysOf<OverrideOptions>({ project: true, payload: true, distinctId: true, force: true }) },
  unset: { 1: [...ofProject, "distinctId"] },
  explain: {
    1: [
      ...subject,
      ...keysOf<Omit<ExplainOptions, keyof FlagSubject>>({
        ...{ distinctId: true, deviceId: true, anonDistinctId: true, ip: true },
      }),
    ],
  },
  simulate: { 1: [...subject, "count"] },
  served: {
    1: keysOf<ServedOptions>({ ...{ project: true, distinctId: true, value: true, waitMs: true, limit: true } }),
  },
  decisions: [keysOf<DecisionQuery>({ key: true, distinctId: true, project: true, limit: true })],
});
