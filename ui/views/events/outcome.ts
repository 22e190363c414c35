import type { EventRow } from "../../../src/state/journal/feed/feed-row.ts";
import { explained, spanText, withoutTicks } from "../../parts/text.ts";

/** Codes of an event: its drop reason, then warnings. */
export const codesOf = ({ reason, warnings: codes }: EventRow): readonly string[] =>
  reason === null ? codes : [reason, ...codes];

/** Sentence of the first code, and the number of others. */
export function sentenceOf(row: EventRow): string {
  const [first, ...others] = codesOf(row);
  if (first === undefined) return "";
  const more = others.length === 0 ? "" : ` (and ${others.length} more)`;
  return explained(first).sentence + more;
}

/** Codes with sentences and fixes, for a tooltip. */
export const explanationOf = (row: EventRow): string =>
  codesOf(row)
    .map((code) => {
      const { sentence, fix } = explained(code);
      return fix === "" ? code : withoutTicks(`${code}: ${sentence}. Fix: ${fix}.`);
    })
    .join("\n");

/** Normal difference between event time and arrival, ms. */
const usualLag = 60_000;

/** Difference between event time and arrival, if unusual, else "". */
export function lagText({ at, time }: EventRow): string {
  const lag = at - time;
  if (!Number.isFinite(lag) || Math.abs(lag) < usualLag) return "";
  return `its time is ${spanText(Math.abs(lag))} ${lag > 0 ? "before" : "after"} its arrival`;
}
