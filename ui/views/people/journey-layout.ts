import type { FlagInForce, FlagSpan, JourneyMoment } from "../../../src/lab/journeys/shapes.ts";
import { counted, plain } from "../../parts/text.ts";

/** A moment with its time in ms. */
export interface Placed extends JourneyMoment {
  readonly id: string;
  readonly ms: number;
}

const idOf = ({ seq, request }: Pick<JourneyMoment, "seq" | "request">): string =>
  seq === null ? `r${request}` : `e${seq}`;

export const placed = (moments: readonly JourneyMoment[]): Placed[] =>
  moments.map((it) => ({ ...it, id: idOf(it), ms: Date.parse(it.at) }));

/** A time without a break, drawn to scale. */
interface Stretch {
  readonly from: number;
  readonly to: number;
  readonly x: number;
  readonly width: number;
}

/** A break, folded. */
interface Fold {
  readonly from: number;
  readonly to: number;
  readonly x: number;
  readonly width: number;
}

/** The time axis in px. */
export interface Axis {
  readonly width: number;
  readonly stretches: readonly Stretch[];
  readonly folds: readonly Fold[];
}

/** Silence that is folded, ms; between sessions a shorter one is. */
const longSilence = 5 * 60_000;
const betweenSessions = 30_000;

const foldWidth = 64;
const narrowest = 96;
const margin = 12;

/** Where to fold: indexes of the moments after a break. */
function breaksIn(moments: readonly Placed[]): number[] {
  const found: number[] = [];
  let session: string | null = null;
  for (const [i, it] of moments.entries()) {
    const silence = it.ms - (moments[i - 1]?.ms ?? it.ms);
    const isOther = it.session !== null && session !== null && it.session !== session;
    if (silence > longSilence || (isOther && silence > betweenSessions)) found.push(i);
    session = it.session ?? session;
  }
  return found;
}

/** An axis of at least `room` px; each stretch gets its share of the time, but enough to be seen. */
export function axisOf(moments: readonly Placed[], room: number): Axis {
  if (moments.length === 0) return { width: room, stretches: [], folds: [] };
  const starts = [0, ...breaksIn(moments)];
  const spans = starts.map((start, i) => {
    const from = moments[start]?.ms ?? 0;
    return { from, to: moments[(starts[i + 1] ?? moments.length) - 1]?.ms ?? from };
  });
  const total = spans.reduce((sum, { from, to }) => sum + to - from, 0);
  const free = room - 2 * margin - (spans.length - 1) * foldWidth - spans.length * narrowest;
  const stretches: Stretch[] = [];
  const folds: Fold[] = [];
  let x = margin;
  for (const { from, to } of spans) {
    const last = stretches.at(-1);
    if (last) {
      folds.push({ from: last.to, to: from, x, width: foldWidth });
      x += foldWidth;
    }
    const share = total === 0 ? 1 / spans.length : (to - from) / total;
    const width = narrowest + Math.max(0, free) * share;
    stretches.push({ from, to, x, width });
    x += width;
  }
  return { width: x + margin, stretches, folds };
}

/** The place of a time in px; within a fold it is the fold's nearer end. */
export function xOf({ stretches }: Axis, ms: number, side: "start" | "end" = "start"): number {
  let end = margin;
  for (const { from, to, x, width } of stretches) {
    if (ms < from) return side === "start" ? x : end;
    if (ms <= to) return to === from ? x : x + ((ms - from) / (to - from)) * width;
    end = x + width;
  }
  return end;
}

/** The fold or the end after a time. */
const stretchEnd = ({ stretches }: Axis, ms: number): number =>
  stretches.find(({ from, to }) => ms >= from && ms <= to)?.to ?? ms;

/** A bar of a lane. */
export interface Bar {
  readonly id: string;
  readonly x: number;
  readonly width: number;
  readonly text: string;
}

const barOf = (axis: Axis, id: string, text: string, from: number, to: number): Bar => {
  const x = xOf(axis, from);
  return { id, text, x, width: Math.max(3, xOf(axis, to, "end") - x) };
};

/** Pages: each until the next, or until the break. */
export const pageBars = (axis: Axis, pages: readonly Placed[]): Bar[] =>
  pages.map((it, i) => {
    const until = stretchEnd(axis, it.ms);
    return barOf(axis, it.id, it.text || it.name, it.ms, Math.min(pages[i + 1]?.ms ?? until, until));
  });

/** The distinct ids in use, one after the other. */
export function idBars(axis: Axis, moments: readonly Placed[]): Bar[] {
  const bars: Bar[] = [];
  const own = moments.filter((it) => it.seq !== null && it.distinct_id !== null);
  for (let i = 0; i < own.length; ) {
    const first = own[i];
    let end = i + 1;
    while (end < own.length && own[end]?.distinct_id === first?.distinct_id) end++;
    const to = own[end]?.ms ?? moments.at(-1)?.ms ?? 0;
    if (first) bars.push(barOf(axis, first.id, first.distinct_id ?? "", first.ms, to));
    i = end;
  }
  return bars;
}

export interface FlagBar extends Bar {
  readonly span: FlagSpan;
}

/** The values of a flag; the last one is in force until the end. */
export function flagBars(axis: Axis, { spans }: FlagInForce, [from, to]: readonly [number, number]): FlagBar[] {
  return spans.flatMap((span) => {
    const [start, end] = [Date.parse(span.from), span.to === null ? to : Date.parse(span.to)];
    if (end < from || start > to) return [];
    const why = span.why === null ? "" : ` · ${span.why}`;
    return [
      { span, ...barOf(axis, `${span.request}`, `${span.value}${why}`, Math.max(start, from), Math.min(end, to)) },
    ];
  });
}

