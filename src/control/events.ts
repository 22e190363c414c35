import type { Call } from "../http/call.ts";
import type { Endpoint } from "../http/endpoint.ts";
import { json } from "../http/reply.ts";
import { SimError } from "../kernel/errors.ts";
import type { StoredEvent } from "../model/event.ts";
import type { EventFilter } from "../store/traffic-log.ts";
import { pathNumber, queryChoice, queryNumber, queryObject } from "./body.ts";
import type { ControlDesk } from "./desk.ts";
import { checkPattern, searchEvents } from "./search.ts";

const most = Number.MAX_SAFE_INTEGER;
const defaultPage = 100;
const largestPage = 10_000;

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

export const eventEndpoints = (desk: ControlDesk): Endpoint[] => [
  {
    methods: ["GET"],
    path: "/__sim/events",
    family: "control",
    summary:
      "Events in order of arrival: project, event, distinct_id, outcome, since, until, where, order, limit",
    async handle(call) {
      const limit = queryNumber(call, "limit", { min: 1, max: largestPage }) ?? defaultPage;
      const where = queryObject(call, "where");
      checkPattern(where, "?where");
      const filter = filterOf(call);
      const events: StoredEvent[] = [];
      let more = false;
      for await (const event of searchEvents(desk.log, filter, where)) {
        if (events.length === limit) {
          more = true;
          break;
        }
        events.push(event);
      }
      // With more to come the next page starts after the last one shown; otherwise after all there is.
      const cursor = more ? (events.at(-1)?.seq ?? 0) : desk.log.lastSeq;
      return json({ events, cursor, more });
    },
  },
  {
    methods: ["DELETE"],
    path: "/__sim/events",
    family: "control",
    summary: "Clears the events of one project or of all; persons stay, numbering goes on",
    async handle(call) {
      const project = queryNumber(call, "project", { min: 0, max: most });
      const cleared = desk.log.clearEvents(project);
      await desk.log.written();
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
