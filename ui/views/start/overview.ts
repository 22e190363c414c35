import type { EventRow } from "../../../src/model/row.ts";

/** Rows by their place, the newest at 0. */
export interface Rows {
  count(): number;
  at(index: number): EventRow | undefined;
}

/** How often something came, and when last. */
export interface Tally {
  readonly name: string;
  readonly count: number;
  /** How many of them were dropped. */
  readonly dropped: number;
  readonly last: number;
}

/** What came, in short. */
export interface Overview {
  /** How many rows were looked at: the newest ones. */
  readonly looked: number;
  /** Most often first. */
  readonly names: readonly Tally[];
  /** Reasons for drops and codes of warnings, most often first. */
  readonly reasons: readonly Tally[];
  readonly latest: readonly EventRow[];
}

/** The newest rows that are looked at: this is done once a second. */
const most = 5_000;
const latestShown = 8;

function note(tallies: Map<string, Tally>, name: string, row: EventRow): void {
  const before = tallies.get(name);
  const dropped = row.outcome === "dropped" ? 1 : 0;
  tallies.set(name, {
    name,
    count: (before?.count ?? 0) + 1,
    dropped: (before?.dropped ?? 0) + dropped,
    last: before?.last ?? row.at,
  });
}

const byCount = (tallies: Map<string, Tally>): Tally[] =>
  [...tallies.values()].sort((a, b) => b.count - a.count || b.last - a.last);

/** Adds up what came. */
export function overviewOf(rows: Rows): Overview {
  const names = new Map<string, Tally>();
  const reasons = new Map<string, Tally>();
  const latest: EventRow[] = [];
  const looked = Math.min(rows.count(), most);
  for (let i = 0; i < looked; i++) {
    const row = rows.at(i);
    if (row === undefined) continue;
    if (latest.length < latestShown) latest.push(row);
    note(names, row.event, row);
    for (const code of row.reason === null ? row.warnings : [row.reason]) note(reasons, code, row);
  }
  return { looked, names: byCount(names), reasons: byCount(reasons), latest };
}
