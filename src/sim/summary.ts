import { type DropReason, explain, type Warning } from "../model/outcome.ts";
import { isUnmatched } from "../model/unmatched.ts";
import type { Written } from "../store/traffic-log.ts";
import type { Finding, RequestSummary } from "./types.ts";

const namesShown = 5;

/** What happened in a request that is in the log now. */
export function summaryOf(
  { n, seq, entry }: Written,
  projectById: (id: number) => { name: string } | undefined,
): RequestSummary {
  const { note, method, target, status, ms, project } = entry;
  const facts = note.events ?? [];
  const nameOf = (i: number) => note.keys?.[i]?.event ?? "";
  const finding = (i: number, reason: DropReason | Warning): Finding => ({
    event: nameOf(i),
    reason,
    ...explain(reason),
  });
  const name = project === null ? undefined : projectById(project)?.name;
  const kept = facts.flatMap((it, i) => (it.dropped === undefined ? [nameOf(i)] : []));
  return {
    n,
    method,
    target,
    status,
    ms,
    project,
    ...(name !== undefined && { project_name: name }),
    ...(note.rejected && { rejected: note.rejected }),
    ...(isUnmatched(note) && { unmatched: true as const }),
    ...(note.fault !== undefined && { fault: note.fault }),
    ...(note.scripted && { scripted: note.scripted }),
    ...(note.source !== undefined && { source: note.source }),
    events: facts.length,
    since: seq - 1,
    names: kept.slice(0, namesShown),
    dropped: facts.flatMap((it, i) => (it.dropped === undefined ? [] : [finding(i, it.dropped)])),
    warnings: facts.flatMap((it, i) => (it.warnings ?? []).map((warning) => finding(i, warning))),
  };
}
