import { isObject, type Json, type JsonObject, objectIn, objectsIn } from "../../../src/kernel/base/json.ts";
import { spanText } from "../text.ts";
import {
  dayText,
  type Format,
  formatOf,
  hasBegun,
  isUnfinished,
  type NumberLook,
  percentText,
  type Setting,
  wholeDay,
} from "./periods.ts";

/** A query's response: `results` of `/query`, `result` of an insight. */
export interface Answer {
  readonly results: Json;
  /** Of tables. */
  readonly columns?: Json;
}

export interface Series {
  readonly name: string;
  /** null: no value, e.g. the average of nothing. */
  readonly values: readonly (number | null)[];
  /** Sum over the periods, where one makes sense. */
  readonly total: number | undefined;
  /** True for the period before, which is compared. */
  readonly isBefore: boolean;
}

export interface Plot {
  readonly kind: "plot";
  readonly marks: "line" | "area" | "bar";
  readonly isStacked: boolean;
  readonly labels: readonly { readonly short: string; readonly whole: string }[];
  readonly series: readonly Series[];
  /** Index of the first label whose period is not over; the number of labels if there is none. */
  readonly unfinishedFrom: number;
  readonly format: Format;
}

export interface Ranking {
  readonly kind: "ranking";
  readonly rows: readonly { readonly name: string; readonly value: number | null; readonly isBefore: boolean }[];
  readonly format: Format;
}

export interface Figure {
  readonly kind: "figure";
  readonly name: string;
  readonly value: number | null;
  /** Of the period before; undefined if it is not compared. */
  readonly before: number | null | undefined;
  readonly format: Format;
}

interface FunnelStep {
  readonly name: string;
  readonly count: number;
  /** Seconds since the step before; null for the first one, and if no person got there. */
  readonly median: number | null;
}

export interface Funnel {
  readonly kind: "funnel";
  /** One for each value of the breakdown. */
  readonly groups: readonly { readonly name: string; readonly steps: readonly FunnelStep[] }[];
}

interface RetentionCell {
  readonly count: number;
  /** 0 to 1, of those that started. */
  readonly share: number;
  readonly isUnfinished: boolean;
}

export interface Retention {
  readonly kind: "retention";
  readonly columns: readonly string[];
  readonly rows: readonly { readonly name: string; readonly size: number; readonly cells: readonly RetentionCell[] }[];
}

interface Rows {
  readonly kind: "rows";
  readonly columns: readonly string[];
  readonly rows: readonly (readonly Json[])[];
}

/** What is drawn for a result. */
export type Picture = Plot | Ranking | Figure | Funnel | Retention | Rows;

/** The query that computes the result, without the node that says how it is shown. */
export function sourceOf(query: Json): JsonObject {
  if (!isObject(query)) return {};
  return isObject(query.source) ? sourceOf(query.source) : query;
}

/** Fields of the results of trends, stickiness, lifecycle and funnels over time that are drawn. */
interface SeriesRow {
  action?: { custom_name?: string | null; name?: string | null; math?: string | null } | null;
  label?: string | null;
  count?: number | null;
  data?: (number | null)[];
  labels?: string[];
  days?: (string | number)[];
  aggregated_value?: number | null;
  compare_label?: string | null;
  breakdown_value?: Json;
  status?: string;
}

const specialValues: Readonly<Record<string, string>> = {
  $$_posthog_breakdown_other_$$: "Other",
  $$_posthog_breakdown_null_$$: "None",
};

const valueName = (value: Json): string => {
  if (Array.isArray(value)) return value.map(valueName).join(", ");
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return specialValues[text] ?? (text || "(empty)");
};

const nameOf = ({ action, label, breakdown_value: value }: SeriesRow, isAlone: boolean): string => {
  const name = action?.custom_name ?? label ?? action?.name ?? "";
  if (value === undefined || value === null) return name;
  const shown = valueName(value);
  return isAlone || name === shown ? shown : `${action?.custom_name ?? action?.name ?? name}, ${shown}`;
};

/** A sum over time makes sense for these only: a person counts in each of several days. */
const isSummable = (math: string | null | undefined): boolean =>
  math === undefined || math === null || ["total", "sum"].includes(math);

const isBefore = (row: SeriesRow): boolean => row.compare_label === "previous";

interface Read {
  readonly query: JsonObject;
  readonly source: JsonObject;
  readonly answer: Answer;
  readonly setting: Setting;
}

const seriesRows = ({ answer }: Read): SeriesRow[] => objectsIn(answer.results) as SeriesRow[];

