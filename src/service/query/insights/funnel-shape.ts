import { z } from "zod";
import { refuse } from "../refusals.ts";
import {
  actionsNodeFields,
  BreakdownFilter,
  Customizations,
  eventsNodeFields,
  GoalLines,
  IntervalName,
  insightFields,
  nullish,
  SeriesNode,
} from "./shapes.ts";

const exclusionFields = { funnelFromStep: z.int().min(0), funnelToStep: z.int().min(0) };

const Exclusion = z.discriminatedUnion("kind", [
  z.strictObject({ ...eventsNodeFields, ...exclusionFields }),
  z.strictObject({ ...actionsNodeFields, ...exclusionFields }),
]);

const FunnelsFilter = z.strictObject({
  exclusions: z.array(Exclusion).nullish(),
  ...nullish(z.int(), "binCount", "funnelFromStep", "funnelToStep"),
  ...nullish(z.string(), "breakdownAttributionType", "funnelAggregateByHogQL"),
  breakdownAttributionValue: z.int().min(0).nullish(),
  funnelOrderType: z.enum(["ordered", "unordered", "strict"]).nullish(),
  funnelVizType: z.enum(["steps", "time_to_convert", "trends"]).nullish(),
  funnelWindowInterval: z.int().min(1).nullish(),
  funnelWindowIntervalUnit: z.enum(["second", "minute", "hour", "day", "week", "month"]).nullish(),
  // What follows changes the chart only.
  ...nullish(z.string(), "breakdownSorting", "funnelStepReference", "layout"),
  ...nullish(z.boolean(), "showTrendLines", "showValuesOnSeries", "useUdf"),
  goalLines: GoalLines,
  hiddenLegendBreakdowns: z.array(z.string()).nullish(),
  resultCustomizations: Customizations,
});
type FunnelsFilter = z.infer<typeof FunnelsFilter>;

export const FunnelsQuery = z.strictObject({
  kind: z.literal("FunnelsQuery"),
  ...insightFields,
  interval: IntervalName.nullish(),
  series: z.array(SeriesNode),
  funnelsFilter: FunnelsFilter.nullish(),
  breakdownFilter: BreakdownFilter.nullish(),
});
export type FunnelsQuery = z.infer<typeof FunnelsQuery>;

const day = 86_400_000;
/** Upstream: `DATERANGE_MAP`. */
const unitLengths = { second: 1000, minute: 60_000, hour: 3_600_000, day, week: 7 * day, month: 31 * day };

/** The conversion window, ms. */
export const windowOf = ({ funnelWindowInterval, funnelWindowIntervalUnit }: FunnelsFilter): number =>
  (funnelWindowInterval ?? 14) * unitLengths[funnelWindowIntervalUnit ?? "day"];

/** What a node selects; equal nodes select the same events. */
function entityKey(node: z.infer<typeof SeriesNode> | z.infer<typeof Exclusion>): string {
  const name = node.kind === "EventsNode" ? (node.event ?? null) : node.id;
  return JSON.stringify([node.kind, name, node.properties ?? []]);
}

function isCovered(exclusion: z.infer<typeof Exclusion>, step: z.infer<typeof SeriesNode>): boolean {
  if (entityKey(exclusion) === entityKey(step)) return true;
  const hasFilters = Array.isArray(exclusion.properties) && exclusion.properties.length > 0;
  const { properties: _, ...bare } = step;
  return !hasFilters && entityKey({ ...exclusion, properties: [] }) === entityKey({ ...bare, properties: [] });
}

/** @throws SimError as the service does. Upstream: funnel_validation_rules.py. */
export function checkFunnel({ series, funnelsFilter }: FunnelsQuery): void {
  const last = series.length - 1;
  if (series.length < 2) throw refuse("Funnels require at least two steps.");
  const { funnelFromStep: from, funnelToStep: to, exclusions, funnelOrderType: order } = funnelsFilter ?? {};
  if (typeof from === "number" && (from < 0 || from > last - 1)) {
    throw refuse(`funnelFromStep is out of bounds. It must be between 0 and ${last - 1}.`);
  }
  if (typeof to === "number") {
    if (to < 1 || to > last) throw refuse(`funnelToStep is out of bounds. It must be between 1 and ${last}.`);
    if (typeof from === "number" && from >= to) {
      throw refuse("Funnel step range is invalid. funnelToStep should be greater than funnelFromStep.");
    }
  }
  for (const exclusion of exclusions ?? []) {
    const { funnelFromStep: start, funnelToStep: end } = exclusion;
    if (order === "unordered" && (start !== 0 || end !== last)) {
      throw refuse("Partial Exclusions not allowed in unordered funnels");
    }
    if (start >= end) throw refuse("Exclusion event range is invalid. End of range should be greater than start.");
    if (start >= last) {
      throw refuse("Exclusion event range is invalid. Start of range is greater than number of steps.");
    }
    if (end > last) throw refuse("Exclusion event range is invalid. End of range is greater than number of steps.");
    if (series.slice(start, end + 1).some((step) => isCovered(exclusion, step))) {
      throw refuse("Exclusion steps cannot contain an event that's part of funnel steps.");
    }
  }
  checkAttribution(funnelsFilter ?? {}, last);
  checkOptional(series, funnelsFilter ?? {});
}

function checkAttribution(
  { breakdownAttributionType: type, breakdownAttributionValue: step, funnelOrderType: order }: FunnelsFilter,
  last: number,
): void {
  if (type !== "step") return;
  if (order === "unordered" && (step ?? 0) !== 0) {
    throw refuse("Only the first step can be used for breakdown attribution in unordered funnels");
  }
  if ((step ?? 0) > last) throw refuse(`breakdownAttributionValue is out of bounds. It must be between 0 and ${last}.`);
}

function checkOptional(
  series: FunnelsQuery["series"],
  { funnelVizType: type, funnelOrderType: order }: FunnelsFilter,
): void {
  const [first] = series;
  if (!series.some((it) => it.optionalInFunnel)) return;
  if ((type ?? "steps") !== "steps" || order === "unordered") {
    throw refuse(
      'Optional funnel steps are only supported in funnels with step order Sequential or Strict and the graph type "Conversion Steps".',
    );
  }
  if (first?.optionalInFunnel) throw refuse("The first step of a funnel cannot be optional.");
  for (const [i, step] of series.entries()) {
    const next = series[i + 1];
    if (step.optionalInFunnel && next && !next.optionalInFunnel && entityKey(step) === entityKey(next)) {
      throw refuse("An optional step cannot be the same as the following required step.");
    }
  }
}
