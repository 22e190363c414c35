import {
  isObject,
  type Json,
  type JsonObject,
  objectIn,
  objectsIn,
  own,
  textIn,
} from "../../../src/kernel/base/json.ts";
import { plain } from "../text.ts";
import { sourceOf } from "./picture.ts";

/** Words of the service's `math`; of a property if it has one. */
const maths: Readonly<Record<string, string>> = {
  total: "total",
  dau: "unique persons",
  weekly_active: "weekly active persons",
  monthly_active: "monthly active persons",
  unique_session: "unique sessions",
  first_time_for_user: "first time for a person",
  first_matching_event_for_user: "first match for a person",
  avg: "average",
  sum: "sum",
  min: "minimum",
  max: "maximum",
  unique_group: "unique groups",
};

function mathText(node: JsonObject): string {
  const math = textIn(node, "math");
  if (math === "hogql") return textIn(node, "math_hogql");
  const word = maths[math] ?? math.replaceAll("_", " ");
  const property = textIn(node, "math_property");
  return property === "" ? word : `${word} of ${property}`;
}

const eventText = (node: JsonObject): string =>
  textIn(node, "custom_name") || textIn(node, "name") || textIn(node, "event") || "any event";

const seriesText = (node: JsonObject): string => [eventText(node), mathText(node)].filter(Boolean).join(" ");

const operators: Readonly<Record<string, string>> = {
  exact: "=",
  is_not: "≠",
  icontains: "contains",
  not_icontains: "does not contain",
  regex: "matches",
  not_regex: "does not match",
  gt: ">",
  gte: "≥",
  lt: "<",
  lte: "≤",
  is_set: "is set",
  is_not_set: "is not set",
};

function propertyText(filter: JsonObject): string[] {
  const { values } = filter;
  if (Array.isArray(values)) {
    const inner = values.filter(isObject).flatMap(propertyText);
    return inner.length > 1 ? [inner.join(filter.type === "OR" ? " or " : ", ")] : inner;
  }
  const operator = textIn(filter, "operator") || "exact";
  const value = [own(filter, "value") ?? ""].flat().map(String).join(" or ");
  const end = operator.startsWith("is_set") || operator === "is_not_set" ? "" : ` ${value}`;
  return [
    filter.type === "hogql"
      ? textIn(filter, "key")
      : `${textIn(filter, "key")} ${operators[operator] ?? operator}${end}`,
  ];
}

function filterText(source: JsonObject): string {
  const properties = own(source, "properties");
  const filters = isObject(properties) ? [properties] : objectsIn(properties);
  const texts = [...filters, ...objectsIn(source.series).flatMap((it) => objectsIn(it.properties))].flatMap(
    propertyText,
  );
  return texts.length === 0 ? "" : `where ${texts.join(", ")}`;
}

function breakdownText(source: JsonObject): string {
  const filter = objectIn(source, "breakdownFilter");
  const several = objectsIn(filter.breakdowns).map((it) => String(it.property ?? ""));
  const one = own(filter, "breakdown");
  const names = several.length > 0 ? several : [one ?? []].flat().map(String);
  return names.length === 0 ? "" : `by ${names.join(", ")}`;
}

const units: Readonly<Record<string, string>> = { h: "hour", d: "day", w: "week", m: "month", q: "quarter", y: "year" };
const starts: Readonly<Record<string, string>> = {
  dStart: "today",
  "-0d": "today",
  "-1dStart": "since yesterday",
  mStart: "this month",
  yStart: "this year",
  all: "all time",
};

/** A range of the service: `-14d`, `mStart`, `2026-11-09`. The default is a week. */
export function rangeText(from: string | null | undefined, to?: string | null): string {
  const start = from || "-7d";
  const known = starts[start];
  const [, count = "", unit = ""] = /^-(\d+)([hdwmqy])$/.exec(start) ?? [];
  const text = known ?? (unit === "" ? `from ${start}` : `last ${count} ${units[unit]}${count === "1" ? "" : "s"}`);
  return to ? `${text} to ${to}` : text;
}