const isOneSeries = ({ source }: Read): boolean => objectsIn(source.series).length < 2;

function plotOf(read: Read, marks: Plot["marks"], isStacked: boolean, format: Format): Plot {
  const rows = seriesRows(read);
  const isAlone = isOneSeries(read);
  const interval = String(read.source.interval ?? "day");
  const axis = rows.find((it) => !isBefore(it)) ?? rows[0];
  const days = axis?.days ?? [];
  const labels = (axis?.data ?? []).map((_, i) => {
    const day = days[i];
    if (typeof day !== "string") return { short: axis?.labels?.[i] ?? "", whole: axis?.labels?.[i] ?? "" };
    return { short: dayText(day, interval), whole: wholeDay(day) };
  });
  const open = days.findIndex((it) => typeof it === "string" && isUnfinished(it, interval, read.setting));
  return {
    kind: "plot",
    marks,
    isStacked,
    labels,
    series: rows.map((row) => {
      const name = nameOf(row, isAlone);
      return {
        name: isBefore(row) ? `${name}, the period before` : name,
        values: row.data ?? [],
        total: isSummable(row.action?.math) && typeof row.count === "number" ? row.count : undefined,
        isBefore: isBefore(row),
      };
    }),
    unfinishedFrom: open === -1 ? labels.length : open,
    format,
  };
}

function rankingOf(read: Read, format: Format): Ranking {
  const isAlone = isOneSeries(read);
  const rows = seriesRows(read).map((row) => ({
    name: nameOf(row, isAlone) + (isBefore(row) ? ", the period before" : ""),
    value: row.aggregated_value ?? null,
    isBefore: isBefore(row),
  }));
  return { kind: "ranking", rows, format };
}

function figureOf(read: Read, format: Format): Figure {
  const rows = seriesRows(read);
  const now = rows.find((it) => !isBefore(it));
  const before = rows.find(isBefore);
  return {
    kind: "figure",
    name: now ? nameOf(now, isOneSeries(read)) : "",
    value: now?.aggregated_value ?? null,
    before: before && (before.aggregated_value ?? null),
    format,
  };
}

type Draw = (read: Read, format: Format) => Picture;

const bars: Draw = (read, format) => plotOf(read, "bar", true, format);
const lines: Draw = (read, format) => plotOf(read, "line", false, format);

/** The service's `ChartDisplayType`; a display that is not listed here is drawn as lines, or as a table. */
const displays: Readonly<Record<string, Draw>> = {
  ActionsLineGraph: lines,
  ActionsLineGraphCumulative: lines,
  ActionsAreaGraph: (read, format) => plotOf(read, "area", true, format),
  ActionsBar: bars,
  ActionsStackedBar: bars,
  ActionsUnstackedBar: (read, format) => plotOf(read, "bar", false, format),
  ActionsBarValue: rankingOf,
  ActionsPie: rankingOf,
  ActionsTable: rankingOf,
  WorldMap: rankingOf,
  BoldNumber: figureOf,
};

const displayIn = (filter: JsonObject): string => (typeof filter.display === "string" ? filter.display : "");

function trends(read: Read): Picture {
  const filter = objectIn(read.source, "trendsFilter");
  const format = formatOf(filter as NumberLook);
  const hasValues = seriesRows(read).some((it) => it.data !== undefined && it.data.length > 0);
  return (displays[displayIn(filter)] ?? (hasValues ? lines : rankingOf))(read, format);
}

function stickiness(read: Read): Picture {
  const filter = objectIn(read.source, "stickinessFilter");
  return (displays[displayIn(filter)] ?? lines)(read, formatOf(filter as NumberLook));
}

/** Who is new, returns, comes back or stays away; those who stay away count below zero. */
function lifecycle(read: Read): Picture {
  const rows = seriesRows(read).map((it) => ({ ...it, label: it.status ?? it.label ?? "", action: null }));
  return plotOf({ ...read, answer: { results: rows as Json } }, "bar", true, formatOf());
}

interface StepRow {
  custom_name?: string | null;
  name?: string | null;
  count: number;
  median_conversion_time?: number | null;
  breakdown_value?: Json;
}

const stepOf = (row: StepRow): FunnelStep => ({
  name: row.custom_name ?? row.name ?? "",
  count: row.count,
  median: row.median_conversion_time ?? null,
});

