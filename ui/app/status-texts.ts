import type { Stat } from "../../src/state/journal/feed/frames.ts";
import { dateText, numberText, spanText } from "../parts/text.ts";

export interface Totals {
  readonly kept: number;
  readonly dropped: number;
  readonly rejected: number;
}

export interface Sign {
  readonly tone: "plain" | "good" | "odd" | "bad" | "note";
  readonly text: string;
  /** Full text, for the tooltip. */
  readonly title: string;
  /** Id of the view where it can be changed. */
  readonly view: string;
}

/** The source of responses: the emulator, a tape, or the real service while it is recorded. */
export function modeOf({ recording, tape }: Stat): Sign {
  if (recording !== null) {
    const from = recording.upstream === null ? "" : ` from ${recording.upstream}`;
    const title = `Requests are forwarded and recorded${from}`;
    return { tone: "bad", text: `${recording.mode}${from}`, title, view: "tapes" };
  }
  if (tape === null) {
    return { tone: "plain", text: "emulate", title: "The emulator responds to every request", view: "tapes" };
  }
  const { name, mode, hits, misses } = tape;
  return {
    tone: misses > 0 ? "odd" : "note",
    text: `${mode} ${name}: ${numberText(hits)} hit, ${numberText(misses)} missed`,
    title: `Responses come from the tape ${name}; ${misses} requests were not on it`,
    view: "tapes",
  };
}

/** Smaller differences are transmission delay, ms. */
const noticeable = 5_000;

export function clockSign({ clock, at }: Stat): Sign | undefined {
  if (clock.real) return undefined;
  const view = "exports";
  const title = `The sim's clock shows ${dateText(clock.now)}`;
  if (clock.frozen) return { tone: "note", text: `clock frozen at ${dateText(clock.now)}`, title, view };
  const ahead = clock.now - at;
  if (Math.abs(ahead) < noticeable) return undefined;
  const text = `clock ${spanText(ahead)} ${ahead > 0 ? "ahead" : "behind"}`;
  return { tone: "note", text, title, view };
}

const wrong = ({ dropped, rejected }: Totals): number => dropped + rejected;
const fresh = ({ kept, dropped }: Totals): number => kept + dropped;

/** The seen totals, without what was cleared since. */
export const seenBy = (seen: Totals, now: Totals): Totals => ({
  kept: Math.min(seen.kept, now.kept),
  dropped: Math.min(seen.dropped, now.dropped),
  rejected: Math.min(seen.rejected, now.rejected),
});

/**
 * The tab's title: the view, the problems that were not seen yet, and what arrived since the page was last visible.
 * @param seen Totals at that moment; undefined while the page is visible
 */
export function titleOf(label: string, now: Totals | undefined, seen: Totals | undefined, problems = 0): string {
  const counts: [number, string][] = [[problems, problems === 1 ? "problem" : "problems"]];
  if (now && seen) counts.push([fresh(now) - fresh(seen), "new"], [wrong(now) - wrong(seen), "lost"]);
  const parts = counts.flatMap(([n, word]) => (n > 0 ? [`${n} ${word}`] : []));
  const name = `${label} · phx-sim`;
  return parts.length === 0 ? name : `(${parts.join(", ")}) ${name}`;
}
