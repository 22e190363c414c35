import { z } from "zod";
import { isObject, objectIn, objectsIn } from "../../../kernel/base/json.ts";
import { textOf } from "../../flags/engine/values.ts";
import { type QueryContext, queryKind } from "../kind.ts";
import { refuse, unsupported } from "../refusals.ts";
import type { EventColumn } from "../table.ts";
import { valueText } from "./breakdowns.ts";
import { absoluteDate, calendarOf, type ProjectCalendar } from "./dates.ts";
import { allOf, everyRow, filterTest, type RowTest, valueTest } from "./filters.ts";
import { checkNumbers } from "./numbers.ts";
import { type Actors, actorsOf, collect, existingEntity } from "./series.ts";
import { actionsNodeFields, commonFields } from "./shapes.ts";

const properties = z.json().nullish();

const ExposureConfig = z.union([
  z.strictObject(actionsNodeFields),
  z.strictObject({
    kind: z.literal("ExperimentEventExposureConfig").optional(),
    event: z.string(),
    properties,
    version: commonFields.version,
    response: z.null().optional(),
  }),
]);
type ExposureConfig = z.infer<typeof ExposureConfig>;

const ExperimentExposureQuery = z.strictObject({
  kind: z.literal("ExperimentExposureQuery"),
  experiment_id: z.int().nullish(),
  experiment_name: z.string(),
  feature_flag: z.record(z.string(), z.json()),
  exposure_criteria: z
    .strictObject({
      filterTestAccounts: z.boolean().nullish(),
      exposure_config: ExposureConfig.nullish(),
      activation_config: z.json().nullish(),
      multiple_variant_handling: z.enum(["exclude", "first_seen"]).nullish(),
    })
    .nullish(),
  start_date: z.string().nullish(),
  end_date: z.string().nullish(),
  /** Who is held out is not exposed. */
  holdout: z.json().nullish(),
  ...commonFields,
});
type ExperimentExposureQuery = z.infer<typeof ExperimentExposureQuery>;

const multiple = "$multiple";

const flagEvent = "$feature_flag_called";

/** Events that name a flag and its value in properties of their own. */
const flagEvents: readonly string[] = [flagEvent, "$experiment_exposure"];

/** The rows that may be exposures, and the column with the variant. */
function exposuresOf(
  config: ExposureConfig | null | undefined,
  flag: string,
  context: QueryContext,
): { readonly test: RowTest; readonly variants: EventColumn } {
  const { table } = context;
  if (config?.kind === "ActionsNode") {
    const test = allOf([existingEntity(config, context).test, filterTest(config.properties, context)]);
    return { test, variants: table.property(`$feature/${flag}`) };
  }
  const event = config?.event ?? flagEvent;
  const ownTest = allOf([valueTest(table.name, (name) => name === event), filterTest(config?.properties, context)]);
  if (!flagEvents.includes(event)) return { test: ownTest, variants: table.property(`$feature/${flag}`) };
  const ofFlag = valueTest(table.property("$feature_flag"), (value) => value === flag);
  return { test: allOf([ownTest, ofFlag]), variants: table.property("$feature_flag_response") };
}

/** Who was exposed: the first time and the variant. */
interface Exposed {
  first: number;
  variant: string;
}

/** The first exposure of persons, or of groups: that of the first row by time. */
function exposedBy(
  rows: readonly number[],
  variantAt: EventColumn,
  { table }: QueryContext,
  isFirstSeen: boolean,
): Exposed {
  const variants = new Set(rows.map((row) => valueText(variantAt(row))));
  const [first = 0] = rows;
  const variant = isFirstSeen || variants.size === 1 ? valueText(variantAt(first)) : multiple;
  return { first: table.time(first), variant };
}

/** The instant of a date; one without an offset is in UTC. */
function instantOf(text: string, context: QueryContext): number {
  const instant = absoluteDate(text, calendarOf({ ...context, timeZone: "UTC" }));
  if (instant === undefined) throw refuse(`Invalid isoformat string: '${text}'`);
  return instant;
}