function funnelSteps({ answer: { results } }: Read): Funnel {
  const lists = Array.isArray(results) ? (results as unknown as (StepRow | StepRow[])[]) : [];
  const groups = lists.some(Array.isArray) ? (lists as StepRow[][]) : [lists as StepRow[]];
  return {
    kind: "funnel",
    groups: groups
      .filter((it) => it.length > 0)
      .map((steps) => {
        const value = steps[0]?.breakdown_value;
        return { name: value === undefined || value === null ? "" : valueName(value), steps: steps.map(stepOf) };
      }),
  };
}

/** How many needed how long for the whole funnel. */
function conversionTimes({ answer: { results } }: Read): Plot {
  const bins = isObject(results) && Array.isArray(results.bins) ? (results.bins as [number, number][]) : [];
  const labels = bins.map(([seconds]) => spanText(seconds * 1_000));
  return {
    kind: "plot",
    marks: "bar",
    isStacked: false,
    labels: labels.map((it) => ({ short: it, whole: `from ${it}` })),
    series: [{ name: "persons", values: bins.map(([, count]) => count), total: undefined, isBefore: false }],
    unfinishedFrom: labels.length,
    format: formatOf(),
  };
}

function funnel(read: Read): Picture {
  const how = objectIn(read.source, "funnelsFilter").funnelVizType;
  if (how === "time_to_convert") return conversionTimes(read);
  if (how !== "trends") return funnelSteps(read);
  const rows = seriesRows(read).map((it) => ({ ...it, count: null, label: it.label ?? "conversion" }));
  return plotOf({ ...read, answer: { results: rows as Json } }, "line", false, percentText);
}

interface RetentionRow {
  date?: string | null;
  label?: string;
  values: { count: number; label?: string }[];
  breakdown_value?: Json;
}

function retention({ source, answer: { results }, setting }: Read): Retention {
  const rows = objectsIn(results) as unknown as RetentionRow[];
  const period = String(objectIn(source, "retentionFilter").period ?? "Day");
  const interval = period.toLowerCase();
  const longest = Math.max(0, ...rows.map((it) => it.values.length));
  return {
    kind: "retention",
    columns: Array.from({ length: longest }, (_, i) => `${period} ${i}`),
    rows: rows.map(({ date, label = "", values, breakdown_value: value }) => {
      const size = values[0]?.count ?? 0;
      const name = date ? dayText(date, interval) : label;
      return {
        name: value === undefined || value === null ? name : `${name}, ${valueName(value)}`,
        size,
        // the service also has zeros for periods to come
        cells: values
          .filter((_, i) => !date || hasBegun(date, interval, setting, i))
          .map(({ count }, i) => ({
            count,
            share: size === 0 ? 0 : count / size,
            // all of them are there in the first one
            isUnfinished: i > 0 && date ? isUnfinished(date, interval, setting, i) : false,
          })),
      };
    }),
  };
}

/** Rows with columns, as HogQL and event queries return them; other results become a table of their fields. */
function rows({ answer: { results, columns } }: Pick<Read, "answer">): Rows {
  const list = Array.isArray(results) ? results : [results];
  if (Array.isArray(columns)) {
    return { kind: "rows", columns: columns.map(String), rows: list.map((row) => (Array.isArray(row) ? row : [row])) };
  }
  const names = [...new Set(list.flatMap((it) => (isObject(it) ? Object.keys(it) : [])))];
  return {
    kind: "rows",
    columns: names,
    rows: list.filter(isObject).map((row) => names.map((name) => row[name] ?? null)),
  };
}

const numberIn = (value: Json | undefined): number | null => {
  const number = typeof value === "string" && value !== "" ? Number(value) : value;
  return typeof number === "number" && Number.isFinite(number) ? number : null;
};

const columnNamed = (axis: Json | undefined): string | undefined =>
  isObject(axis) && typeof axis.column === "string" ? axis.column : undefined;

/** A table whose columns are chosen as axes, or one number. */
function hogql(read: Read): Picture {
  const table = rows(read);
  const display = displayIn(read.query);
  const format = formatOf();
  if (display === "BoldNumber") {
    const value = numberIn(table.rows[0]?.[0]);
    return { kind: "figure", name: table.columns[0] ?? "", value, before: undefined, format };
  }
  const chart = objectIn(read.query, "chartSettings");
  const x = table.columns.indexOf(columnNamed(chart.xAxis) ?? "");
  const y = objectsIn(chart.yAxis).flatMap((it) => {
    const name = columnNamed(it);
    return name !== undefined && table.columns.includes(name) ? [name] : [];
  });
  const marks = ({ ActionsLineGraph: "line", ActionsAreaGraph: "area" } as const)[display] ?? "bar";
  if (!displays[display] || display === "ActionsTable" || x === -1 || y.length === 0) return table;
  const labels = table.rows.map((row) => String(row[x] ?? ""));
  return {
    kind: "plot",
    marks,
    isStacked: marks === "area" || display === "ActionsStackedBar",
    labels: labels.map((it) => ({ short: it, whole: it })),
    series: y.map((name) => ({
      name,
      values: table.rows.map((row) => numberIn(row[table.columns.indexOf(name)])),
      total: undefined,
      isBefore: false,
    })),
    unfinishedFrom: labels.length,
    format,
  };
}

