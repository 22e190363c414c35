import { isObject, type Json } from "../../kernel/base/json.ts";

export interface ResultTable {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly Json[])[];
}

interface Answer {
  readonly query: { readonly kind?: Json };
  readonly results: Json;
  readonly columns?: readonly string[] | null;
}

const objectsOf = (value: Json): { [key: string]: Json }[] =>
  (Array.isArray(value) ? value : []).flat().filter(isObject);
const listOf = (value: Json | undefined): Json[] => (Array.isArray(value) ? value : []);
const nullOr = (value: Json | undefined): Json => value ?? null;

/** A row for each step, with the value of its breakdown if there is one. */
function funnelTable(results: Json): ResultTable {
  const steps = objectsOf(results);
  const hasBreakdown = steps.some((it) => nullOr(it.breakdown_value) !== null);
  return {
    columns: ["step", "name", "count", "average_seconds", ...(hasBreakdown ? ["breakdown"] : [])],
    rows: steps.map((it) => [
      typeof it.order === "number" ? it.order + 1 : null,
      it.custom_name ?? it.name ?? null,
      nullOr(it.count),
      nullOr(it.average_conversion_time),
      ...(hasBreakdown ? [nullOr(it.breakdown_value)] : []),
    ]),
  };
}

/** A row for each interval and a column for each series; for single numbers a row for each series. */
function trendTable(results: Json): ResultTable {
  const series = objectsOf(results);
  const labels = series.map((it) => String(it.status ?? it.label ?? ""));
  if (series.every(({ data }) => listOf(data).length === 0))
    return {
      columns: ["series", "value"],
      rows: series.map((it, i) => [labels[i] ?? "", it.aggregated_value ?? nullOr(it.count)]),
    };
  const days = listOf(series[0]?.days);
  return {
    columns: ["date", ...labels],
    rows: days.map((day, at) => [day, ...series.map(({ data }) => nullOr(listOf(data)[at]))]),
  };
}

/** A row for each cohort: its size, then how many came back in each interval. */
function retentionTable(results: Json): ResultTable {
  const cohorts = objectsOf(results);
  const values = cohorts.map((it) => objectsOf(it.values ?? []).map(({ count }) => nullOr(count)));
  const longest = Math.max(0, ...values.map((it) => it.length));
  return {
    columns: ["date", ...Array.from({ length: longest }, (_, i) => String(i))],
    rows: cohorts.map((it, i) => [nullOr(it.date), ...(values[i] ?? [])]),
  };
}

/** A row for each day and a column for each variant. */
function exposureTable(results: Json): ResultTable {
  const series = objectsOf(results);
  return {
    columns: ["date", ...series.map(({ variant }) => String(variant))],
    rows: listOf(series[0]?.days).map((date, at) => [
      date,
      ...series.map((it) => nullOr(listOf(it.exposure_counts)[at])),
    ]),
  };
}

function schemaTable(results: Json): ResultTable {
  const entries = objectsOf(isObject(results) ? Object.values(results) : []);
  return {
    columns: ["table", "field", "type"],
    rows: entries.flatMap(({ name, fields }) =>
      objectsOf(isObject(fields) ? Object.values(fields) : []).map((it) => [
        nullOr(name),
        nullOr(it.hogql_value),
        nullOr(it.type),
      ]),
    ),
  };
}

const errorTable = (results: Json): ResultTable => ({
  columns: ["error", "start", "end"],
  rows: objectsOf(results).map((it) => [nullOr(it.message), nullOr(it.start), nullOr(it.end)]),
});

const tables: Readonly<Record<string, (results: Json) => ResultTable>> = {
  FunnelsQuery: funnelTable,
  TrendsQuery: trendTable,
  StickinessQuery: trendTable,
  LifecycleQuery: trendTable,
  RetentionQuery: retentionTable,
  ExperimentExposureQuery: exposureTable,
  DatabaseSchemaQuery: schemaTable,
  HogQLMetadata: errorTable,
};

/** The results of any query as rows: those of HogQL as they are, those of insights in their usual form. */
export function resultTable({ query, results, columns }: Answer): ResultTable {
  const kind = String(query.kind);
  const table = Object.hasOwn(tables, kind) ? tables[kind]?.(results) : undefined;
  if (table) return table;
  if (columns) return { columns, rows: listOf(results).map(listOf) };
  return { columns: ["result"], rows: listOf(results).map((it) => [it]) };
}

const cellText = (value: Json | undefined): string =>
  typeof value === "string" ? value : value === null || value === undefined ? "" : JSON.stringify(value);

/** Quoted where RFC 4180 requires it. */
const csvCell = (value: Json | undefined): string => {
  const text = cellText(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

export const csvLines = ({ columns, rows }: ResultTable): string[] =>
  [columns, ...rows].map((row) => row.map(csvCell).join(","));

/** Cells in columns of equal width; numbers are aligned on the right. `clean` makes a cell safe. */
export function textLines({ columns, rows }: ResultTable, clean: (text: string) => string): string[] {
  const cells = [columns, ...rows].map((row) => columns.map((_, i) => clean(cellText(row[i]))));
  const isNumber = columns.map((_, i) => rows.length > 0 && rows.every((row) => typeof row[i] === "number"));
  const widths = columns.map((_, i) => Math.max(...cells.map((row) => row[i]?.length ?? 0)));
  return cells.map((row) =>
    row
      .map((cell, i) => (isNumber[i] ? cell.padStart(widths[i] ?? 0) : cell.padEnd(widths[i] ?? 0)))
      .join("  ")
      .trimEnd(),
  );
}
