import { dropReasons, type ReasonText, warnings } from "../../../src/model/outcome.ts";
import type { EventRow } from "../../../src/model/row.ts";
import { spanText, withoutTicks } from "../../parts/text.ts";

/** The codes of an event: why it was dropped, then its warnings. */
export const codesOf = ({ reason, warnings: codes }: EventRow): readonly string[] =>
  reason === null ? codes : [reason, ...codes];

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

/** Each code with its sentence and its fix on a line, as plain text for a tooltip. */
export const explanationOf = (row: EventRow): string =>
  codesOf(row)
    .map((code) => {
      const text = textOf(code);
      return text === undefined ? code : withoutTicks(`${code}: ${text.sentence}. Fix: ${text.fix}.`);
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
