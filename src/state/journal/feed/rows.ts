import { setImmediate as turn } from "node:timers/promises";
import { z } from "zod";
import { SimError } from "../../../kernel/base/errors.ts";
import { performance } from "../../../kernel/base/real-time.ts";
import { row } from "../../../kernel/http/row.ts";
import { slice } from "../../../kernel/http/slice.ts";
import { indexedPart, parseEventFilter, parseRequestFilter } from "../filter-parameter.ts";
import { FilterText, OfProject, SinceSeq } from "../query-shapes.ts";
import type { Feed } from "./feed.ts";
import {
  EventHistory,
  EventHistoryQuery,
  type EventRow,
  type History,
  HistoryQuery,
  RequestHistory,
  type RequestRow,
} from "./feed-row.ts";
import { eventRowOf, eventSubject, passedRequest } from "./make-rows.ts";
import { createStreams, lastSeen, type StreamPorts } from "./stream.ts";

export interface FeedRowPorts extends StreamPorts {
  feed(): Promise<Pick<Feed, "epoch" | "cursor">>;
}

/** Limits of one call; the next page continues with `before`. */
const limits = { examined: 200_000, ms: 300 } as const;
const sliceMs = 8;

interface Examined<Row> {
  readonly number: number;
  readonly row: Row | undefined;
}

/** Collects rows until there are enough of them, or it took too long. */
async function take<Row>(
  source: Iterable<Examined<Row> | undefined>,
  limit: number,
): Promise<Pick<History<Row>, "rows" | "more" | "before">> {
  const until = performance.now() + limits.ms;
  let pause = performance.now() + sliceMs;
  const rows: Row[] = [];
  let examined = 0;
  for (const it of source) {
    if (!it) {
      await turn();
      pause = performance.now() + sliceMs;
      continue;
    }
    const { number, row } = it;
    examined++;
    if (row !== undefined) rows.push(row);
    const isEnough = rows.length === limit || examined === limits.examined;
    if (isEnough) return { rows, more: number > 1, before: number };
    const now = performance.now();
    if (now > until) return { rows, more: true, before: number };
    if (now < pause) continue;
    await turn();
    pause = performance.now() + sliceMs;
  }
  return { rows, more: false, before: null };
}

function* examineEvents(
  { log, clock }: FeedRowPorts,
  query: EventHistoryQuery,
): Generator<Examined<EventRow> | undefined> {
  const filter = parseEventFilter(query.filter);
  const now = clock.now();
  const until = Math.min((query.before ?? Number.POSITIVE_INFINITY) - 1, log.lastSeq);
  const within = { ...indexedPart(filter, query.project), until, order: "desc" as const };
  for (const ref of log.scanInSteps(within)) {
    if (!ref) {
      yield undefined;
      continue;
    }
    const { seq, line, index } = ref;
    const subject = eventSubject(line, index);
    const row = filter.test(subject, now) ? eventRowOf(subject.row, line, query.columns) : undefined;
    yield { number: seq, row };
  }
}

function* examineRequests(
  { log, clock }: FeedRowPorts,
  query: HistoryQuery,
): Generator<Examined<RequestRow> | undefined> {
  const filter = parseRequestFilter(query.filter);
  const { rejected } = filter.indexed;
  const project = query.project ?? filter.indexed.project;
  const now = clock.now();
  const numbers = log.requests({
    before: Math.min(query.before ?? Number.POSITIVE_INFINITY, log.lastRequest + 1),
    ...(project !== undefined && { project }),
    ...(rejected !== undefined && { rejected }),
  });
  for (const n of numbers) {
    const head = log.head(n);
    yield { number: n, row: head && (yield* passedRequest(log, head, filter, now)) };
  }
}

/** The endpoints of the live feed. The websocket itself is opened by the server (server/inspect-socket.ts). */
export const feedSlice = slice(["log", "clock", "closing", "feed"], (ports: FeedRowPorts) => {
  /** The cursor is read first: a subscription with it gets what arrives during the search. */
  const positionOf = async () => {
    const { epoch, cursor } = await ports.feed();
    return { epoch, cursor };
  };
  const streamEvents = createStreams(ports);
  return [
    row({
      method: "GET",
      path: "/__sim/feed/events",
      access: "control",
      summary: "Lists rows of events, newest first",
      query: EventHistoryQuery,
      reply: EventHistory,
      handle: async ({ query }) => ({
        ...(await positionOf()),
        ...(await take(examineEvents(ports, query), query.limit)),
      }),
    }),
    row({
      method: "GET",
      path: "/__sim/feed/requests",
      access: "control",
      summary: "Lists rows of requests, newest first",
      query: HistoryQuery,
      reply: RequestHistory,
      handle: async ({ query }) => ({
        ...(await positionOf()),
        ...(await take(examineRequests(ports, query), query.limit)),
      }),
    }),
    row({
      method: "GET",
      path: "/__sim/events/stream",
      access: "control",
      summary: "Sends events as they arrive, as server-sent events",
      query: z.strictObject({
        filter: FilterText.optional(),
        project: OfProject.optional(),
        since: SinceSeq.optional().describe(
          "Only events after this seq, or the one in Last-Event-ID (default: from now on)",
        ),
      }),
      replies: {
        200: {
          description:
            "Events: `id` is the seq, `data` the event as JSON; `gap` names evicted events, `closed` why the client is disconnected. The token, if needed, is sent in a header, which fetch can do and a browser's EventSource cannot",
          type: "text/event-stream",
        },
      },
      errors: [429],
      handle({ query: { filter, project, since }, call }) {
        const selection = { filter: parseEventFilter(filter), project };
        return streamEvents(call, selection, lastSeen(call) ?? since ?? ports.log.lastSeq);
      },
    }),
    row({
      method: "GET",
      path: "/__sim/ws",
      access: "control",
      summary: "Opens the live feed of rows over a websocket",
      status: 101,
      errors: [426],
      handle() {
        throw new SimError("upgrade_required", "the feed speaks websocket", {
          hint: "open it with a websocket client, directly and without a proxy; GET /__sim/events/stream needs none",
        });
      },
    }),
  ];
});
