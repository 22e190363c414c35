import { type ErrorCode, SimError } from "../base/errors.ts";
import type { StoredEvent } from "../journal/event.ts";
import type { EventFilter } from "../journal/log/traffic-log.ts";
import type { AssertDesk } from "./desk.ts";
import { judge } from "./match/judge.ts";
import { reportOf } from "./match/report.ts";
import type { Pattern, Report, Terms, Verdict } from "./match/types.ts";
import { reach } from "./requests-seen.ts";
import { type About, newest, surroundingsOf } from "./surroundings.ts";
import type { Wish } from "./wish.ts";

/** What was wanted, and what came of it. */
export interface Outcome {
  wish: Wish;
  /** The events that the terms are about. */
  events: readonly StoredEvent[];
  waited: number;
  /** The sim's address as the caller knows it. */
  url: string;
  /** Ends when the caller goes away or the sim closes. */
  gone: AbortSignal;
}

/** Requests in flight get so long to end, ms: what they bring came too late, and the report can say so. */
const grace = 250;

async function letEnd({ gauge }: AssertDesk, project: number | undefined, gone: AbortSignal): Promise<void> {
  if (gauge.inFlightOf(project) === 0) return;
  const limit = new AbortController();
  const end = () => limit.abort();
  const timer = setTimeout(end, grace);
  gone.addEventListener("abort", end);
  await gauge.drained(limit.signal, project).catch(() => {});
  clearTimeout(timer);
  gone.removeEventListener("abort", end);
}

/** The pattern of the first expectation that failed. */
function firstMissed({ complaints }: Verdict, { expect }: Terms): Pattern | undefined {
  for (const complaint of complaints)
    if ("expectation" in complaint) return expect[complaint.expectation]?.match;
  return undefined;
}

async function reportFor(desk: AssertDesk, { wish, events }: Outcome, about: About): Promise<Report> {
  const { terms, title } = wish;
  const { project, since } = wish.scope;
  const filter: EventFilter = { since, until: about.until, ...(project !== undefined && { project }) };
  const any = () => true;
  return reportOf({
    title,
    terms,
    verdict: judge(terms, events),
    kept: await newest(desk.log, { ...filter, outcome: "kept" }, any, reach),
    dropped: await newest(desk.log, { ...filter, outcome: "dropped" }, any, reach),
    surroundings: await surroundingsOf(desk, about),
  });
}

/** Too little can still come: then it is said. */
function regret(desk: AssertDesk, { wish }: Outcome, verdict: Verdict): void {
  if (wish.timeout === 0) return;
  const { scope, outcome, terms } = wish;
  for (const complaint of verdict.complaints) {
    if (complaint.kind !== "too_few") continue;
    desk.regrets.remember({ match: terms.expect[complaint.expectation]?.match, scope, outcome });
  }
}

/** The error that says what came instead; it waits a little for what is on its way. */
export async function failure(
  desk: AssertDesk,
  code: Extract<ErrorCode, "wait_timeout" | "expectation_failed">,
  outcome: Outcome,
): Promise<SimError> {
  const { wish, events, gone, url } = outcome;
  const waited = Math.round(outcome.waited);
  const cursor = desk.log.lastSeq;
  const data = { waited_ms: waited, cursor };
  if (gone.aborted) {
    const detail = desk.closing.aborted ? "the sim is closing" : "the caller went away";
    return new SimError(code, detail, { data });
  }
  const endedAt = desk.clock.now();
  const verdict = judge(wish.terms, events);
  if (wish.timeout > 0) await letEnd(desk, wish.scope.project, gone);
  const match = firstMissed(verdict, wish.terms);
  const { scope } = wish;
  const about: About = { match, scope, outcome: wish.outcome, until: cursor, endedAt, waited, url };
  const report = await reportFor(desk, outcome, about);
  if (report.late.length === 0 && !gone.aborted) regret(desk, outcome, verdict);
  const [detail = ""] = report.text.split("\n", 1);
  return new SimError(code, detail, { data: { ...data, report } });
}
