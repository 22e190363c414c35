import { z } from "zod";
import type { Json } from "../../kernel/base/json.ts";
import { recordOf } from "../../kernel/http/record-shape.ts";
import { failures } from "./engine/reasons.ts";

// Messages complete the words "expected …".

const AnyJson = z.custom<Json>();

export const Value = z.union([z.boolean(), z.string()]).describe("A string is a variant");
const OrderedValue = z
  .union([z.boolean(), z.string().min(1)], "true, false or the key of a variant")
  .describe("A string is a variant");

export const ProjectNumber = z.int().min(0);
const project = ProjectNumber.describe("Number of the project (default: the first)");

export const FlagListQuery = z.strictObject({
  project: ProjectNumber.optional().describe("Only flags of this project"),
});
export const FlagQuery = z.strictObject({ project: project.optional() });

export const OverrideSelection = FlagQuery.extend({
  distinct_id: z.string().optional().describe("Only the override for this distinct id"),
  for: z.enum(["everybody"]).optional().describe("Only the override for everybody, whatever distinct_id is"),
});

const subjectFields = {
  project,
  person: recordOf(AnyJson).describe("Person properties; they override the stored ones"),
  groups: recordOf(z.union([z.string(), z.number()], "the key of a group")).describe("Keys of groups by group type"),
  group_properties: recordOf(recordOf(AnyJson)).describe(
    "Properties of groups by group type; they override the stored ones",
  ),
};
const explainFields = {
  ...subjectFields,
  device_id: z.string().describe("Device id, for flags that are bucketed by device"),
  anon_distinct_id: z.string().describe("The distinct id before the person was identified"),
  ip: z.string().describe("IP address from which `$geoip_` properties are derived"),
};
const distinctId = z.string().min(1).describe("The distinct id whose value is explained (required)");
const simulateFields = {
  ...subjectFields,
  count: z.int().min(1).max(100_000).describe("Number of generated subjects (default: 1000)"),
};

/** The fields as optional keys of a body, in which null is the same as absent. */
const nullish = <Fields extends Readonly<Record<string, z.ZodType>>>(fields: Fields) =>
  Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, field.nullish()])) as {
    [Name in keyof Fields]: z.ZodOptional<z.ZodNullable<Fields[Name]>>;
  };

export const ExplainRequest = z.strictObject({ distinct_id: distinctId, ...nullish(explainFields) });
export const ExplainQuery = z.strictObject(explainFields).partial().extend({ distinct_id: distinctId });
export type ExplainRequest = z.infer<typeof ExplainRequest>;

export const SimulateRequest = z.strictObject(nullish(simulateFields));
export const SimulateQuery = z.strictObject(simulateFields).partial();
export type SimulateRequest = z.infer<typeof SimulateRequest>;

export const OverrideOrder = z.strictObject({
  value: OrderedValue,
  payload: z.json().optional().describe("Replaces the flag's own payload for the value"),
  distinct_id: z
    .string()
    .min(1, "a distinct id, or none for an override for all")
    .nullish()
    .describe("Only for this distinct id (default: for all)"),
  project: project.nullish(),
  force: z
    .boolean()
    .optional()
    .describe("Also sets a flag that the project does not have, or a variant that the flag does not have"),
});
export type OverrideOrder = z.infer<typeof OverrideOrder>;

const overrideFields = {
  project: z.int(),
  key: z.string().describe("The flag's key"),
  distinct_id: z.string().nullable().describe("The override is only for it; null: for all"),
  value: Value,
  payload: AnyJson.describe("null: the flag's own payload for the value"),
  created_at: z.iso.datetime(),
};

export const FlagOverride = z.strictObject(overrideFields).meta({ title: "FlagOverride" });
export type FlagOverride = z.infer<typeof FlagOverride>;

export const FlagOverrideSet = z
  .strictObject({
    ...overrideFields,
    known: z
      .boolean()
      .describe("True if the project has a flag with this key; if not, clients get the override anyway"),
    hint: z.string().nullable().describe("What to check where the flag is not known"),
  })
  .meta({ title: "FlagOverrideSet" });
export type FlagOverrideSet = z.infer<typeof FlagOverrideSet>;

const sentences = (description: string) => z.array(z.string()).describe(description);

export const FlagWords = z
  .strictObject({
    before: sentences("What applies before the condition sets: state, audience, enrolment, holdouts"),
    sets: sentences("One sentence for each condition set; the first that matches decides"),
    after: sentences("What follows from a match: variants, payloads, what is hashed"),
    cohorts: sentences("The cohorts that the condition sets refer to"),
    otherwise: z
      .string()
      .optional()
      .describe("Rules of version 2: the value where no rule gives one; else it is false"),
  })
  .meta({ title: "FlagWords" });
