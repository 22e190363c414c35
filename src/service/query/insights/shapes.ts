import { z } from "zod";

/** Parts that insight queries share. Upstream PostHog/posthog frontend/src/queries/schema/schema-general.ts. */

/** Fields of one type that may be left out. */
export const nullish = <Type extends z.ZodType, Name extends string>(type: Type, ...names: Name[]) =>
  // each name has this type
  Object.fromEntries(names.map((it) => [it, type.nullish()])) as Record<Name, z.ZodOptional<z.ZodNullable<Type>>>;

export const GoalLines = z.array(z.record(z.string(), z.json())).nullish();
export const Customizations = z.record(z.string(), z.json()).nullish();

export const DateRange = z.strictObject({
  date_from: z.string().nullish(),
  date_to: z.string().nullish(),
  explicitDate: z.boolean().nullish(),
});
export type DateRange = z.infer<typeof DateRange>;

export const IntervalName = z.enum(["minute", "hour", "day", "week", "month"]);

const Scalar = z.union([z.string(), z.number(), z.boolean()]);

/** A condition on one property; `filters.ts` reads its type and operator. */
export const FilterOfProperty = z.strictObject({
  key: z.union([z.string(), z.number()]).optional(),
  type: z.string().nullish(),
  operator: z.string().nullish(),
  value: z.union([Scalar, z.array(z.union([Scalar, z.null()])), z.null()]).optional(),
  group_type_index: z.int().min(0).max(4).nullish(),
  group_key_names: z.record(z.string(), z.string()).nullish(),
  negation: z.boolean().nullish(),
  label: z.string().nullish(),
  cohort_name: z.string().nullish(),
});
export type FilterOfProperty = z.infer<typeof FilterOfProperty>;

/** Conditions: a list of which all must be met, or groups; `filters.ts` reads them. */
const Filters = z.json().nullish();

const nodeFields = {
  ...nullish(z.string(), "name", "custom_name", "math", "math_property", "math_property_type", "math_hogql"),
  math_group_type_index: z.int().min(0).max(4).nullish(),
  math_multiplier: z.number().nullish(),
  properties: Filters,
  fixedProperties: z.tuple([]).nullish(),
  optionalInFunnel: z.boolean().nullish(),
  version: z.number().nullish(),
  response: z.null().optional(),
};

export const eventsNodeFields = {
  kind: z.literal("EventsNode"),
  event: z.string().nullish(),
  limit: z.int().nullish(),
  orderBy: z.array(z.string()).nullish(),
  ...nodeFields,
};
export const actionsNodeFields = { kind: z.literal("ActionsNode"), id: z.int(), ...nodeFields };

/** What a series counts: an event, every event, or an action. */
export const SeriesNode = z
  .discriminatedUnion("kind", [z.strictObject(eventsNodeFields), z.strictObject(actionsNodeFields)])
  .refine((it) => !it.math_hogql || it.math === "hogql", {
    path: ["math_hogql"],
    error: 'an expression needs the math "hogql"',
  });
export type SeriesNode = z.infer<typeof SeriesNode>;

const BreakdownPart = z.strictObject({
  property: z.union([z.string(), z.int()]),
  type: z.string().nullish(),
  normalize_url: z.boolean().nullish(),
  group_type_index: z.int().min(0).max(4).nullish(),
  histogram_bin_count: z.int().min(1).max(10_000).nullish(),
});

export const BreakdownFilter = z.strictObject({
  breakdown: z.union([z.string(), z.int(), z.array(z.union([z.string(), z.int()]))]).nullish(),
  breakdown_type: z.string().nullish(),
  breakdowns: z.array(BreakdownPart).max(3).nullish(),
  breakdown_limit: z.int().min(1).nullish(),
  breakdown_group_type_index: z.int().min(0).max(4).nullish(),
  breakdown_histogram_bin_count: z.int().min(1).max(10_000).nullish(),
  breakdown_hide_other_aggregation: z.boolean().nullish(),
  breakdown_normalize_url: z.boolean().nullish(),
});
export type BreakdownFilter = z.infer<typeof BreakdownFilter>;

export const CompareFilter = z.strictObject({ compare: z.boolean().nullish(), compare_to: z.string().nullish() });
export type CompareFilter = z.infer<typeof CompareFilter>;

/** Modifiers that choose how the service computes a result, not which. */
const Modifiers = z.strictObject({
  ...nullish(z.boolean(), "debug", "timings", "optimizeJoinedFilters", "optimizeProjections", "useMaterializedViews"),
  ...nullish(z.boolean(), "usePreaggregatedTableTransforms", "usePresortedEventsTable"),
  ...nullish(z.boolean(), "useWebAnalyticsPreAggregatedTables"),
  ...nullish(z.string(), "inCohortVia", "materializationMode", "materializedColumnsOptimizationMode"),
  ...nullish(z.string(), "personsArgMaxVersion", "personsJoinMode", "propertyGroupsMode", "sessionsV2JoinMode"),
  ...nullish(z.string(), "sessionTableVersion"),
  /** Properties of persons are their current ones. */
  personsOnEventsMode: z.enum(["disabled", "person_id_override_properties_joined"]).nullish(),
});

/** Fields of every query. */
export const commonFields = {
  modifiers: Modifiers.nullish(),
  tags: z.record(z.string(), z.json()).nullish(),
  version: z.number().nullish(),
  response: z.null().optional(),
};

/** Fields of every insight query. */
export const insightFields = {
  dateRange: DateRange.nullish(),
  filterTestAccounts: z.boolean().nullish(),
  properties: Filters,
  aggregation_group_type_index: z.int().min(0).max(4).nullish(),
  /** The sim has all events, and counts them all; the response says so. */
  samplingFactor: z.number().gt(0).max(1).nullish(),
  dataColorTheme: z.number().nullish(),
  ...commonFields,
};
