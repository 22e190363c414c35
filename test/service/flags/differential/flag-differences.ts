import { isObject, type Json, type JsonObject } from "../../../../src/kernel/base/json.ts";
import type { Answer } from "./answers.ts";
import { type CohortFacts, type FlagFacts, leavesOf, treeIn } from "./documents.ts";
import { groupTypes, type Who } from "./subjects.ts";

/** A flag on which the sides differ. */
interface FlagMismatch {
  readonly flag: FlagFacts;
  readonly who: Who;
  readonly ours: Answer;
  readonly theirs: Answer;
  /** The flags that it asks for, and those that they ask for. */
  readonly needed: readonly (FlagFacts | undefined)[];
}

/** A known difference, meant to be: the engine follows the service. */
interface FlagDifference {
  readonly name: string;
  readonly reason: string;
  explains(mismatch: FlagMismatch): boolean;
}

const isUnresolved = ({ theirs }: FlagMismatch): boolean => theirs.value === undefined;
const filtersOf = ({ flag }: FlagMismatch): JsonObject => flag.document.filters;
const aggregationOf = (it: FlagMismatch): number | null => {
  const index = filtersOf(it).aggregation_group_type_index;
  return typeof index === "number" ? index : null;
};
const groupOf = ({ who }: FlagMismatch, index: number) => who.groups[groupTypes[index] ?? ""];

/** Is the flag as a whole about a group that the request does not name? */
function lacksItsGroup(it: FlagMismatch): boolean {
  const index = aggregationOf(it);
  return index !== null && index < groupTypes.length && groupOf(it, index) === undefined;
}

const hasItsGroup = (it: FlagMismatch): boolean => groupOf(it, aggregationOf(it) ?? groupTypes.length) !== undefined;

const hasPersonSet = ({ flag }: FlagMismatch): boolean =>
  flag.conditions.some(({ aggregation }) => aggregation === null);

const isHeldOut = ({ ours }: FlagMismatch): boolean => ours.reason === "holdout_condition_value";

const cohortsOf = ({ flag }: FlagMismatch): CohortFacts[] =>
  [...flag.cohorts.values()].filter((it) => it !== undefined);

function groupsIn(node: JsonObject): JsonObject[] {
  if (!Array.isArray(node.values)) return [];
  return [node, ...node.values.filter(isObject).flatMap(groupsIn)];
}

const hasTree = (it: FlagMismatch, is: (node: JsonObject) => boolean): boolean =>
  cohortsOf(it).some((cohort) => groupsIn(treeIn(cohort)).some(is));

const values = (node: JsonObject): JsonObject[] => (Array.isArray(node.values) ? node.values.filter(isObject) : []);

const hasLeaf = (it: FlagMismatch, type: string): boolean =>
  cohortsOf(it).some((cohort) => leavesOf(treeIn(cohort)).some((leaf) => leaf.type === type));

/** Does the client look a set's cohorts up among the properties of a group that was named? */
const asksGroupForCohorts = (it: FlagMismatch): boolean =>
  it.flag.conditions.some(
    ({ aggregation, cohorts }) =>
      cohorts.length > 0 && groupOf(it, aggregation ?? aggregationOf(it) ?? groupTypes.length) !== undefined,
  );

const isFalsy = (payload: Json | undefined): boolean => payload !== undefined && !payload;

const node = "posthog-node 5.70, extensions/feature-flags";

