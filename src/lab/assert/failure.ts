import { type ErrorCode, SimError } from "../../kernel/base/errors.ts";
import type { EventFilter } from "../../state/journal/log/traffic-log.ts";
import { joinSignals } from "./event-watch.ts";
import type { Evaluation } from "./match/evaluate.ts";
import { reportOf } from "./match/failure-report.ts";
import type { Complaint } from "./match/report-shapes.ts";
import type { Pattern, Terms, Verdict } from "./match/types.ts";
import type { AssertPorts } from "./ports.ts";
import { type LogScope, type ReportSubject, surroundingsOf } from "./surroundings.ts";

export interface Wait {
  terms: Terms;
  scope: LogScope;
  outcome: "kept" | "dropped";
  timeout: number;
  /** First line of the report. */
  title: string;
}

interface Failed {
  wait: Wait;
  evaluation: Evaluation;
  waited: number;
  /** The sim's address as the caller knows it. */
  url: string;
  /** Ends when the caller goes away or the sim closes. */
  gone: AbortSignal;
  /** Events with keys that no project has. */
  shared?: readonly Complaint[];
}

/** Time for requests in flight to end, ms: the report then shows that their events came too late. */
const grace = 250;

async function letEnd({ gauge }: AssertPorts, project: number | undefined, gone: AbortSignal): Promise<void> {
  if (gauge.inFlightOf(project) === 0) return;
  const over = joinSignals([gone], grace);
  await gauge.drained(over.signal, project).catch(() => {});
  over.release();
}

function firstMissed({ complaints }: Verdict, { expect }: Terms): Pattern | undefined {
  for (const complaint of complaints) if ("expectation" in complaint) return expect[complaint.expectation]?.match;
  return undefined;
}

/** Remembers missing events, which can still come. */
function remember({ lateEvents }: AssertPorts, { scope, outcome, terms }: Wait, verdict: Verdict): void {
  for (const complaint of verdict.complaints) {
    if (complaint.kind !== "too_few") continue;
    lateEvents.remember({ match: terms.expect[complaint.expectation]?.match, ...scope, outcome });
  }
}

/** The error with the report. Waits a little for requests in flight. */
export async function failure(
  ports: AssertPorts,
  code: Extract<ErrorCode, "wait_timeout" | "expectation_failed">,
  { wait, evaluation, gone, url, waited: elapsed, shared = [] }: Failed,
): Promise<SimError> {
  const { log, closing, clock, recent } = ports;
  const { terms, title, scope, outcome, timeout } = wait;
  const waited = Math.round(elapsed);
  const cursor = log.lastSeq;
  const data = { waited_ms: waited, cursor };
  if (gone.aborted) {
    const detail = closing.aborted ? "the sim is closing" : "the caller went away";
    return new SimError(code, detail, { data });
  }
  const endedAt = clock.now();
  const evaluated = evaluation.verdict();
  const verdict = { ...evaluated, complaints: [...evaluated.complaints, ...shared] };
  if (timeout > 0) await letEnd(ports, scope.project, gone);
  const match = firstMissed(verdict, terms);
  const subject: ReportSubject = { match, scope, outcome, until: cursor, endedAt, waited, url };
  const { project, since } = scope;
  const filter: EventFilter = { since, until: cursor, project };
  const report = reportOf({
    title,
    terms,
    verdict,
    kept: await recent.events({ ...filter, outcome: "kept" }),
    dropped: await recent.events({ ...filter, outcome: "dropped" }),
    surroundings: await surroundingsOf(ports, subject),
  });
  if (timeout > 0 && report.late.length === 0 && !gone.aborted) remember(ports, wait, verdict);
  const [detail = ""] = report.text.split("\n", 1);
  return new SimError(code, detail, { data: { ...data, report } });
}
