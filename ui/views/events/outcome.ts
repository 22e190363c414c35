import { dropReasons, type ReasonText, warnings } from "../../../src/model/outcome.ts";
import type { EventRow } from "../../../src/model/row.ts";
import { spanText } from "../../parts/text.ts";

/** What became of an event, for a badge: never by the colour alone. */
export interface Verdict {
  readonly tone: "good" | "odd" | "bad";
  readonly word: string;
}

const verdicts = {
  kept: { tone: "good", word: "kept" },
  odd: { tone: "odd", word: "kept, odd" },
  dropped: { tone: "bad", word: "dropped" },
} as const satisfies Record<string, Verdict>;

export type Sort = keyof typeof verdicts;

export const sortOf = ({ outcome, warnings: odd }: EventRow): Sort => {
  if (outcome === "dropped") return "dropped";
  return odd.length > 0 ? "odd" : "kept";
};

export const verdictOf = (row: EventRow): Verdict => verdicts[sortOf(row)];

/** Codes that were said of an event: why it was dropped, then what was odd. */
export const codesOf = ({ reason, warnings: odd }: EventRow): readonly string[] =>
  reason === null ? odd : [reason, ...odd];

const texts = new Map<string, ReasonText>([...Object.entries(dropReasons), ...Object.entries(warnings)]);

/** The code in words; undefined where it is none of ours. */
export const textOf = (code: string): ReasonText | undefined => texts.get(code);

/** The first code in words, and how many more there are. */
export function sentenceOf(row: EventRow): string {
  const [first, ...others] = codesOf(row);
  if (first === undefined) return "";
  const more = others.length === 0 ? "" : ` (and ${others.length} more)`;
  return (textOf(first)?.sentence ?? first) + more;
}

/** Everything there is to say, one line a code, with what to do about it. */
export const explanationOf = (row: EventRow): string =>
  codesOf(row)
    .map((code) => {
      const text = textOf(code);
      return text === undefined ? code : `${code}: ${text.sentence}. To mend it: ${text.fix}.`;
    })
    .join("\n");

/** An event's own time may differ that much from its arrival without anybody wondering, ms. */
const usualLag = 60_000;

/** How far an event's own time lies from its arrival, where that is odd; "" where it is not. */
export function lagText({ at, time }: EventRow): string {
  const lag = at - time;
  if (!Number.isFinite(lag) || Math.abs(lag) < usualLag) return "";
  return `its time is ${spanText(Math.abs(lag))} ${lag > 0 ? "before" : "after"} its arrival`;
}
