import type { RowTable } from "./rows.ts";

/** Numbers (seqs of events, or numbers of requests) of a project that are hidden: those from `from` to `to`. */
export interface HiddenRange {
  project: number;
  from: number;
  to: number;
}

/** A table whose rows are numbered from `first`, with a bit that hides a row and its project above the flags. */
export interface HidingTable {
  rows: RowTable;
  meta: number;
  hiddenBit: number;
  flagBits: number;
  first: number;
}

export function hiddenRuns({ rows, meta, hiddenBit, flagBits, first }: HidingTable): HiddenRange[] {
  const runs: HiddenRange[] = [];
  const open = new Map<number, HiddenRange>();
  for (let row = 0; row < rows.length; row++) {
    const flags = rows.get(row, meta);
    const project = flags >>> flagBits;
    const run = open.get(project);
    if (!(flags & hiddenBit)) {
      if (run) open.delete(project);
    } else if (run) {
      run.to = first + row;
    } else {
      const made = { project, from: first + row, to: first + row };
      open.set(project, made);
      runs.push(made);
    }
  }
  return runs;
}

export function everyRun({ rows, meta, flagBits, first }: HidingTable): HiddenRange[] {
  const projects = new Set<number>();
  for (let row = 0; row < rows.length; row++) projects.add(rows.get(row, meta) >>> flagBits);
  return [...projects].map((project) => ({ project, from: first, to: first + rows.length - 1 }));
}

export function hideOnly(table: HidingTable, runs: readonly HiddenRange[], last: number): void {
  const { rows, meta, hiddenBit, flagBits, first } = table;
  const byProject = new Map<number, HiddenRange[]>();
  for (const run of runs) byProject.set(run.project, [...(byProject.get(run.project) ?? []), run]);
  const at = new Map<number, number>();
  for (let row = 0; row < rows.length; row++) {
    const flags = rows.get(row, meta);
    const number = first + row;
    const isHidden = number > last || isIn(byProject.get(flags >>> flagBits), at, flags >>> flagBits, number);
    const wanted = isHidden ? flags | hiddenBit : flags & ~hiddenBit;
    if (wanted !== flags) rows.set(row, meta, wanted >>> 0);
  }
}

/** Called with rising numbers: `at` counts the runs of each project that are passed. */
function isIn(
  runs: readonly HiddenRange[] | undefined,
  at: Map<number, number>,
  project: number,
  number: number,
): boolean {
  if (!runs) return false;
  let index = at.get(project) ?? 0;
  while (index < runs.length && (runs[index]?.to ?? 0) < number) index++;
  at.set(project, index);
  return (runs[index]?.from ?? Number.POSITIVE_INFINITY) <= number;
}
