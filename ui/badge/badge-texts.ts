import type { BadgeCounts } from "../../src/state/journal/badge-shapes.ts";

const places = ["bottom-right", "bottom-left", "top-right", "top-left"] as const;

/** The corner of the window in which the badge is. */
export type Place = (typeof places)[number];

/** The corner in `data-corner`; the first one if it is none. */
export const placeOf = (text: string | undefined): Place => places.find((it) => it === text) ?? places[0];

const number = (n: number): string => n.toLocaleString("en-US");

/** What comes over the network is checked: the address may belong to something else. */
const count = (value: unknown): number => (typeof value === "number" && value >= 0 ? Math.floor(value) : 0);
const code = (value: unknown): string => (typeof value === "string" && /^[a-z_]{1,60}$/.test(value) ? value : "");

/** `12 events`, `3 lost`, the last reason; the full text for the tooltip. */
export function textsOf(counts: BadgeCounts) {
  const [kept, dropped, rejected] = [count(counts.kept), count(counts.dropped), count(counts.rejected)];
  const all = kept + dropped;
  const sent = `${number(all)} ${all === 1 ? "event" : "events"}`;
  const parts = [dropped > 0 && `${number(dropped)} dropped`, rejected > 0 && `${number(rejected)} rejected`];
  const lost = parts.filter((it) => it !== false).join(", ");
  const reason = lost === "" ? "" : code(counts.reason);
  return {
    sent,
    lost,
    reason,
    title: `${[sent, lost, reason].filter((it) => it !== "").join(", ")}: open the inspector`,
  };
}

/** The inspector, at what was lost. */
export function linkFor(origin: string, counts: BadgeCounts): string {
  const isDropped = count(counts.dropped) > 0;
  const isRejected = count(counts.rejected) > 0;
  return `${origin}/__sim/${isDropped || isRejected ? "#/start" : "#/events"}`;
}

const usual = 2_000;
const longest = 60_000;
/** Failures in a row after which the badge waits until the page is visible again. */
const most = 8;

/** Time until the next question, ms; undefined: none. */
export function delayAfter(failures: number): number | undefined {
  if (failures >= most) return undefined;
  return Math.min(longest, usual * 2 ** failures);
}
