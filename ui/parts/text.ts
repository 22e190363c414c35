import { dropReasons, type ReasonText, warnings } from "../../src/state/journal/drop-reasons.ts";
import { cutText, visible } from "./tree/safe-text.ts";

const two = (n: number): string => String(n).padStart(2, "0");

/** 14:05:09.123, local time. */
export function clockText(ms: number): string {
  const at = new Date(ms);
  const rest = String(at.getMilliseconds()).padStart(3, "0");
  return `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}.${rest}`;
}

/** 2026-01-31 14:05:09, local time. */
export function dateText(ms: number): string {
  const at = new Date(ms);
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  return `${day} ${clockText(ms).slice(0, 8)}`;
}

/** Local time zone: UTC, UTC+1, UTC-3:30. */
export function zoneText(ms: number): string {
  const offset = -new Date(ms).getTimezoneOffset();
  const minutes = Math.abs(offset) % 60;
  const hours = `${Math.floor(Math.abs(offset) / 60)}${minutes === 0 ? "" : `:${two(minutes)}`}`;
  return offset === 0 ? "UTC" : `UTC${offset < 0 ? "-" : "+"}${hours}`;
}

/** 2026-01-31 14:05:09.123 UTC+1. */
export const exactText = (ms: number): string => `${dateText(ms).slice(0, 10)} ${clockText(ms)} ${zoneText(ms)}`;

const [second, minute, hour, day] = [1_000, 60_000, 3_600_000, 86_400_000];

const roundSteps: readonly number[] = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500],
  ...[1, 2, 5, 10, 15, 30].map((it) => it * second),
  ...[1, 2, 5, 10, 15, 30].map((it) => it * minute),
  ...[1, 2, 3, 6, 12].map((it) => it * hour),
  ...[1, 2, 7, 14, 30, 91, 365, 3_650].map((it) => it * day),
];

/** The shortest round time, ms, of at least this length: 5 s, 15 min. */
export const roundStep = (least: number): number => roundSteps.find((it) => it >= least) ?? least;

const units = { d: day, h: hour, min: minute, s: second };

/** A duration in its largest unit, unsigned: 3 min, 250 ms. */
export function spanText(ms: number): string {
  const size = Math.abs(ms);
  for (const [unit, length] of Object.entries(units)) if (size >= length) return `${Math.round(size / length)} ${unit}`;
  return `${size < 10 && !Number.isInteger(size) ? size.toFixed(1) : Math.round(size)} ms`;
}

/** 12,345. */
export const numberText = (n: number): string => n.toLocaleString("en-US");

/** `1 event`, `1,203 events`. */
export const counted = (count: number, noun: string): string => `${numberText(count)} ${noun}${count === 1 ? "" : "s"}`;

const sizes = ["B", "kB", "MB", "GB"] as const;

/** A number of bytes: 1.2 kB. */
export function sizeText(bytes: number): string {
  let [size, step] = [bytes, 0];
  while (size >= 1000 && step < sizes.length - 1) [size, step] = [size / 1000, step + 1];
  return `${step === 0 || size >= 100 ? Math.round(size) : size.toFixed(1)} ${sizes[step]}`;
}

/** A sentence without backticks, e.g. for a tooltip. */
export const withoutTicks = (text: string): string => text.replaceAll("`", "");

/** A text with an end: `Send JSON.` */
export const asSentence = (text: string): string => (/[.…!?]$/.test(text) ? text : `${text}.`);

/** Captured text on one line, with invisible characters escaped. */
export const plain = (text: string, most = 500): string =>
  visible(cutText(text, most)) + (text.length > most ? "…" : "");

/** The ends of a long id, safe to display: 01a2…ec48. */
export const shortId = (id: string): string =>
  id.length > 12 ? `${plain(id.slice(0, 4))}…${plain(id.slice(-4))}` : plain(id);

/** Meaning of a badge. Each tone has a mark as well as a colour. */
export type Tone = "plain" | "good" | "odd" | "bad" | "note" | "accent";

const reasonTexts: Readonly<Record<string, ReasonText>> = { ...dropReasons, ...warnings };

/** Meaning and fix of a drop reason or a warning. An unknown code is its own sentence and has no fix. */
export const explained = (code: string): ReasonText =>
  (Object.hasOwn(reasonTexts, code) ? reasonTexts[code] : undefined) ?? { sentence: code, fix: "" };
