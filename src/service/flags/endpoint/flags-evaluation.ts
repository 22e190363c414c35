import type { Call } from "../../../kernel/http/call.ts";
import { experimentFlagsOf } from "../../../state/documents/resources.ts";
import type { FeatureFlag, StoredProject } from "../../../state/documents/world.ts";
import type { Person } from "../../../state/persons/person.ts";
import type { PersonData } from "../../../state/persons/person-data.ts";
import type { Desk } from "../../capture/desk.ts";
import type { CompiledFlag } from "../engine/compile.ts";
import { failed } from "../engine/decision.ts";
import { overridesFor, withOverrides } from "../engine/overrides.ts";
import { type FlagResult as Decided, evaluateRuleset, type Ruleset } from "../engine/ruleset.ts";
import type { Rulesets } from "../rulesets.ts";
import { type RequestedSubject, subjectOf } from "../subjects.ts";
import { conditionsOf, type ServedFlag } from "./flags-answer.ts";
import { addressOf, type FlagsRequest, runtimeOf } from "./flags-request.ts";

declare module "../../../kernel/http/call.ts" {
  interface CallFault {
    /** Flags that the evaluation fails: every second one, or these. */
    readonly flags?: "partial" | readonly string[];
  }
}

const negative: ReadonlySet<string> = new Set(["false", "0", "no", "off"]);

/** A switch of the query: on, unless its value is negative; undefined if it is absent. */
export function switchOf(call: Call, name: string): boolean | undefined {
  const value = call.query.get(name);
  return value === null ? undefined : !negative.has(value.toLowerCase());
}

/** Flags with contexts are for clients that send one of them, or none. */
const matchesContexts = ({ evaluation_contexts: wanted }: FeatureFlag, contexts: readonly string[]): boolean =>
  wanted === undefined ||
  wanted.length === 0 ||
  contexts.length === 0 ||
  wanted.some((context) => contexts.includes(context));

/** Flags without a runtime are for all clients; a client with the runtime `all` gets all flags. */
function matchesRuntime(flag: FeatureFlag, runtime: FlagsRequest["runtime"]): boolean {
  const wanted = flag.evaluation_runtime;
  return wanted === null || wanted === "all" || runtime === "all" || wanted === runtime;
}

function personsOf(people: PersonData, project: number, ids: readonly string[]): Person[] {
  const found = new Map<string, Person>();
  for (const id of ids) {
    const person = people.personOf(project, id);
    if (person) found.set(person.uuid, person);
  }
  return [...found.values()];
}

/**
 * Stores the hash key that a person had before it was identified: for every continuity flag of the project for which
 * neither of the two ids' persons has a key, both get the anonymous id. Does nothing if no flag of the request needs it,
 * or if there is no person. Upstream PostHog rust/feature-flags,
 * flag_matching_utils (set_feature_flag_hash_key_overrides).
 */
function keepContinuity(
  people: PersonData,
  { flags }: Ruleset,
  project: number,
  ids: { readonly distinctId: string; readonly anonymousId: string },
  isAsked: (flag: CompiledFlag) => boolean,
): void {
  const continuous = flags.filter((it) => it.isContinuous);
  if (!continuous.some(isAsked)) return;
  const persons = personsOf(people, project, [ids.distinctId, ids.anonymousId]);
  const stored = persons.map((person) => people.hashKeysOf(person));
  const lacking = continuous.filter(({ flag }) => !stored.some((keys) => keys.has(flag.key)));
  if (lacking.length === 0) return;
  const keys = new Map(lacking.map(({ flag }) => [flag.key, ids.anonymousId]));
  for (const person of persons) people.addHashKeys(person, keys);
}

/** The results of a service that cannot compute some flags, also overridden ones: every second by key, or the named ones. */
function withFailures(results: readonly Decided[], which: "partial" | readonly string[]): Decided[] {
  const keys = results.map(({ compiled }) => compiled.flag.key);
  const failing = new Set(which === "partial" ? [...keys].sort().filter((_, i) => i % 2 === 0) : which);
  // A new decision for each: shapes keep the text of a decision.
  return results.map((result) =>
    failing.has(result.compiled.flag.key) ? { ...result, decision: failed("database_error") } : result,
  );
}