export const flagDifferences: readonly FlagDifference[] = [
  {
    name: "inactive flag",
    reason: `The service leaves it out of the answer, the client says false (${node}).`,
    explains: ({ flag, ours, theirs }) =>
      flag.document.active === false && ours.value === undefined && !ours.failure && theirs.value === false,
  },
  {
    name: "remote configuration",
    reason: "Definitions do not contain such flags (rust/feature-flags, api/flag_definitions).",
    explains: (it) => it.flag.document.is_remote_configuration === true && isUnresolved(it),
  },
  {
    name: "experience continuity",
    reason: `Stored hash keys are known to the service only: the client does not decide (${node}).`,
    explains: (it) => it.flag.document.ensure_experience_continuity === true && isUnresolved(it),
  },
  {
    name: "empty distinct id",
    reason: "The client evaluates nothing without a distinct id (posthog-node 5.70, client).",
    explains: (it) => it.who.distinctId === "" && isUnresolved(it),
  },
  {
    name: "early access enrolment",
    reason: `The client ignores feature_enrollment (${node}); the service decides by it before anything else.`,
    explains: (it) => filtersOf(it).feature_enrollment === true && it.ours.reason === "super_condition_value",
  },
  {
    name: "super groups",
    reason: `The client ignores super_groups (${node}); the service decides by them as soon as the person has the property.`,
    explains: (it) => Object.hasOwn(filtersOf(it), "super_groups") && it.ours.reason === "super_condition_value",
  },
  {
    name: "holdout in the older form",
    reason: `The client knows filters.holdout only (@posthog/core featureFlagLocalEvaluation), the service holdout_groups as well.`,
    explains: (it) => isHeldOut(it) && filtersOf(it).holdout === undefined,
  },
  {
    name: "holdout without the group",
    reason: `Without the flag's group the client says false at once (${node}); the service hashes an empty id for the holdout.`,
    explains: (it) => lacksItsGroup(it) && isHeldOut(it) && it.theirs.value === false,
  },
  {
    name: "no device",
    reason: `The client does not decide about a flag for devices without $device_id (${node}); the service passes its sets over.`,
    explains: (it) =>
      it.flag.document.bucketing_identifier === "device_id" &&
      aggregationOf(it) === null &&
      !it.who.properties.$device_id &&
      isUnresolved(it),
  },
  {
    name: "other sets of a flag without its group",
    reason: `The client says false at once (${node}); the service still tries sets about persons or other groups.`,
    explains: (it) =>
      lacksItsGroup(it) &&
      it.flag.conditions.some(({ aggregation }) => aggregation !== aggregationOf(it)) &&
      it.theirs.value === false,
  },
  {
    name: "persons in a flag for groups",
    reason: `The client asks and hashes the group in a set whose own aggregation is null (${node}), the service the person.`,
    explains: (it) => hasItsGroup(it) && hasPersonSet(it),
  },
  {
    name: "unknown group type",
    reason: `The client does not decide about a flag whose group type is not in the definitions (${node}).`,
    explains: (it) => (aggregationOf(it) ?? 0) >= groupTypes.length && isUnresolved(it),
  },
  {
    name: "empty group key",
    reason: "An empty key names no group to the service (rust/feature-flags, flag_matching); the client hashes it.",
    explains: (it) =>
      [aggregationOf(it), ...it.flag.conditions.map(({ aggregation }) => aggregation)].some(
        (index) => index !== null && groupOf(it, index)?.key === "",
      ),
  },
  {
    name: "cohorts in sets about groups",
    reason: `The client asks the group's properties (${node}), the service the person's: cohorts are of persons.`,
    explains: asksGroupForCohorts,
  },
  {
    name: "static cohort",
    reason: `Its persons are known to the service only: the client does not decide (${node}).`,
    explains: (it) => isUnresolved(it) && cohortsOf(it).some(({ document }) => document.is_static === true),
  },
  {
    name: "empty OR in a cohort",
    reason: `It is fulfilled to the service (rust/feature-flags, cohort_operations), not to the client (${node}).`,
    explains: (it) => hasTree(it, (node) => node.type === "OR" && values(node).length === 0),
  },
  {
    name: "filters beside groups in a cohort",
    reason: `The client takes a node's items all for groups or all for filters, by the first one (${node}).`,
    explains: (it) => hasTree(it, (node) => new Set(values(node).map((item) => "values" in item)).size > 1),
  },
  {
    name: "behaviour in a cohort",
    reason: `To the service no one has done anything; the client looks for a property of the event's name (${node}).`,
    explains: (it) => hasLeaf(it, "behavioral"),
  },
  {
    name: "cohort that cannot be computed",
    reason: `A missing or circular cohort fails the flag when a set comes to its cohorts; the client may find another reason first (${node}).`,
    explains: ({ ours }) =>
      ours.failure === "dependency_not_found_cohort" || ours.failure === "dependency_cycle_cohort",
  },
  {
    name: "missing dependency",
    reason: `It switches the whole flag off, and all that depend on it; the client goes on with other sets or does not decide (${node}).`,
    explains: (it) => it.ours.reason === "missing_dependency",
  },
  {
    name: "deleted dependency",
    reason: `It is false to the service; the client does not find it in the definitions and leaves the set open (${node}).`,
    explains: (it) => it.needed.some((flag) => flag?.document.deleted === true),
  },
  {
    name: "circular dependency",
    reason: "Flags on or behind a circle cannot be computed by either side; the client notices on the way only.",
    explains: ({ ours }) => ours.failure === "dependency_cycle_flag",
  },
  {
    name: "unknown operator",
    reason: "It fails the flag as a whole; the client notices when it comes to it.",
    explains: ({ ours }) => ours.failure === "unsupported_operator",
  },
  {
    name: "falsy payload",
    reason:
      "The client drops payloads that are false, 0, null or empty once parsed (@posthog/core resolveFeatureFlagPayload).",
    explains: ({ ours, theirs }) =>
      ours.value === theirs.value && theirs.payload === undefined && isFalsy(ours.payload),
  },
];
