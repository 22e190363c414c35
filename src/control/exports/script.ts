import type { ScriptedOutcome } from "../../exports/ports.ts";
import { timeRange } from "../../kernel/clock.ts";
import { SimError } from "../../kernel/errors.ts";
import { type Json, type JsonObject, own } from "../../kernel/json.ts";
import { didYouMean } from "../../kernel/nearest.ts";
import { readDuration } from "../../kernel/time-text.ts";
import { isOpen } from "../../model/export-engine.ts";
import { runStatuses } from "../../model/run-statuses.ts";
import { wireTime } from "../../model/time.ts";
import type { BatchExportRun } from "../../model/world.ts";
import { allowKeys } from "../body.ts";
import type { ControlDesk } from "../desk.ts";
import type { ShownScriptedRun } from "./answers.ts";
import { shownRunWithLogs } from "./list.ts";

type EndStatus = ScriptedOutcome["status"];

const isEnd = (status: BatchExportRun["status"]): status is EndStatus => !isOpen({ status });

/** The statuses that a run ends in. */
export const endStatuses: readonly EndStatus[] = runStatuses.filter(isEnd);

const invalid = (detail: string, pointer: string, hint?: string): SimError =>
  new SimError("invalid_input", detail, hint === undefined ? { pointer } : { pointer, hint });

/** A year, ms: what takes longer is a mistake. */
const longest = 366 * 24 * 3_600_000;
/** Characters. */
const longestError = 10_000;

function afterIn(given: Json | undefined): number {
  const ms = typeof given === "string" ? readDuration(given) : (given ?? 0);
  if (typeof ms === "number" && Number.isSafeInteger(ms) && ms >= 0 && ms <= longest) return ms;
  throw invalid(
    '"after" must be a duration of at most a year',
    "/after",
    "for example 30s, 5m, 1h (units: ms s m h d w), or milliseconds as a number",
  );
}

function statusIn(given: Json | undefined): EndStatus {
  const found = endStatuses.find((it) => it === given);
  if (found !== undefined) return found;
  const near = typeof given === "string" ? didYouMean(given, endStatuses).replace(/^; /, "") : "";
  throw invalid(`"status" must be one of ${endStatuses.join(", ")}`, "/status", near || undefined);
}

function errorIn(given: Json | undefined, status: EndStatus): string | null {
  if (given === undefined || given === null) return null;
  if (typeof given !== "string" || given.length > longestError)
    throw invalid(`"latest_error" must be a text of at most ${longestError} characters`, "/latest_error");
  if (status !== "Completed") return given;
  throw invalid('a run that is "Completed" has no error', "/latest_error", "leave it out");
}

/** What a body says of how a run ends. @throws SimError invalid_input with the pointer of what is wrong */
export function outcomeIn(body: JsonObject): ScriptedOutcome {
  allowKeys(body, ["after", "status", "latest_error"]);
  const after = afterIn(own(body, "after"));
  const status = statusIn(own(body, "status"));
  return { after, status, latest_error: errorIn(own(body, "latest_error"), status) };
}

/** What is left to do until the run ends, for a clock that does not get there by itself. */
function hintFor(isStarting: boolean, isDueNow: boolean, isFrozen: boolean): string | null {
  if (!isFrozen) return null;
  return isStarting || isDueNow
    ? "the clock stands still: POST /__sim/exports/tick has it start or end"
    : "the clock stands still: POST /__sim/clock/advance has it end";
}

/**
 * Writes down how a run ends that has not ended; from then on the run does what is said, and nothing else.
 * @throws SimError invalid_input when it has ended; the system's error, and then nothing is written down
 */
export async function scriptRun(
  desk: ControlDesk,
  run: BatchExportRun,
  outcome: ScriptedOutcome,
): Promise<ShownScriptedRun> {
  const { worlds, clock, exports } = desk;
  if (!isOpen(run))
    throw new SimError("invalid_input", `run ${run.id} has ended: it is ${run.status}`, {
      hint: "what has ended stays as it is; a retry or a backfill makes new runs",
    });
  const end = clock.now() + outcome.after;
  if (end > timeRange.last) throw invalid("the clock ends with the year 9999", "/after");
  exports.engine.script(run, outcome);
  desk.log.commit();
  const current = worlds.get("batch_export_runs", run.id) ?? run;
  const isStarting = current.status === "Starting";
  return {
    ...(await shownRunWithLogs(desk, current)),
    ends_at: isStarting ? null : wireTime(end),
    hint: hintFor(isStarting, outcome.after === 0, clock.isFrozen),
  };
}
