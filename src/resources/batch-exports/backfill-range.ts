import type { Json } from "../../kernel/json.ts";
import type { BackfillRange } from "../../model/export-engine.ts";
import { compareTimes } from "../../model/time.ts";
import { invalid } from "../invalid.ts";
import { hasZone, readWireTime } from "../wire-time.ts";
import type { BackfillBody } from "./body.ts";
import type { Destination } from "./destinations.ts";

/** `2025-03-01`, with or without a time behind it. */
const isoDate = /^\d{4}-\d{2}-\d{2}(?=$|[T ])/;

/** One bound as a wire time; null is open. @throws SimError invalid_input */
function readBound(input: Json | undefined): string | null {
  if (input === undefined || input === null) return null;
  const text = typeof input === "string" ? input : JSON.stringify(input);
  const isDate = isoDate.exec(text)?.[0] === text;
  const time = isoDate.test(text) ? readWireTime(isDate ? `${text}T00:00` : text) : undefined;
  if (time === undefined) throw invalid(`Input ${text} is not a valid ISO formatted datetime.`);
  if (!hasZone(text)) throw invalid(`Input ${text} is naive.`);
  return time;
}

/** A wire time as Python writes it. */
const isoformat = (time: string): string => time.replace("Z", "+00:00");

/** The destinations that may be kept up to date by a backfill without an end. */
const endless = ["HTTP", "NoOp"];

/**
 * The range of a backfill that is asked for. Upstream PostHog/posthog posthog/batch_exports/http.py, without
 * its look at the first event there is: a range without data gives runs without data.
 * @param now wire time
 * @throws SimError invalid_input
 */
export function readRange(body: BackfillBody, { type }: Destination, now: string): BackfillRange {
  const start_at = readBound(body.start_at);
  const end_at = readBound(body.end_at);
  if (end_at === null && !endless.includes(type)) {
    throw invalid("Backfilling a BatchExport with no end date is not allowed");
  }
  if (start_at !== null && end_at !== null) {
    if (compareTimes(start_at, end_at) >= 0) {
      throw invalid("The initial backfill datetime 'start_at' happens after 'end_at'");
    }
    if (compareTimes(end_at, now) > 0) {
      throw invalid(`The provided 'end_at' (${isoformat(end_at)}) is in the future`);
    }
  }
  return { start_at, end_at };
}

/** The name under which the service runs a backfill; it is what callers get to see. */
export const backfillName = (batchExport: string, { start_at, end_at }: BackfillRange): string =>
  `${batchExport}-Backfill-${start_at === null ? "START" : isoformat(start_at)}-${end_at === null ? "END" : isoformat(end_at)}`;