export type FlagWords = z.infer<typeof FlagWords>;

const flagFields = {
  project: z.int(),
  key: z.string(),
  id: z.int().nullable().describe("null for a key that has overrides only"),
  name: z.string(),
  active: z.boolean(),
  rules: sentences("The condition sets, then the variants, in short"),
  variants: z.array(z.string()),
  shares: z
    .array(z.strictObject({ variant: z.string(), percentage: z.number() }))
    .describe("The variants with their shares, in percent"),
  words: FlagWords.nullable().describe("The rules in plain English; null for a key that has overrides only"),
  overrides: z.array(FlagOverride),
};

export const FlagSummary = z.strictObject(flagFields).meta({ title: "FlagSummary" });
export type FlagSummary = z.infer<typeof FlagSummary>;

export const FlagInFull = z
  .strictObject({
    ...flagFields,
    filters: z
      .record(z.string(), AnyJson)
      .nullable()
      .describe("As they are written; null for a key that has overrides only"),
  })
  .meta({ title: "FlagInFull" });
export type FlagInFull = z.infer<typeof FlagInFull>;

const failureCodes = Object.keys(failures) as (keyof typeof failures)[];
const Failure = z.enum(failureCodes).describe("Why it could not be computed");

const RuleType = z.enum(["targeted_release", "percentage_rollout", "experiment"]);

const RuleOutcome = z
  .strictObject({
    value: AnyJson.describe("Of the flag's return type; null: it has no default"),
    code: z.enum(["targeting_match", "rollout_miss", "experiment_paused", "holdout", "no_rule_match"]),
    description: z.string(),
    type: RuleType.nullable().describe("null: no rule decided"),
    id: z.string().nullable().describe("The rule that decided"),
  })
  .meta({ title: "FlagRuleOutcome" });

const decisionFields = {
  value: Value,
  enabled: z.boolean(),
  variant: z.string().nullable(),
  payload: z.string().nullable().describe("JSON text"),
  failed: z.boolean().describe("True if it could not be computed: the value means nothing"),
  reason: z.strictObject({ code: z.string(), description: z.string() }),
  condition_index: z.int().nullable().describe("Which condition set or rule decided, from 0"),
  rule: RuleOutcome.optional().describe(
    "With rules of version 2: what `/flags?v=3` answers; the rest is what older clients get",
  ),
};

export const FlagOutcome = z.strictObject(decisionFields).meta({ title: "FlagDecision" });
export type FlagOutcome = z.infer<typeof FlagOutcome>;

export const HashTrace = z
  .strictObject({
    input: z.string().describe("The text whose SHA-1 it is"),
    identifier: z.string(),
    identifier_kind: z.enum(["distinct_id", "device_id", "hash_key_override", "anonymous_id", "group_key"]),
    hash: z.number().describe("In [0, 1]"),
  })
  .meta({ title: "FlagHash" });
export type HashTrace = z.infer<typeof HashTrace>;

const FlagTrace = z.strictObject({
  key: z.string().nullable(),
  value: Value.nullable().describe("null: the flag failed, or does not exist"),
});

const CohortTrace = z.strictObject({
  id: z.int(),
  name: z.string().nullable(),
  is_static: z.boolean(),
  member: z.boolean(),
  get tree() {
    return TreeTrace.nullable().describe(
      "Conditions of a dynamic cohort; null for a static cohort, for one that was listed before, and far down",
    );
  },
});
export type CohortTrace = z.infer<typeof CohortTrace>;

export const PropertyTrace = z
  .object({
    type: z.string(),
    key: z.string(),
    operator: z.string(),
    expected: AnyJson,
    words: z.string().describe("What it requires, in plain English"),
    passed: z.boolean(),
    actual: AnyJson.optional().describe("Absent where the property is not set"),
    failure: Failure.optional(),
    group_type_index: z.int().nullable().optional(),
    negation: z.literal(true).optional().describe("In cohorts and rules: the filter is inverted"),
    cohort: CohortTrace.optional(),
    flag: FlagTrace.optional(),
  })
  .meta({ title: "FlagProperty" });
export type PropertyTrace = z.infer<typeof PropertyTrace>;

const TreeNode = z.strictObject({
  type: z.enum(["AND", "OR"]),
  passed: z.boolean(),
  get values() {
    return z.array(TreeTrace);
  },
});

export const TreeTrace = z.union([TreeNode, PropertyTrace]).meta({ title: "FlagCohortTree" });
export type TreeTrace = z.infer<typeof TreeTrace>;

