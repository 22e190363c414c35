import { setImmediate as turn } from "node:timers/promises";
import { SimError } from "../../kernel/base/errors.ts";
import type { JsonObject } from "../../kernel/base/json.ts";
import type { StoredProject } from "../../state/documents/world.ts";
import type { Decision } from "./engine/decision.ts";
import { type FlagOverrides, overriddenDecision, overridesFor } from "./engine/overrides.ts";
import { textValuesOf } from "./engine/rule-config.ts";
import { entryOf, evaluateRuleset, type Ruleset } from "./engine/ruleset.ts";
import type { Subject } from "./engine/run.ts";
import { explainFlag } from "./explain/explain.ts";
import { flagOf, noSuchFlag, showOverride } from "./overrides.ts";
import type { FlagPorts } from "./ports.ts";
import type { ExplainRequest, FlagDistribution, FlagExplanation, FlagOutcome, SimulateRequest } from "./shapes.ts";
import { type RequestedSubject, subjectOf } from "./subjects.ts";

export interface Simulation {
  add(subject: Subject): void;
  result(): Pick<FlagDistribution, "key" | "count" | "failed" | "values">;
}

/** Numbers and objects as JSON text: to older clients all of them are true. */
function countedValue({ value, rule }: Decision): boolean | string {
  const typed = rule?.value ?? null;
  return typeof typed === "number" || (typeof typed === "object" && typed !== null) ? JSON.stringify(typed) : value;
}

/** undefined if the rules have no active flag with the key. */
export function createSimulation(ruleset: Ruleset, key: string): Simulation | undefined {
  const entry = entryOf(ruleset, key);
  if (!entry || !ruleset.flags.includes(entry.compiled)) return undefined;
  const { compiled } = entry;
  const keys = new Set([key]);
  const counts = new Map<boolean | string, number>();
  let count = 0;
  let failed = 0;
  return {
    add(subject) {
      count++;
      const results = evaluateRuleset(ruleset, subject, { keys });
      const decision = results.find((it) => it.compiled === compiled)?.decision;
      if (!decision || decision.failed) failed++;
      else {
        const value = countedValue(decision);
        counts.set(value, (counts.get(value) ?? 0) + 1);
      }
    },
    result() {
      const values = [...compiled.variants, ...textValuesOf(compiled.flag.filters)];
      const order = new Set([...values, true, false, ...counts.keys()]);
      const shares = [...order].flatMap((value) => {
        const found = counts.get(value);
        return found === undefined ? [] : [{ value, count: found, share: found / count }];
      });
      return { key, count, failed, values: shares };
    },
  };
}

const nothing: JsonObject = Object.freeze({});

const propertiesIn = ({ person, groups, group_properties }: ExplainRequest | SimulateRequest) => ({
  personProperties: person ?? nothing,
  groups: groups ?? nothing,
  groupProperties: group_properties ?? nothing,
});

const askedIn = (request: ExplainRequest): RequestedSubject => ({
  distinctId: request.distinct_id,
  deviceId: request.device_id || undefined,
  anonymousId: request.anon_distinct_id || undefined,
  address: request.ip || undefined,
  ...propertiesIn(request),
});

/** The rules in which the flag itself is not overridden; overrides of flags that it depends on count. */
export function rulesetWithout(
  { rulesets }: FlagPorts,
  project: StoredProject,
  overrides: FlagOverrides,
  key: string,
): Ruleset {
  const others = new Map(overrides);
  others.delete(key);
  return rulesets.overriddenRulesetOf(project, others);
}

const outcomeIn = (it: FlagOutcome): FlagOutcome => ({
  value: it.value,
  enabled: it.enabled,
  variant: it.variant,
  payload: it.payload,
  failed: it.failed,
  reason: it.reason,
  condition_index: it.condition_index,
  ...(it.rule && { rule: it.rule }),
});

function overridden(
  { rulesets }: FlagPorts,
  project: StoredProject,
  overrides: FlagOverrides,
  key: string,
): FlagOutcome | undefined {
  const override = overrides.get(key);
  const entry = override && entryOf(rulesets.overriddenRulesetOf(project, overrides), key);
  return entry && overriddenDecision(entry.compiled.flag, override);
}

const withoutRules = { id: null, active: false, enrollment: null, holdout: null, conditions: [], hint: null };

/** Why a flag has its value for a subject: what its rules give, and the override where there is one. @throws SimError not_found */
export function explain(
  ports: FlagPorts,
  project: StoredProject,
  key: string,
  request: ExplainRequest,
): FlagExplanation {
  const asked = askedIn(request);
  const overrides = overridesFor(ports.worlds, project.id, asked.distinctId);
  const explained = explainFlag(rulesetWithout(ports, project, overrides, key), key, subjectOf(ports, project, asked));
  const byRules = explained ? outcomeIn(explained) : null;
  const outcome = overridden(ports, project, overrides, key) ?? byRules;
  if (!outcome) throw noSuchFlag(ports, project, key);
  const { rule: _rule, ...explainedBy } = explained ?? { ...withoutRules, rule: undefined };
  const override = overrides.get(key);
  return {
    project: project.id,
    distinct_id: asked.distinctId,
    ...explainedBy,
    key,
    ...outcomeIn(outcome),
    override: override ? showOverride(override) : null,
    by_rules: byRules,
  };
}

const defaultCount = 1000;

/** Subjects that are evaluated before other work gets a turn. */
const slice = 1000;

/**
 * Makes the nth generated subject: `user-n` with its own device, and its own group of each type of which none is given.
 * Stored properties do not count.
 */
function generatorOf(ports: FlagPorts, project: StoredProject, request: SimulateRequest): (n: number) => Subject {
  const common = propertiesIn(request);
  const types = ports.people.groupTypes(project.id).filter((type) => !Object.hasOwn(common.groups, type));
  return (n) =>
    subjectOf(ports, project, {
      ...common,
      distinctId: `user-${n}`,
      deviceId: `device-${n}`,
      groups: { ...common.groups, ...Object.fromEntries(types.map((type) => [type, `${type}-${n}`])) },
      isStoredIgnored: true,
    });
}

/** Counts the values that the rules give to generated subjects. @throws SimError not_found */
export async function distribution(
  ports: FlagPorts,
  project: StoredProject,
  key: string,
  request: SimulateRequest,
): Promise<FlagDistribution> {
  if (!flagOf(ports, project, key)) throw noSuchFlag(ports, project, key);
  const overrides = overridesFor(ports.worlds, project.id, undefined);
  const simulation = createSimulation(rulesetWithout(ports, project, overrides, key), key);
  if (!simulation)
    throw new SimError("not_found", `flag "${key}" of project ${project.id} is inactive: no client gets it`);
  const subjectAt = generatorOf(ports, project, request);
  const count = request.count ?? defaultCount;
  for (let n = 0; n < count; n++) {
    if (n > 0 && n % slice === 0) await turn();
    simulation.add(subjectAt(n));
  }
  const override = overrides.get(key);
  return { project: project.id, ...simulation.result(), override: override ? showOverride(override) : null };
}