const day = 86_400_000;
const dateOf = (wall: number): string => new Date(wall).toISOString().slice(0, 10);

/** Python writes UTC as an offset. */
const isoOf = (instant: number, calendar: ProjectCalendar): string =>
  calendar.iso(calendar.wall(instant)).replace(/Z$/, "+00:00");

function runExposures(query: ExperimentExposureQuery, context: QueryContext): Record<string, unknown> {
  const { feature_flag: flag, exposure_criteria: criteria, start_date: start, end_date: end } = query;
  if (!query.experiment_id) throw refuse("experiment_id is required");
  if (typeof flag.key !== "string" || flag.key === "") throw refuse("feature_flag key is required");
  if (criteria?.activation_config) throw unsupported("The activation_config of exposure criteria");
  const experiment = context.experiment?.(query.experiment_id);
  if (!experiment) throw refuse(`Experiment ${query.experiment_id} does not exist.`);

  const filters = isObject(flag.filters) ? flag.filters : {};
  const variants = objectsIn(objectIn(filters, "multivariate").variants)
    .map(({ key }) => String(key))
    .filter((it) => !experiment.excluded.includes(it));
  const { aggregation_group_type_index: group } = filters;
  const actors: Actors = { of: actorsOf(context, typeof group === "number" ? group : undefined).of, has: everyRow };
  const { test, variants: column } = exposuresOf(criteria?.exposure_config, experiment.flag, context);
  const hasVariant = valueTest(column, (it) => it !== undefined && it !== null && variants.includes(textOf(it)));
  const { byActor } = collect({ filterTestAccounts: criteria?.filterTestAccounts ?? true }, undefined, actors, context);

  const calendar = calendarOf(context);
  const from = start ? instantOf(start, context) : undefined;
  const to = end ? instantOf(end, context) : undefined;
  const date_range = {
    date_from: from === undefined ? null : isoOf(from, calendar),
    date_to: from === undefined || to === undefined ? null : isoOf(to, calendar),
    explicitDate: true,
  };
  const answer = { kind: query.kind, date_range };
  // a draft has no exposures
  if (from === undefined) return { ...answer, timeseries: [], total_exposures: {} };

  const last = to ?? context.now;
  const isFirstSeen = criteria?.multiple_variant_handling === "first_seen";
  const exposed = [...byActor({ from, to: last }, allOf([test, hasVariant])).values()].map((rows) =>
    exposedBy(rows, column, context, isFirstSeen),
  );
  const startOf = (instant: number) => calendar.startOf(calendar.wall(instant), "day");
  const first = startOf(from);
  const days = Math.max(0, Math.round((startOf(last) - first) / day) + 1);
  checkNumbers("result", days * (variants.length + 1));
  const daily = new Map(variants.map((it) => [it, new Array<number>(days).fill(0)]));
  for (const { first: time, variant } of exposed) {
    const counts = daily.get(variant) ?? new Array<number>(days).fill(0);
    const at = Math.round((startOf(time) - first) / day);
    counts[at] = (counts[at] ?? 0) + 1;
    daily.set(variant, counts);
  }
  const dates = Array.from({ length: days }, (_, i) => dateOf(first + i * day));
  const timeseries = [...(days === 0 ? [] : daily)].map(([variant, counts]) => {
    let total = 0;
    return { variant, days: dates, exposure_counts: counts.map((it) => (total += it)) };
  });
  const totals = timeseries.map(({ variant, exposure_counts: counts }) => [variant, counts.at(-1) ?? 0]);
  return { ...answer, timeseries, total_exposures: Object.fromEntries(totals) };
}

/**
 * How many persons of an experiment were exposed to each variant by each day.
 * Upstream PostHog/posthog products/experiments/backend/hogql_queries/experiment_exposures_query_runner.py.
 */
export const exposuresKind = queryKind(ExperimentExposureQuery, runExposures);