export const RolloutTrace = z
  .strictObject({
    percentage: z.number(),
    hash: HashTrace.nullable().describe("null where all are in: nothing is hashed"),
    threshold: z.number().describe("Passed if the hash is not above it"),
    passed: z.boolean(),
  })
  .meta({ title: "FlagRollout" });
export type RolloutTrace = z.infer<typeof RolloutTrace>;

const VariantRange = z.strictObject({ variant: z.string(), from: z.number(), to: z.number(), hit: z.boolean() });
export type VariantRange = z.infer<typeof VariantRange>;

export const VariantTrace = z
  .strictObject({
    forced: z.string().nullable().describe("The variant that the condition set names"),
    hash: HashTrace.nullable(),
    ranges: z.array(VariantRange),
  })
  .meta({ title: "FlagVariantRanges" });
export type VariantTrace = z.infer<typeof VariantTrace>;

const RuleTrace = z
  .strictObject({
    id: z.string(),
    type: RuleType,
    holdout: z
      .strictObject({
        percentage: z.number(),
        hash: HashTrace.nullable().describe("null where all are held out"),
        threshold: z.number(),
        held_out: z.boolean(),
      })
      .nullable()
      .describe("null where it has none, or something else has decided"),
  })
  .meta({ title: "FlagRule" });
export type RuleTrace = z.infer<typeof RuleTrace>;

export const ConditionTrace = z
  .strictObject({
    index: z.int(),
    reached: z.boolean().describe("False if the flag was decided before it: the rest is what it would have been"),
    matched: z.boolean(),
    miss: z
      .enum(["out_of_rollout_bound", "no_condition_match", "no_group_type", "no_device", "paused", "held_out"])
      .nullable()
      .describe("Why it did not match; `paused` and `held_out` are of experiment rules"),
    failure: Failure.nullable(),
    group_type_index: z.int().nullable().describe("The group type that it is about; null: persons"),
    group_type: z.string().nullable(),
    properties: z.array(PropertyTrace),
    rollout: RolloutTrace.nullable().describe("null where the properties have decided already"),
    variant: VariantTrace.nullable().describe("null where it does not match, or the flag has no variants"),
    hint: z.string().nullable().describe("Why it did not match, in plain English"),
    rule: RuleTrace.optional().describe("Only for rules of version 2, which are listed like condition sets"),
  })
  .meta({ title: "FlagCondition" });
export type ConditionTrace = z.infer<typeof ConditionTrace>;

const EnrollmentTrace = z.strictObject({
  form: z.enum(["feature_enrollment", "super_groups"]),
  properties: z.array(PropertyTrace),
  decided: z.boolean(),
});
export type EnrollmentTrace = z.infer<typeof EnrollmentTrace>;

const HoldoutTrace = z.strictObject({
  variant: z.string(),
  percentage: z.number(),
  hash: HashTrace.nullable(),
  threshold: z.number(),
  held_out: z.boolean(),
});
export type HoldoutTrace = z.infer<typeof HoldoutTrace>;

/** Why a flag has its value for a subject: what `/flags` would answer, and how that is computed. */
export const FlagExplanation = z
  .strictObject({
    project: z.int(),
    distinct_id: z.string(),
    key: z.string(),
    id: z.int().nullable().describe("null for a key that has overrides only"),
    active: z.boolean(),
    ...decisionFields,
    override: FlagOverride.nullable().describe("The override that decided; null: the rules did"),
    by_rules: FlagOutcome.nullable().describe(
      "What the rules give, overridden or not; null for a key that has overrides only",
    ),
    enrollment: EnrollmentTrace.nullable().describe("null where the flag has no early access enrolment"),
    holdout: HoldoutTrace.nullable().describe("null where the flag has none, or enrolment has decided"),
    conditions: z.array(ConditionTrace),
    hint: z.string().nullable().describe("Why the flag is off, or the subject held out, in plain English"),
  })
  .meta({ title: "FlagExplanation" });
export type FlagExplanation = z.infer<typeof FlagExplanation>;

export const FlagDistribution = z
  .strictObject({
    project: z.int(),
    key: z.string(),
    count: z.int(),
    failed: z.int().describe("Subjects for which the flag could not be computed; they are not in `values`"),
    values: z
      .array(z.strictObject({ value: Value, count: z.int(), share: z.number().describe("Of all, in [0, 1]") }))
      .describe("Variants in the flag's order, then true, false and holdouts; unused values are left out"),
    override: FlagOverride.nullable().describe("The override for all, which is not counted"),
  })
  .meta({ title: "FlagDistribution" });
export type FlagDistribution = z.infer<typeof FlagDistribution>;
