import { arrivalOf } from "../assert/event-watch.ts";
import { EventPattern } from "../assert/pattern-shape.ts";
import type { AssertPorts } from "../assert/ports.ts";
import { searchBody } from "../assert/search-body.ts";
import { SimError } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";
import { pointerTo } from "../base/json-pointer.ts";
import type { Call } from "../http/call.ts";
import { bodyOf, pathNumber, queryChoice, queryNumber, queryObject } from "../http/control-body.ts";
import type { Endpoint } from "../http/endpoint.ts";
import { json, type Reply } from "../http/reply.ts";
import { parseShape } from "../http/shape-errors.ts";
import type { ControlDesk } from "../sim/control-desk.ts";
import type { StoredEvent } from "./event.ts";
import { eventSubject } from "./feed/feed-rows.ts";
import type { EventSubject, Filter } from "./filter/types.ts";
import { indexedEvents, queryEventFilter } from "./filter-parameter.ts";
import type { EventFilter } from "./log/traffic-log.ts";
import { createBudget, lookAtEvents, searchEvents } from "./search.ts";
import type { TrafficLine } from "./traffic.ts";

const most = Number.MAX_SAFE_INTEGER;
const defaultPage = 100;
const largestPage = 10_000;
/** A list that waits never holds a connection longer than this, ms. */
const longestWait = 60_000;

/** The filter of a list call; absent parameters do not restrict. */
function filterOf(call: Call): EventFilter {
  const filter: EventFilter = {};
  const project = queryNumber(call, "project", { min: 0, max: most });
  const outcome = queryChoice(call, "outcome", ["kept", "dropped"] as const);
  const since = queryNumber(call, "since", { min: 0, max: most });
  const until = queryNumber(call, "until", { min: 0, max: most });
  const order = queryChoice(call, "order", ["asc", "desc"] as const);
  const event = call.query.get("event");
  const distinctId = call.query.get("distinct_id");
  if (project !== undefined) filter.project = project;
  if (outcome !== undefined) filter.outcome = outcome;
  if (since !== undefined) filter.since = since;
  if (until !== undefined) filter.until = until;
  if (order !== undefined) filter.order = order;
  if (event !== null) filter.event = event;
  if (distinctId !== null) filter.distinct_id = distinctId;
  return filter;
}

/** What a list call asks for. */
interface Asked {
  filter: EventFilter;
  where?: JsonObject | undefined;
  /** In the filter's grammar. */
  wanted?: Filter<EventSubject> | undefined;
  limit: number;
}

interface Page {
  events: StoredEvent[];
  cursor: number;
  more: boolean;
}

/** Does the filter want an event of a line? */
const wantedBy =
  ({ clock }: AssertPorts, wanted: Asked["wanted"]) =>
  (line: TrafficLine, index: number): boolean =>
    wanted === undefined || wanted.test(eventSubject(line, index), clock.now());

async function pageOf(desk: AssertPorts, { filter, where, wanted, limit }: Asked): Promise<Page> {
  // What comes while this is looking is for the next page: the cursor must not pass it.
  const { log } = desk;
  const end = log.lastSeq;
  const until = Math.min(filter.until ?? end, end);
  const scan = { ...indexedEvents(wanted), ...filter, until };
  const events: StoredEvent[] = [];
  const isSpent = createBudget();
  let last = 0;
  for await (const { seq, event, size } of lookAtEvents(log, scan, where, wantedBy(desk, wanted))) {
    // With more to come the next page starts after the last one looked at; otherwise after all there is.
    if (event && events.length === limit) return { events, cursor: last, more: true };
    if (event) events.push(event);
    last = seq;
    if (isSpent(size)) return { events, cursor: last, more: true };
  }
  return { events, cursor: end, more: false };
}

/** The list as soon as there is something to list, at the latest after `ms`. */
async function listWithin(desk: AssertPorts, asked: Asked, ms: number, call: Call): Promise<Page> {
  const { filter, where = {}, wanted } = asked;
  if (ms === 0) return pageOf(desk, asked);
  const isWanted = wantedBy(desk, wanted);
  const arrival = arrivalOf(desk, { ...indexedEvents(wanted), ...filter }, where, ({ request, seq }) => {
    const line = desk.log.line(request);
    return line !== undefined && isWanted(line, seq - (line.seq ?? seq));
  });
  try {
    const page = await pageOf(desk, asked);
    const isOver = page.events.length > 0 || page.more || page.cursor >= (filter.until ?? most);
    if (isOver || !(await arrival.within(ms, call.signal))) return page;
    return await pageOf(desk, asked);
  } finally {
    arrival.close();
  }
}

type EventDesk = AssertPorts & Pick<ControlDesk, "snapshots" | "switchTo">;

/** Deletes requests and events for good: numbers go on. */
function compact({ log, snapshots, switchTo }: EventDesk, project: number | undefined): Reply {
  if (project !== undefined)
    throw new SimError("invalid_input", "compact=true deletes the requests of all projects", {
      pointer: "?project",
      hint: "leave out project, or leave out compact to hide the events of one project",
    });
  const names = snapshots.list().map((it) => it.name);
  if (names.length > 0)
    throw new SimError("conflict", `snapshots need these events: ${names.join(", ")}`, {
      hint: "delete the snapshots first (DELETE /__sim/snapshots/{name}), or clear without compact",
    });
  const { events } = log.counts();
  switchTo([log.replacing([], false)]);
  return json({ cleared: events, cursor: log.lastSeq });
}

export const eventEndpoints = (desk: EventDesk): Endpoint[] => [
  {
    methods: ["GET"],
    path: "/__sim/events",
    family: "control",
    summary:
      "Events in order of arrival: project, event, distinct_id, outcome, since, until, where, filter, order, limit, wait_ms",
    async handle(call) {
      const limit = queryNumber(call, "limit", { min: 1, max: largestPage }) ?? defaultPage;
      const where = queryObject(call, "where");
      if (where) parseShape(EventPattern, where, (path) => `?where${pointerTo(path)}`);
      const filter = filterOf(call);
      const wanted = queryEventFilter(call);
      const wait = queryNumber(call, "wait_ms", { min: 0, max: longestWait }) ?? 0;
      return json(await listWithin(desk, { filter, where, wanted, limit }, wait, call));
    },
  },
  {
    methods: ["POST"],
    path: "/__sim/events/search",
    family: "control",
    summary: "The same by a body: match, project, outcome, since, until, order, limit",
    handle: async (call) => json(await pageOf(desk, searchBody(bodyOf(call), { defaultPage }))),
  },
  {
    methods: ["DELETE"],
    path: "/__sim/events",
    family: "control",
    summary:
      "Clears the events of one project or of all; persons stay, numbering goes on. compact=true deletes all requests, too, and frees their space",
    async handle(call) {
      const project = queryNumber(call, "project", { min: 0, max: most });
      if (queryChoice(call, "compact", ["true", "false"] as const) === "true") return compact(desk, project);
      const cleared = desk.log.clearEvents(project);
      return json({ cleared, cursor: desk.log.lastSeq });
    },
  },
  {
    methods: ["GET"],
    path: "/__sim/events/:seq",
    family: "control",
    summary: "One event by its seq",
    async handle(call) {
      const seq = pathNumber(call, "seq", "event");
      for await (const event of searchEvents(desk.log, { since: seq - 1, until: seq })) return json(event);
      throw new SimError("not_found", `there is no event ${seq}`);
    },
  },
];