const readers: Readonly<Record<string, (read: Read) => Picture>> = {
  TrendsQuery: trends,
  StickinessQuery: stickiness,
  LifecycleQuery: lifecycle,
  FunnelsQuery: funnel,
  RetentionQuery: retention,
  HogQLQuery: hogql,
};

/** What is drawn for a query's result. */
export function pictureOf(query: Json, answer: Answer, setting: Setting): Picture {
  const source = sourceOf(query);
  const read: Read = { query: isObject(query) ? query : {}, source, answer, setting };
  return (readers[String(source.kind)] ?? rows)(read);
}

/** True if there is nothing to draw. */
export function isEmpty(picture: Picture): boolean {
  if (picture.kind === "figure") return picture.value === null;
  if (picture.kind === "funnel") return picture.groups.length === 0;
  if (picture.kind === "plot") return picture.series.length === 0 || picture.labels.length === 0;
  return picture.rows.length === 0;
}

/** The numbers of a picture as a table; the first column names the row. */
export interface DataTable {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

const cellText = (value: Json): string =>
  typeof value === "string" ? value : value === null ? "" : JSON.stringify(value);

const orDash = (value: number | null | undefined, format: Format): string =>
  value === null || value === undefined ? "–" : format(value);

export const shareText = (part: number, whole: number): string =>
  whole === 0 ? "–" : percentText((part / whole) * 100);

export const secondsText = (seconds: number | null): string => (seconds === null ? "–" : spanText(seconds * 1_000));

/** The change against the period before: `+27.1 %`; undefined if there is none. */
export const changeText = (value: number | null, before: number | null | undefined): string | undefined =>
  value === null || !before
    ? undefined
    : `${value < before ? "−" : "+"}${percentText(Math.abs(value / before - 1) * 100)}`;

function plotTable({ labels, series, unfinishedFrom, format }: Plot): DataTable {
  return {
    columns: ["", ...series.map((it) => it.name)],
    rows: labels.map(({ whole }, i) => [
      i >= unfinishedFrom ? `${whole} (not over)` : whole,
      ...series.map((it) => orDash(it.values[i], format)),
    ]),
  };
}

function funnelTable({ groups }: Funnel): DataTable {
  const hasGroups = groups.some((it) => it.name !== "");
  return {
    columns: ["Step", "Count", "Of the step before", "Of the first", "Median time"],
    rows: groups.flatMap(({ name, steps }) =>
      steps.map((step, i) => [
        `${hasGroups ? `${name}: ` : ""}${i + 1}. ${step.name}`,
        formatOf()(step.count),
        i === 0 ? "" : shareText(step.count, steps[i - 1]?.count ?? 0),
        shareText(step.count, steps[0]?.count ?? 0),
        i === 0 ? "" : secondsText(step.median),
      ]),
    ),
  };
}

/** The same numbers as a table. */
export function tableOf(picture: Picture): DataTable {
  const { kind } = picture;
  if (kind === "plot") return plotTable(picture);
  if (kind === "funnel") return funnelTable(picture);
  if (kind === "rows") return { columns: picture.columns, rows: picture.rows.map((it) => it.map(cellText)) };
  if (kind === "ranking") {
    const { rows: of, format } = picture;
    return { columns: ["", "Value"], rows: of.map((it) => [it.name, orDash(it.value, format)]) };
  }
  if (kind === "figure") {
    const { name, value, before, format } = picture;
    const compared = before === undefined ? [] : [["The period before", orDash(before, format)]];
    return { columns: ["", "Value"], rows: [[name || "Value", orDash(value, format)], ...compared] };
  }
  return {
    columns: ["", "Persons", ...picture.columns],
    rows: picture.rows.map(({ name, size, cells }) => [
      name,
      String(size),
      ...picture.columns.map((_, i) => {
        const cell = cells[i];
        return cell ? `${cell.count}${cell.isUnfinished ? " (not over)" : ""}` : "";
      }),
    ]),
  };
}
