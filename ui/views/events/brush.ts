import type { Histogram } from "../../../src/state/journal/histogram-answer.ts";
import { demandsOf, withoutTerm, withTerm } from "../../parts/filter-box/filter-text.ts";
import { roundStep } from "../../parts/text.ts";

/** A range of time, ms; `to` is excluded. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

const termShape = /^time:([^.]+(?:\.\d+)?Z)\.\.([^.]+(?:\.\d+)?Z)$/;

const timeTerms = (filter: string): string[] => demandsOf(filter).filter((it) => termShape.test(it));

/** The range that a filter demands; undefined: none, or not a single one. */
export function spanIn(filter: string): Span | undefined {
  const terms = timeTerms(filter);
  const [, from = "", to = ""] = termShape.exec(terms[0] ?? "") ?? [];
  const span = { from: Date.parse(from), to: Date.parse(to) };
  return terms.length === 1 && Number.isFinite(span.from) && span.to > span.from ? span : undefined;
}

export const withoutSpan = (filter: string): string => timeTerms(filter).reduce(withoutTerm, filter);

export const withSpan = (filter: string, { from, to }: Span): string =>
  withTerm(withoutSpan(filter), `time:${new Date(from).toISOString()}..${new Date(to).toISOString()}`);

/** The buckets as they are drawn: a few events do not fill the width. */
export interface Plot extends Span {
  readonly step: number;
  readonly count: number;
  /** Buckets before the first one that was counted. */
  readonly lead: number;
}

const fewest = 40;

export function plotOf({ from, step, kept }: Pick<Histogram, "from" | "step" | "kept">): Plot {
  const lead = Math.max(0, fewest - kept.length);
  const count = lead + kept.length;
  return { from: from - lead * step, to: from + kept.length * step, step, count, lead };
}

/** Place of a bucket's edge, from 0 to the number of buckets. */
export const edgeAt = ({ from, step, count }: Plot, at: number): number =>
  Math.max(0, Math.min(count, Math.round((at - from) / step)));

export const timeAt = ({ from, step }: Plot, edge: number): number => from + edge * step;

/** The buckets between two places of a drag, from 0 to 1: at least one. */
export function edgesBetween({ count }: Plot, a: number, b: number): readonly [from: number, to: number] {
  const place = (share: number) => Math.max(0, Math.min(1, share)) * count;
  const from = Math.min(count - 1, Math.floor(place(Math.min(a, b))));
  return [from, Math.max(from + 1, Math.ceil(place(Math.max(a, b))))];
}

/** Moves an edge by a key; undefined for other keys. At least one bucket stays. */
export function movedEdges(
  [from, to]: readonly [number, number],
  which: "from" | "to",
  key: string,
  count: number,
): readonly [number, number] | undefined {
  const now = which === "from" ? from : to;
  const targets: Readonly<Record<string, number>> = {
    ArrowLeft: now - 1,
    ArrowDown: now - 1,
    ArrowRight: now + 1,
    ArrowUp: now + 1,
    PageDown: now - 10,
    PageUp: now + 10,
    Home: 0,
    End: count,
  };
  const target = Object.hasOwn(targets, key) ? targets[key] : undefined;
  if (target === undefined) return undefined;
  return which === "from"
    ? [Math.max(0, Math.min(to - 1, target)), to]
    : [from, Math.min(count, Math.max(from + 1, target))];
}

const [second, minute, day] = [1_000, 60_000, 86_400_000];

const two = (n: number): string => String(n).padStart(2, "0");

function tickText(at: number, every: number): string {
  const it = new Date(at);
  if (every >= day) return `${it.getFullYear()}-${two(it.getMonth() + 1)}-${two(it.getDate())}`;
  const short = `${two(it.getHours())}:${two(it.getMinutes())}`;
  if (every >= minute) return short;
  const whole = `${short}:${two(it.getSeconds())}`;
  return every >= second ? whole : `${whole}.${String(it.getMilliseconds()).padStart(3, "0")}`;
}

/** Labels of the axis in local time, with their places from 0 to 1; at most `most`. */
export function axisOf({ from, to }: Span, most: number): { at: number; share: number; text: string }[] {
  const every = roundStep((to - from) / most);
  const offset = new Date(from).getTimezoneOffset() * minute;
  const first = Math.ceil((from - offset) / every) * every + offset;
  const labels: { at: number; share: number; text: string }[] = [];
  for (let at = first; at < to && labels.length < most; at += every)
    labels.push({ at, share: (at - from) / (to - from), text: tickText(at, every) });
  return labels;
}
