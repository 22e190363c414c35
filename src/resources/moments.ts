import { wireTime } from "../model/time.ts";
import { readWireTime } from "./wire-time.ts";

type Step = (date: Date, count: number) => void;

const minutes =
  (length: number): Step =>
  (date, count) =>
    date.setTime(date.getTime() - count * length * 60_000);

const months =
  (length: number): Step =>
  (date, count) => {
    const day = date.getUTCDate();
    date.setUTCDate(1);
    date.setUTCMonth(date.getUTCMonth() - count * length);
    // The last day of a shorter month, not a day of the next one.
    const last = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();
    date.setUTCDate(Math.min(day, last));
  };

/** How far back a relative date goes, by its letter. */
const steps: ReadonlyMap<string, Step> = new Map([
  ["h", minutes(60)],
  ["d", minutes(24 * 60)],
  ["w", minutes(7 * 24 * 60)],
  ["m", months(1)],
  ["q", months(3)],
  ["y", months(12)],
]);

const relative = /-?(\d{1,6})([hdwmqy])/;

/**
 * A moment as lists are asked for it: a date, with or without a time (UTC unless it has a zone), or relative to
 * now: `-30d`. What cannot be read is now. Upstream PostHog/posthog posthog/utils.py, relative_date_parse.
 * @param now ms since the epoch
 * @returns a wire time
 */
export function readMoment(text: string, now: number): string {
  const time = readWireTime(text) ?? readWireTime(`${text}T00:00`);
  if (time !== undefined) return time;
  const [, count = "", unit = ""] = relative.exec(text) ?? [];
  const date = new Date(now);
  steps.get(unit)?.(date, Number(count));
  return wireTime(Number.isFinite(date.getTime()) && date.getUTCFullYear() > 0 ? date.getTime() : 0);
}
