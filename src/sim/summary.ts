import { shortageOf, storageTrouble } from "../kernel/base/errors.ts";
import { performance } from "../kernel/base/real-time.ts";
import { type DropReason, explain, type Warning } from "../state/journal/drop-reasons.ts";
import type { Written } from "../state/journal/log/traffic-log.ts";
import type { Finding, RequestSummary } from "../state/journal/request-summary.ts";
import { isUnmatched } from "../state/journal/unmatched.ts";

export function summaryOf(
  { n, seq, entry }: Written,
  projectById: (id: number) => { name: string } | undefined,
): RequestSummary {
  const { record, method, target, status, ms, project } = entry;
  const facts = record.events ?? [];
  const nameOf = (i: number) => record.keys?.[i]?.event ?? "";
  const finding = (i: number, reason: DropReason | Warning): Finding => {
    const { sentence, fix } = explain(reason);
    // the detail is the result and its reason
    const result = reason === "scripted_result" ? ` (${facts[i]?.detail})` : "";
    return { event: nameOf(i), reason, sentence: `${sentence}${result}`, fix };
  };
  const name = project === null ? undefined : projectById(project)?.name;
  const kept = facts.flatMap((it, i) => (it.dropped === undefined ? [nameOf(i)] : []));
  return {
    n,
    at: entry.at,
    method,
    target,
    status,
    ms,
    project,
    ...(name !== undefined && { project_name: name }),
    ...(record.rejected && { rejected: record.rejected }),
    ...(isUnmatched(record) && { unmatched: true as const }),
    ...(record.fault !== undefined && { fault: record.fault }),
    ...(record.scripted && { scripted: record.scripted }),
    ...(record.source !== undefined && { source: record.source }),
    events: facts.length,
    since: seq - 1,
    names: kept,
    warned: facts.filter((it) => it.dropped === undefined && it.warnings !== undefined).length,
    dropped: facts.flatMap((it, i) => (it.dropped === undefined ? [] : [finding(i, it.dropped)])),
    warnings: facts.flatMap((it, i) => (it.warnings ?? []).map((warning) => finding(i, warning))),
  };
}

/** While the disk refuses writes, one line for this time, ms: every request would have one. */
const quiet = 10_000;

export function createRefusals(
  { folder, notice }: { folder: string | null; notice: (text: string) => void },
  now: () => number = () => performance.now(),
): (error: unknown) => void {
  let refused = 0;
  let reported = Number.NEGATIVE_INFINITY;
  return (error) => {
    refused++;
    if (now() - reported < quiet) return;
    const shortage = shortageOf(error);
    const why = shortage
      ? `${shortage[0]} (${error instanceof Error ? error.message : String(error)}): ${shortage[1]}; requests are refused with 503`
      : `the data folder ${folder ?? ""} cannot be written: ${storageTrouble(error) ?? "the disk refuses it"}; requests are refused with 503 and change nothing`;
    notice(`${why}${refused === 1 ? "" : ` (${refused} since the last report)`}`);
    reported = now();
    refused = 0;
  };
}
