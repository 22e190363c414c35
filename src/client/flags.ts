import type {
  FlagDistribution,
  FlagExplanation,
  FlagServing,
  FlagServings,
  SetOverride,
  ShownFlag,
  ShownOverride,
} from "../control/flags/answers.ts";
import type { FlagDecisionMade, FlagDecisionsMade } from "../control/flags/decision-answers.ts";
import type { Json, JsonObject } from "../kernel/json.ts";
import type { Place } from "./call.ts";
import { queryText } from "./query.ts";

export type { FlagDistribution, FlagExplanation, FlagServing, FlagServings };
/** A flag, its rules in words, and its overrides. */
export type FlagSummary = ShownFlag;
/** What a flag is to be, whatever its rules say. */
export type FlagOverride = ShownOverride;
/** An override that was just set, with a hint where the project has no such flag. */
export type FlagOverrideSet = SetOverride;

/** Flags were decided for a subject, in an answer or by an SDK. */
export type FlagDecision = FlagDecisionMade;

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
  /** Sets a flag that the project does not have, or a variant that the flag does not have. */
  force?: boolean;
}

export interface ServedOptions extends OfProject {
  /** Only what this distinct id got. */
  distinctId?: string;
  /** What is looked for; any value unless told. */
  value?: boolean | string;
  /** How long to wait for one that fits, ms. Default 0. */
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

/** The feature flags: overridden, explained, simulated. */
export interface Flags {
  /** The flags of a project or of all, with their overrides. */
  list(query?: OfProject): Promise<FlagSummary[]>;
  /** One flag. @throws ControlError not_found */
  get(key: string, options?: OfProject): Promise<FlagSummary>;
  /**
   * Has a flag be true, false or a variant, whatever its rules say: for everybody, or for a distinct id, whose
   * own override counts first. Clients see it with their next request; it lasts until it is unset, or `reset`.
   * @throws ControlError invalid_input when the flag has no such variant; not_found for an unknown flag or project
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
  /**
   * What a flag was for clients, newest first: in the answers they got, and where SDKs evaluated it by themselves
   * and said so. Waits up to `waitMs` for one that has `value`.
   */
  served(key: string, options?: ServedOptions): Promise<FlagServings>;
  /** Who was given which flags and why, and the uses that followed, newest first. */
  decisions(query?: DecisionQuery): Promise<FlagDecision[]>;
}

const subjectBody = ({ person, groups, groupProperties }: FlagSubject) => ({
  person,
  groups,
  group_properties: groupProperties,
});

/** The flags' part of the client. A project's handle has its own flags only. */
export function flagsBy({ call, project: fixed }: Place): Flags {
  const at = (key: string, rest = "") => `flags/${encodeURIComponent(key)}${rest}`;
  const whose = (project: number | undefined) => ({ project: fixed ?? project });
  const remove = async (path: string) => (await call<{ removed: number }>("DELETE", path)).removed;
  return {
    list: async ({ project } = {}) =>
      (await call<{ flags: FlagSummary[] }>("GET", `flags${queryText(whose(project))}`)).flags,
    get: (key, { project } = {}) => call("GET", at(key, queryText(whose(project)))),
    set: (key, value, { payload, distinctId, project, force } = {}) =>
      call("PUT", at(key), { value, payload, distinct_id: distinctId, force, ...whose(project) }),
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
      }),
    served: (key, { project, distinctId, value, waitMs, limit } = {}) => {
      const asked = typeof value === "string" ? JSON.stringify(value) : value?.toString();
      const query = { ...whose(project), distinct_id: distinctId, value: asked, wait_ms: waitMs, limit };
      return call("GET", at(key, `/served${queryText(query)}`));
    },
    async decisions({ key, distinctId, project, limit = 50 } = {}) {
      const found: FlagDecision[] = [];
      for (let before: number | undefined; ; ) {
        const query = {
          ...whose(project),
          key,
          distinct_id: distinctId,
          limit: Math.min(limit, 500),
          before,
        };
        const page: FlagDecisionsMade = await call("GET", `flag-decisions${queryText(query)}`);
        found.push(...page.decisions);
        if (page.before === null || found.length >= limit) return found.slice(0, limit);
        before = page.before;
      }
    },
    simulate: (key, { count, ...subject } = {}) =>
      call("POST", at(key, "/simulate"), { ...subjectBody(subject), ...whose(subject.project), count }),
  };
}