/**
 * Makes the function that reports flags that cannot be evaluated: each flag once for each reason, and again after a
 * change of the flag.
 * @param project Its name is part of the line if there are several.
 */
export function createFailureNotices(
  notice: (text: string) => void,
): (results: readonly Decided[], project: StoredProject, hasOthers: boolean) => void {
  // A changed flag is another document.
  const reported = new WeakMap<FeatureFlag, Set<string>>();
  return (results, project, hasOthers) => {
    for (const { compiled, decision } of results) {
      const { code, description } = decision.reason;
      if (!decision.failed && code !== "missing_dependency") continue;
      const { flag } = compiled;
      const codes = reported.get(flag) ?? new Set();
      if (codes.has(code)) continue;
      reported.set(flag, codes.add(code));
      const shown = JSON.stringify(flag.key);
      const where = hasOthers ? ` of ${project.name}` : "";
      notice(
        `the flag ${shown}${where} cannot be evaluated and is off: ${description} (${code}); \`phx-sim flags explain ${shown}\` shows why`,
      );
    }
  };
}

interface EvaluationPorts {
  readonly desk: Desk;
  readonly rulesets: Rulesets;
  readonly reportFailures: ReturnType<typeof createFailureNotices>;
}

const surveyPrefix = "survey-targeting-";

/** The flags of a request; encrypted ones are only for the remote config endpoint. */
function selection(call: Call, request: FlagsRequest): (flag: FeatureFlag) => boolean {
  const runtime = runtimeOf(call, request);
  const isSurveysOnly = switchOf(call, "only_evaluate_survey_feature_flags") === true;
  return (flag) =>
    matchesRuntime(flag, runtime) &&
    matchesContexts(flag, request.contexts) &&
    !flag.has_encrypted_payloads &&
    (!isSurveysOnly || flag.key.startsWith(surveyPrefix));
}

export const askedIn = ({ geoip }: Desk, call: Call, request: FlagsRequest, distinctId: string): RequestedSubject => ({
  distinctId,
  deviceId: request.deviceId,
  anonymousId: request.anonymousId,
  personProperties: request.personProperties,
  groups: request.groups,
  groupProperties: request.groupProperties,
  address: geoip.isEmpty ? undefined : addressOf(call),
  isGeoipDisabled: request.isGeoipDisabled,
  isStoredIgnored: switchOf(call, "only_use_override_person_properties") === true,
});

function withExperiments(results: readonly Decided[], used: ReadonlySet<unknown>): readonly ServedFlag[] {
  if (used.size === 0) return results;
  return results.map((result) => {
    const { id, key } = result.compiled.flag;
    return used.has(id) || used.has(key) ? { ...result, hasExperiment: true } : result;
  });
}

/**
 * The decisions about the flags of a request.
 * @param reportFailures Reports flags that cannot be evaluated
 */
export function evaluate(
  { desk, rulesets, reportFailures }: EvaluationPorts,
  call: Call,
  project: StoredProject,
  request: FlagsRequest,
  asked: RequestedSubject,
) {
  const { distinctId, anonymousId } = asked;
  const { flagKeys: keys } = request;
  const isSelected = selection(call, request);
  if (anonymousId !== undefined) {
    const isAsked = (key: string) => keys === undefined || keys.has(key);
    keepContinuity(
      desk.people,
      rulesets.rulesetOf(project),
      project.id,
      { distinctId, anonymousId },
      (it) => isAsked(it.flag.key) && isSelected(it.flag),
    );
  }
  const overrides = overridesFor(desk.worlds, project.id, distinctId);
  const ruleset = rulesets.overriddenRulesetOf(project, overrides);
  const subject = subjectOf(desk, project, asked);
  const decided = withOverrides(evaluateRuleset(ruleset, subject, { keys, isSelected }), overrides);
  reportFailures(decided, project, desk.worlds.current.projects.length > 1);
  const served = call.fault?.flags === undefined ? decided : withFailures(decided, call.fault.flags);
  const results = withExperiments(served, experimentFlagsOf(desk.worlds, project.id));
  if (switchOf(call, "detailed_analysis") !== true) return results;
  return results.map((result): ServedFlag => {
    const { flag } = result.compiled;
    if (result.decision.failed) return result;
    return { ...result, conditions: overrides.has(flag.key) ? [] : conditionsOf(ruleset, flag, subject) };
  });
}
