import { setImmediate as turn } from "node:timers/promises";
import type { Call } from "../../http/call.ts";
import { queryNumber } from "../../http/control-body.ts";
import { json, type Reply } from "../../http/reply.ts";
import type { ControlDesk } from "../../sim/control-desk.ts";
import { slice } from "../search.ts";
import { eventFilterIn, projectIn, requestFilterIn, scanned } from "./asked.ts";
import type { EventRow, RequestRow } from "./feed-row.ts";
import { eventSubject, requestSubject } from "./feed-rows.ts";
import type { History } from "./frames.ts";

type HistoryDesk = Pick<ControlDesk, "log" | "clock" | "feed">;

const most = Number.MAX_SAFE_INTEGER;
/** Of one call; who wants more asks again with `before`. */
const limits = { rows: 10_000, looked: 200_000, ms: 300 } as const;

/** Something that was looked at: its number, and its row if it passes. */
interface Looked<Row> {
  readonly number: number;
  readonly row: Row | undefined;
}

type Found<Row> = Pick<History<Row>, "rows" | "more" | "before">;

/** Takes rows until there are enough of them, or it took too long. */
async function take<Row>(source: Iterator<Looked<Row>>, limit: number): Promise<Found<Row>> {
  const until = performance.now() + limits.ms;
  const rows: Row[] = [];
  for (let looked = 1; ; looked++) {
    const next = source.next();
    if (next.done) return { rows, more: false, before: null };
    const { number, row } = next.value;
    if (row !== undefined) rows.push(row);
    const isEnough = rows.length === limit || looked === limits.looked;
    if (isEnough) return { rows, more: number > 1, before: number };
    if (looked % slice !== 0) continue;
    if (performance.now() > until) return { rows, more: true, before: number };
    await turn();
  }
}

function* lookAtEvents({ log, clock }: HistoryDesk, call: Call): Generator<Looked<EventRow>> {
  const filter = eventFilterIn(call);
  const before = queryNumber(call, "before", { min: 1, max: most }) ?? most;
  const within = scanned(filter, projectIn(call));
  const now = clock.now();
  const until = Math.min(before - 1, log.lastSeq);
  for (const { seq, line, index } of log.scan({ ...within, until, order: "desc" })) {
    const subject = eventSubject(line, index);
    yield { number: seq, row: filter.test(subject, now) ? subject.row : undefined };
  }
}

function* lookAtRequests({ log, clock }: HistoryDesk, call: Call): Generator<Looked<RequestRow>> {
  const filter = requestFilterIn(call);
  const before = queryNumber(call, "before", { min: 1, max: most }) ?? most;
  const project = projectIn(call) ?? filter.indexed.project;
  const { rejected } = filter.indexed;
  const now = clock.now();
  const numbers = log.requests({
    before: Math.min(before, log.lastRequest + 1),
    ...(project !== undefined && { project }),
    ...(rejected !== undefined && { rejected }),
  });
  for (const n of numbers) {
    const head = log.head(n);
    const subject = head && requestSubject(head, () => log.line(n));
    yield { number: n, row: subject && filter.test(subject, now) ? subject.row : undefined };
  }
}

/** Answers with rows, and with where a subscription goes on: what came while it looked is for that. */
const history =
  <Row>(look: (desk: HistoryDesk, call: Call) => Generator<Looked<Row>>) =>
  async (desk: HistoryDesk, call: Call): Promise<Reply> => {
    const limit = queryNumber(call, "limit", { min: 1, max: limits.rows }) ?? 100;
    const { epoch, cursor } = await desk.feed();
    const found = await take(look(desk, call), limit);
    return json({ epoch, cursor, ...found } satisfies History<Row>);
  };

export const eventHistory = history(lookAtEvents);
export const requestHistory = history(lookAtRequests);
