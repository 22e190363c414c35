import type { Stat } from "../../src/feed/frames.ts";
import { dateText, numberText, spanText } from "../parts/text.ts";

/** Something about how the sim is that should be in sight. */
export interface Sign {
  readonly tone: "plain" | "good" | "odd" | "bad" | "note";
  readonly text: string;
  /** The whole of it. */
  readonly title: string;
  /** The view where it can be changed. */
  readonly view: string;
}

/** Who answers: the emulator, a tape, or the service itself while a tape is made of it. */
export function modeOf({ recording, tape }: Stat): Sign {
  if (recording !== null) {
    const from = recording.upstream === null ? "" : ` from ${recording.upstream}`;
    const title = `Requests are passed on and taped${from}`;
    return { tone: "bad", text: `${recording.mode}${from}`, title, view: "tapes" };
  }
  if (tape === null) {
    return { tone: "plain", text: "emulate", title: "The emulator answers every request", view: "tapes" };
  }
  const { name, mode, hits, misses } = tape;
  return {
    tone: misses > 0 ? "odd" : "note",
    text: `${mode} ${name}: ${numberText(hits)} hit, ${numberText(misses)} missed`,
    title: `The tape ${name} answers; ${misses} requests were not on it`,
    view: "tapes",
  };
}

/** What differs less is how long the telling took, ms. */
const noticeable = 5_000;

/** Undefined while the sim's clock shows the machine's time. */
export function clockSign({ clock, at }: Stat): Sign | undefined {
  if (clock.real) return undefined;
  const view = "exports";
  const title = `The sim's clock shows ${dateText(clock.now)}`;
  if (clock.frozen) return { tone: "note", text: `clock stands at ${dateText(clock.now)}`, title, view };
  const ahead = clock.now - at;
  if (Math.abs(ahead) < noticeable) return undefined;
  const text = `clock ${spanText(ahead)} ${ahead > 0 ? "ahead" : "behind"}`;
  return { tone: "note", text, title, view };
}
