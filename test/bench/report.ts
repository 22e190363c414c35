import type { Report, Table, Verdict } from "./suite.ts";

/** Rows of cells as aligned lines: the first column to the left, figures to the right. */
function layOut(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const pad = (cell: string, column: number): string =>
    column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0);
  return rows.map((row) => `  ${row.map(pad).join("  ")}`.trimEnd());
}

const showTable = (table: Table): string[] => [table.title, ...layOut([table.columns, ...table.rows]), ""];

const verdictCells = ({ what, bar, measured, met }: Verdict): string[] => [
  what,
  bar,
  measured,
  met ? "met   " : "MISSED",
];

/** The bars with their figures, one per line. */
export const showVerdicts = (verdicts: readonly Verdict[]): string[] =>
  verdicts.length === 0 ? [] : layOut([["", "bar", "measured", "      "], ...verdicts.map(verdictCells)]);

/** A suite's whole report as text. */
export const showReport = (report: Report): string =>
  [
    ...report.tables.flatMap(showTable),
    ...showVerdicts(report.verdicts),
    ...report.notes.map((note) => `  ${note}`),
    "",
  ].join("\n");
