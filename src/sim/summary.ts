import type { Written } from "../journal/log/traffic-log.ts";
import { type DropReason, explain, type Warning } from "../journal/outcome.ts";
import { isUnmatched } from "../journal/unmatched.ts";
import type { Finding, RequestSummary } from "./types.ts";

/** What happened in a request that is in the log now. */
export function summaryOf(
  { n, seq, entry }: Written,
  projectById: (id: number) => { name: string } | undefined,
): RequestSummary {
  const { record, method, target, status, ms, project } = entry;
  const facts = record.events ?? [];
  const nameOf = (i: number) => record.keys?.[i]?.event ?? "";
  const finding = (i: number, reason: DropReason | Warning): Finding => ({
    event: nameOf(i),
    reason,
    ...explain(reason),
  });
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