function dateText(source: JsonObject): string {
  const range = objectIn(source, "dateRange");
  return rangeText(textIn(range, "date_from"), textIn(range, "date_to"));
}

const entity = (value: Json | undefined): string => {
  const object = isObject(value) ? value : {};
  // the service's default; null as an id is any event
  if (Object.keys(object).length === 0) return "$pageview";
  return textIn(object, "custom_name") || textIn(object, "name") || textIn(object, "id") || "any event";
};

function retentionText(source: JsonObject): string {
  const filter = objectIn(source, "retentionFilter");
  const [first, back] = [entity(filter.targetEntity), entity(filter.returningEntity)];
  const kind = textIn(filter, "retentionType") === "retention_first_time" ? "for the first time" : "";
  return [first, kind, first === back ? "and again" : `then ${back}`].filter(Boolean).join(" ");
}

function windowText(source: JsonObject): string {
  const filter = objectIn(source, "funnelsFilter");
  const count = Number(filter.funnelWindowInterval ?? 14);
  return `within ${count} ${textIn(filter, "funnelWindowIntervalUnit") || "day"}${count === 1 ? "" : "s"}`;
}

const joined = (separator: string) => (source: JsonObject) => objectsIn(source.series).map(seriesText).join(separator);

/** Displays of one value for the whole range. */
const totals: readonly unknown[] = ["BoldNumber", "ActionsBarValue", "ActionsPie", "ActionsTable", "WorldMap"];

const intervalText = (source: JsonObject): string =>
  totals.includes(objectIn(source, "trendsFilter").display) ? "" : `per ${textIn(source, "interval") || "day"}`;

/** What each kind of query counts, and which of its fields are worth words. */
const kinds: Readonly<Record<string, readonly ((source: JsonObject) => string)[]>> = {
  TrendsQuery: [joined(", "), breakdownText, filterText, intervalText, dateText],
  StickinessQuery: [joined(", "), filterText, dateText],
  LifecycleQuery: [joined(", "), filterText, intervalText, dateText],
  FunnelsQuery: [joined(" → "), windowText, breakdownText, filterText, dateText],
  RetentionQuery: [retentionText, filterText],
  HogQLQuery: [(it) => textIn(it, "query").replace(/\s+/g, " ")],
};

/** A query in words: what is counted, by what, over which time. Captured names in it are safe to display. */
export function wordsOf(query: Json): string {
  const source = sourceOf(query);
  const kind = textIn(source, "kind");
  const parts = (kinds[kind] ?? [filterText]).map((it) => it(source));
  return [kind || "no query", ...parts]
    .filter(Boolean)
    .map((it) => plain(it, 300))
    .join(" · ");
}

const displays: Readonly<Record<string, string>> = {
  ActionsLineGraph: "line",
  ActionsLineGraphCumulative: "line, summed up",
  ActionsAreaGraph: "area",
  ActionsBar: "bar",
  ActionsStackedBar: "bar",
  ActionsUnstackedBar: "bar",
  ActionsBarValue: "bar",
  ActionsPie: "shares",
  ActionsTable: "table",
  WorldMap: "by country",
  BoldNumber: "number",
};

const funnelLooks: Readonly<Record<string, string>> = { trends: "conversion", time_to_convert: "time to convert" };

/** How a query is shown, in a few words beside the title. */
export function lookOf(query: Json): string {
  const source = sourceOf(query);
  const kind = textIn(source, "kind");
  if (kind === "FunnelsQuery") {
    return funnelLooks[textIn(objectIn(source, "funnelsFilter"), "funnelVizType")] ?? "funnel";
  }
  if (kind === "RetentionQuery") {
    return `retention, by ${(textIn(objectIn(source, "retentionFilter"), "period") || "Day").toLowerCase()}`;
  }
  if (kind === "LifecycleQuery") return "lifecycle";
  const filter = { ...objectIn(source, "trendsFilter"), ...objectIn(source, "stickinessFilter") };
  const display = textIn(isObject(query) ? query : {}, "display") || textIn(filter, "display");
  if (kind === "StickinessQuery") return "stickiness";
  return displays[display] ?? (kind === "TrendsQuery" ? "line" : "table");
}
