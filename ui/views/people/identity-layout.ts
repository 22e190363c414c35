import { groupedBy } from "../../../src/kernel/base/grouped-by.ts";
import type { DatedJoin } from "../../../src/lab/person-history/shapes.ts";

/** Sizes in drawing units: 16 are 1 rem. */
export const lineHeight = 20;
const rowSpace = 12;
const laneWidth = 14;
const dotRadius = 4.5;
const corner = 7;

/** A join of two ids, possibly repeated. */
export interface Note {
  readonly join: DatedJoin;
  readonly times: number;
}

export interface IdRow {
  readonly id: string;
  /** Belongs to another person: a merge was refused. */
  readonly isForeign: boolean;
  readonly notes: readonly Note[];
  /** Number of joins that are not listed. */
  readonly further: number;
  readonly top: number;
  readonly height: number;
}

/** A line from the merged id to the other. */
interface Line {
  readonly key: string;
  readonly path: string;
  readonly outcome: DatedJoin["outcome"];
}

export interface IdentityGraph {
  readonly rows: readonly IdRow[];
  readonly lines: readonly Line[];
  readonly dots: readonly { readonly id: string; readonly y: number; readonly isForeign: boolean }[];
  readonly tips: readonly { readonly key: string; readonly path: string; readonly isRefused: boolean }[];
  readonly x: number;
  readonly width: number;
  readonly height: number;
}

const notesShown = 3;

const keyOf = ({ by, other, into, outcome }: DatedJoin): string => JSON.stringify([by, other, into, outcome]);

function notesOf(joins: readonly DatedJoin[]): Note[] {
  const notes = new Map<string, Note>();
  for (const join of joins) {
    const key = keyOf(join);
    const known = notes.get(key);
    notes.set(key, { join: known?.join ?? join, times: (known?.times ?? 0) + 1 });
  }
  return [...notes.values()];
}

/** The final id: not merged itself, target of the most joins; the last one of several. */
function rootOf(ids: readonly string[], notes: readonly Note[]): string | undefined {
  const counts = new Map<string, number>();
  const gone = new Set<string>();
  for (const { join } of notes) {
    if (join.outcome === "refused") continue;
    counts.set(join.into, (counts.get(join.into) ?? 0) + 1);
    gone.add(join.other);
  }
  const staying = ids.filter((id) => !gone.has(id));
  const candidates = staying.length > 0 ? staying : ids;
  const best = Math.max(0, ...candidates.map((id) => counts.get(id) ?? 0));
  return candidates.findLast((id) => (counts.get(id) ?? 0) === best);
}

function orderOf(ids: readonly string[], notes: readonly Note[]): string[] {
  const root = rootOf(ids, notes);
  const mine = new Set(ids);
  const named = notes.flatMap(({ join }) => [join.other, join.into]);
  const joined = named.filter((id) => mine.has(id));
  const foreign = named.filter((id) => !mine.has(id));
  return [...new Set([...(root === undefined ? [] : [root]), ...joined, ...ids, ...foreign])];
}

/** The lower of a join's two ids lists it. */
function listedAt(order: ReadonlyMap<string, number>, { other, into }: DatedJoin): string {
  return (order.get(other) ?? 0) > (order.get(into) ?? 0) ? other : into;
}

function rowsOf(ids: readonly string[], notes: readonly Note[]): IdRow[] {
  const order = orderOf(ids, notes);
  const places = new Map(order.map((id, i) => [id, i]));
  const mine = new Set(ids);
  const byId = groupedBy(notes, ({ join }) => listedAt(places, join));
  let top = 0;
  return order.map((id) => {
    const all = byId.get(id) ?? [];
    const further = Math.max(0, all.length - notesShown);
    const lines = 1 + Math.min(all.length, notesShown) + (further > 0 ? 1 : 0);
    const height = lines * lineHeight + rowSpace;
    const row = { id, isForeign: !mine.has(id), notes: all.slice(0, notesShown), further, top, height };
    top += height;
    return row;
  });
}

interface Rail {
  readonly key: string;
  readonly from: number;
  readonly to: number;
  readonly notes: readonly Note[];
}

const railKey = ({ join }: Note): string => JSON.stringify([join.into, join.outcome === "refused"]);

function railsOf(notes: readonly Note[], yOf: (id: string) => number): Rail[] {
  return [...groupedBy(notes, railKey)]
    .map(([key, all]): Rail => {
      const ys = all.flatMap(({ join }) => [yOf(join.other), yOf(join.into)]);
      return { key, from: Math.min(...ys), to: Math.max(...ys), notes: all };
    })
    .sort((a, b) => a.to - a.from - (b.to - b.from));
}

/** Assigns lanes: short rails are nearest, overlapping ones go further out. */
function lanesOf(rails: readonly Rail[]): { rail: Rail; lane: number }[] {
  const lanes: Rail[][] = [];
  return rails.map((rail) => {
    const isFree = (others: readonly Rail[]) => others.every((it) => it.to <= rail.from || it.from >= rail.to);
    const found = lanes.findIndex(isFree);
    const lane = found === -1 ? lanes.length : found;
    lanes[lane] = [...(lanes[lane] ?? []), rail];
    return { rail, lane };
  });
}

/** Path from a dot to the rail, along it, and to the other dot. */
function pathOf(x: number, railX: number, from: number, to: number): string {
  const turn = from < to ? corner : -corner;
  const start = x - dotRadius;
  const end = x - dotRadius - 3;
  return [
    `M${start} ${from}H${railX + corner}`,
    `Q${railX} ${from} ${railX} ${from + turn}`,
    `V${to - turn}`,
    `Q${railX} ${to} ${railX + corner} ${to}H${end}`,
  ].join("");
}

/** Lays out a person's ids: a row per id, and lines at the side. */
export function graphOf(ids: readonly string[], joins: readonly DatedJoin[]): IdentityGraph {
  const notes = notesOf(joins).filter(({ join }) => join.other !== join.into);
  const rows = rowsOf(ids, notes);
  const ys = new Map(rows.map((row) => [row.id, row.top + lineHeight / 2]));
  const yOf = (id: string) => ys.get(id) ?? 0;
  const placed = lanesOf(railsOf(notes, yOf));
  const lanes = placed.reduce((most, it) => Math.max(most, it.lane + 1), 0);
  const x = lanes * laneWidth + 14;
  const lines = placed.flatMap(({ rail, lane }) =>
    rail.notes.map(({ join }): Line => {
      const railX = x - 14 - lane * laneWidth - corner / 2;
      return { key: keyOf(join), path: pathOf(x, railX, yOf(join.other), yOf(join.into)), outcome: join.outcome };
    }),
  );
  const tips = placed.map(({ rail }) => {
    const y = yOf(rail.notes[0]?.join.into ?? "");
    const end = x - dotRadius - 1;
    const isRefused = rail.notes[0]?.join.outcome === "refused";
    return { key: rail.key, path: `M${end} ${y}l-5 -3.5v7z`, isRefused };
  });
  const dots = rows.map(({ id, isForeign }) => ({ id, y: yOf(id), isForeign }));
  const height = rows.reduce((sum, it) => sum + it.height, 0);
  return { rows, lines, dots, tips, x, width: x + dotRadius + 2, height };
}