/** The value of each flag at a time, how long it had been in force, and what follows. */
export interface InForce {
  readonly key: string;
  readonly span: FlagSpan;
  readonly since: number;
  readonly next: FlagSpan | undefined;
}

export const inForceAt = (flags: readonly FlagInForce[], ms: number): InForce[] =>
  flags.flatMap(({ key, spans }) => {
    const at = spans.findLastIndex((it) => Date.parse(it.from) <= ms);
    const span = spans[at];
    if (!span || (span.to !== null && Date.parse(span.to) <= ms)) return [];
    return [{ key, span, since: ms - Date.parse(span.from), next: spans[at + 1] }];
  });

/** True if a flag changed its value, or was used. */
export const isTelling = ({ spans, used }: FlagInForce): boolean =>
  used > 0 || new Set(spans.map((it) => it.value)).size > 1;

export interface Label {
  readonly id: string;
  readonly x: number;
  readonly text: string;
  readonly row: 0 | 1;
  readonly tone: string;
}

const letter = 6.3;
const longestLabel = 28;

/** Names beside their marks, in two rows; where there is no room for one it is left out. */
export function labelsOf(
  axis: Axis,
  moments: readonly Placed[],
  textOf: (it: Placed) => string,
  toneOf: (it: Placed) => string,
): Label[] {
  const ends: [number, number] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY];
  const labels: Label[] = [];
  for (const it of moments) {
    const whole = textOf(it);
    const text = whole.length > longestLabel ? `${whole.slice(0, longestLabel - 1)}…` : whole;
    const size = text.length * letter + 8;
    const x = Math.max(2, Math.min(axis.width - size - 2, xOf(axis, it.ms) - size / 2));
    const row = ends[0] <= x ? 0 : ends[1] <= x ? 1 : undefined;
    if (row === undefined) continue;
    ends[row] = x + size;
    labels.push({ id: it.id, x, text, row, tone: toneOf(it) });
  }
  return labels;
}

export interface Tick {
  readonly x: number;
  readonly ms: number;
  readonly side: "start" | "middle" | "end";
}

const tickWidth = 120;

/** Times above the lanes: ends of each stretch, and some between. */
export const ticksOf = ({ stretches }: Axis): Tick[] =>
  stretches.flatMap(({ from, to, x, width }) => {
    const parts = Math.max(1, Math.floor(width / tickWidth));
    if (to === from || width < tickWidth) return [{ x, ms: from, side: "start" as const }];
    return Array.from({ length: parts + 1 }, (_, i): Tick => {
      const side = i === 0 ? "start" : i === parts ? "end" : "middle";
      return { x: x + (width * i) / parts, ms: from + ((to - from) * i) / parts, side };
    });
  });

/** The moment nearest to a place. */
export function nearest(axis: Axis, moments: readonly Placed[], x: number): Placed | undefined {
  let found: Placed | undefined;
  let distance = Number.POSITIVE_INFINITY;
  for (const it of moments) {
    const away = Math.abs(xOf(axis, it.ms) - x);
    if (away < distance) [found, distance] = [it, away];
  }
  return found;
}

/** A session with its length and its events. */
export interface SessionSpan {
  readonly id: string;
  readonly from: number;
  readonly to: number;
  readonly events: number;
}

export function sessionsIn(moments: readonly Placed[]): SessionSpan[] {
  const found = new Map<string, { from: number; to: number; events: number }>();
  for (const { session, ms } of moments) {
    if (session === null) continue;
    const known = found.get(session);
    if (!known) found.set(session, { from: ms, to: ms, events: 1 });
    else {
      known.to = Math.max(known.to, ms);
      known.events++;
    }
  }
  return Array.from(found, ([id, it]) => ({ id, ...it }));
}

/** What is wrong with the times, in words. */
export function damageIn(moments: readonly Placed[]): string[] {
  const count = (clock: JourneyMoment["clock"]) => moments.filter((it) => it.clock === clock).length;
  const [ahead, behind] = [count("ahead"), count("behind")];
  let newest = 0;
  let late = 0;
  for (const { seq } of moments) {
    if (seq === null) continue;
    if (seq < newest) late++;
    newest = Math.max(newest, seq);
  }
  const events = (n: number) => (n === 1 ? "1 event" : `${n} events`);
  return [
    ...(ahead > 0 ? [`${events(ahead)} with a time in the future, shown at arrival`] : []),
    ...(behind > 0 ? [`${events(behind)} with a time before 2000, shown at arrival`] : []),
    ...(late > 0 ? [`${events(late)} arrived before an earlier one; they are in the order of their own times`] : []),
  ];
}

/** True if it was rejected or dropped. */
export const isLost = ({ outcome }: Placed): boolean => outcome === "rejected" || outcome === "dropped";

/** What a moment is, in a few words. */
export function momentText(it: Placed): string {
  const name = plain(it.name, 80) || "(no name)";
  const text = plain(it.text, 120);
  if (it.lane === "request") {
    const carried = it.events ? `, ${counted(it.events, "event")}` : "";
    return `${name} ${it.status === 0 ? "no response" : it.status}${carried}`;
  }
  if (it.lane === "click") return text === "" ? name : `click “${text}”`;
  if (it.lane === "page" || it.lane === "problem") return text === "" ? name : text;
  return text === "" ? name : `${name}: ${text}`;
}
