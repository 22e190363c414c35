import { counted } from "../../kernel/base/text.ts";
import { explain, type ReasonText } from "../../state/journal/drop-reasons.ts";
import type { RequestInFull } from "../../state/journal/request-shapes.ts";
import type { EventPage } from "../../state/journal/stored-event.ts";
import { noTests } from "./run-report.ts";
import type { VerdictSection } from "./shapes.ts";

export interface ResultCount extends ReasonText {
  /** `drop` or `retry`. */
  readonly result: string;
  /** The reason in the response. */
  readonly details: string;
  readonly count: number;
  /** Number of the events with the result `retry` that did not arrive again. */
  readonly lost: number;
}

/** A call of the control API: `path` below /__sim. */
export type ResultsCall = <Reply>(method: "GET" | "POST", path: string, body?: object) => Promise<Reply>;

/** Dropped events that are read, and their requests. */
const mostEvents = 1_000;
const mostRequests = 200;

/** Dropped events of capture v1, the newest first. */
const droppedPath = `events?outcome=dropped&filter=${encodeURIComponent("route:/i/v1/*")}&order=desc&limit=${mostEvents}`;

async function settledOf(call: ResultsCall, uuids: readonly string[]): Promise<ReadonlySet<string | null>> {
  const settled = new Set<string | null>();
  const match = { uuid: { "@in": uuids } };
  for (let since = 0, more = uuids.length > 0; more; ) {
    const page = await call<EventPage>("POST", "events/search", { match, since, limit: mostEvents });
    for (const { uuid, reason, detail } of page.events)
      if (reason !== "scripted_result" || detail?.startsWith("retry:") !== true) settled.add(uuid);
    since = page.cursor;
    more = page.more;
  }
  return settled;
}

export async function resultCounts(call: ResultsCall): Promise<ResultCount[]> {
  const { events } = await call<EventPage>("GET", droppedPath);
  const reasons = new Map(events.map(({ request, uuid, reason }) => [`${request} ${uuid}`, reason]));
  const groups = new Map<string, ReasonText & { result: string; details: string; uuids: Set<string> }>();
  for (const n of [...new Set(events.map(({ request }) => request))].slice(0, mostRequests)) {
    const { results } = await call<RequestInFull>("GET", `requests/${n}`);
    for (const { uuid, result, details: given } of results ?? []) {
      const reason = reasons.get(`${n} ${uuid}`);
      if (result === "ok" || !reason) continue;
      const details = given ?? "";
      const key = `${result} ${details}`;
      const group = groups.get(key) ?? { ...explain(reason), result, details, uuids: new Set<string>() };
      group.uuids.add(uuid);
      groups.set(key, group);
    }
  }
  const retried = [...groups.values()].filter(({ result }) => result === "retry");
  const settled = await settledOf(call, [...new Set(retried.flatMap(({ uuids }) => [...uuids]))]);
  return [...groups.values()].map(({ uuids, ...it }) => ({
    ...it,
    count: uuids.size,
    lost: it.result === "retry" ? [...uuids].filter((uuid) => !settled.has(uuid)).length : 0,
  }));
}

const lostFix = "keep the process alive until the SDK has sent them again";

export const resultText = ({ sentence, fix, lost }: ResultCount): ReasonText =>
  lost > 0
    ? { sentence: `${sentence}; ${counted(lost, "event")} did not arrive again`, fix: lostFix }
    : { sentence, fix };

export function resultSection(counts: readonly ResultCount[]): VerdictSection | undefined {
  if (counts.length === 0) return undefined;
  return {
    name: "result",
    title: "capture v1",
    failed: false,
    summary: counts
      .map(({ count, result, details }) => `${result} (${details}) for ${counted(count, "event")}`)
      .join(", "),
    total: counts.reduce((sum, { count }) => sum + count, 0),
    items: counts.map((it) => ({
      ...{ code: it.details, what: it.result, ...resultText(it), count: it.count },
      tests: noTests,
    })),
    left_out: 0,
    text: null,
  };
}
