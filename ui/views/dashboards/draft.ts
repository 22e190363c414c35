import type { Json, JsonObject } from "../../../src/kernel/base/json.ts";
import { prettyJson } from "../../copy/quote.ts";
import type { Conditions } from "./conditions.ts";

/** What the form makes. */
export const draftKinds = [
  ["trend", "Trend: a line over time"],
  ["number", "Number: one total"],
  ["funnel", "Funnel: one step after the other"],
] as const;
type DraftKind = (typeof draftKinds)[number][0];

/** How a series is counted; `isOfProperty`: it needs a numeric property. */
export const draftMaths = [
  { id: "total", text: "Events", isOfProperty: false },
  { id: "dau", text: "Unique persons", isOfProperty: false },
  { id: "unique_session", text: "Unique sessions", isOfProperty: false },
  { id: "sum", text: "Sum of a property", isOfProperty: true },
  { id: "avg", text: "Average of a property", isOfProperty: true },
  { id: "median", text: "Median of a property", isOfProperty: true },
  { id: "min", text: "Minimum of a property", isOfProperty: true },
  { id: "max", text: "Maximum of a property", isOfProperty: true },
] as const;

export const draftIntervals = ["minute", "hour", "day", "week", "month"] as const;

export const draftRanges = [
  ["-1h", "Last hour"],
  ["-24h", "Last 24 hours"],
  ["-7d", "Last 7 days"],
  ["-14d", "Last 14 days"],
  ["-30d", "Last 30 days"],
  ["-90d", "Last 90 days"],
  ["all", "All time"],
] as const;

/** The fields of the form, as they are typed. */
export interface InsightDraft {
  readonly kind: DraftKind;
  /** Names with commas between; empty: any event. */
  readonly events: string;
  readonly math: string;
  readonly mathProperty: string;
  readonly breakdown: string;
  readonly interval: string;
  readonly range: string;
}

export const draftOf = ({ events }: Conditions): InsightDraft => ({
  kind: "trend",
  events: events.join(", "),
  math: "total",
  mathProperty: "",
  breakdown: "",
  interval: "day",
  range: "-7d",
});

const mathRow = (id: string) => draftMaths.find((it) => it.id === id);

const namesIn = (text: string): string[] =>
  text
    .split(",")
    .map((it) => it.trim())
    .filter(Boolean);

/** What is missing before there is a query. */
export function missingIn({ kind, events, math, mathProperty }: InsightDraft): string | undefined {
  if (kind === "funnel" && namesIn(events).length < 2) return "A funnel needs the names of two events at least.";
  if (kind !== "funnel" && mathRow(math)?.isOfProperty && mathProperty.trim() === "") {
    return "Name the property that is counted.";
  }
  return undefined;
}

function seriesOf({ kind, events, math, mathProperty }: InsightDraft): JsonObject[] {
  const names = namesIn(events);
  const counted: JsonObject =
    kind === "funnel" ? {} : { math, ...(mathRow(math)?.isOfProperty && { math_property: mathProperty.trim() }) };
  const node = (event: string | null): JsonObject => ({
    kind: "EventsNode",
    event,
    name: event ?? "All events",
    ...counted,
  });
  return names.length === 0 ? [node(null)] : names.map(node);
}

/** The query of the form, as the service stores it in an insight. */
export function draftQuery(draft: InsightDraft, { properties }: Conditions): JsonObject {
  const { kind, breakdown, interval, range } = draft;
  const by = kind === "number" ? "" : breakdown.trim();
  const source: JsonObject = {
    kind: kind === "funnel" ? "FunnelsQuery" : "TrendsQuery",
    series: seriesOf(draft),
    ...(kind === "trend" && { interval }),
    dateRange: { date_from: range },
    ...(properties.length > 0 && { properties: [...properties] }),
    ...(by !== "" && { breakdownFilter: { breakdown: by, breakdown_type: "event" } }),
    ...(kind === "trend" && { trendsFilter: { display: "ActionsLineGraph" } }),
    ...(kind === "number" && { trendsFilter: { display: "BoldNumber" }, compareFilter: { compare: range !== "all" } }),
  };
  return { kind: "InsightVizNode", source };
}

/** A name for the insight, until one is typed. */
export function draftName({ kind, events, breakdown, math, mathProperty }: InsightDraft): string {
  const names = namesIn(events);
  const what = names.join(kind === "funnel" ? " to " : ", ") || "All events";
  const row = mathRow(math);
  const how =
    kind === "funnel" || math === "total"
      ? ""
      : row?.isOfProperty
        ? `, ${math} of ${mathProperty.trim()}`
        : `, ${row?.text.toLowerCase()}`;
  const by = kind === "number" || breakdown.trim() === "" ? "" : ` by ${breakdown.trim()}`;
  return `${what}${how}${by}`.slice(0, 400);
}

/** The insight as a part of a scenario file, on a dashboard if one is named. */
export const draftScenario = (name: string, query: Json, dashboard: string | undefined): string =>
  prettyJson({
    insights: [{ name, query }],
    ...(dashboard !== undefined && { dashboards: [{ name: dashboard, tiles: [{ insight: name }] }] }),
  });
