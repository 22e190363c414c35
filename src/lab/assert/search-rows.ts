import { z } from "zod";
import { isObject, isTooDeep, type JsonObject, parsedJson, pointerTo } from "../../kernel/base/json.ts";
import type { Call } from "../../kernel/http/call.ts";
import { row } from "../../kernel/http/row.ts";
import { parseShape } from "../../kernel/http/shape-errors.ts";
import { slice } from "../../kernel/http/slice.ts";
import { eventSubject } from "../../state/journal/feed/make-rows.ts";
import type { EventSubject, Filter } from "../../state/journal/filter/types.ts";
import { everything, indexedPart, parseEventFilter } from "../../state/journal/filter-parameter.ts";
import type { EventFilter } from "../../state/journal/log/traffic-log.ts";
import {
  EventListQuery,
  Limit,
  OfProject,
  Order,
  Outcome,
  SinceSeq,
  UntilSeq,
} from "../../state/journal/query-shapes.ts";
import { createBudget, examineEvents } from "../../state/journal/search.ts";
import { showEvent } from "../../state/journal/show.ts";
import { EventPage, type StoredEvent } from "../../state/journal/stored-event.ts";
import type { TrafficLine } from "../../state/journal/traffic.ts";
import { indexFilter } from "./dispatcher.ts";
import { arrivalOf } from "./event-watch.ts";
import { fitsEvent } from "./match/evaluate.ts";
import type { AssertingPorts, AssertPorts } from "./ports.ts";
import { EventPattern, patternLanguage, patternOf } from "./shapes.ts";

/** Not a record: zod would leave out the key `__proto__`, which is a mistake in a pattern. */
const PatternText = z
  .string()
  .transform((text, context): JsonObject | undefined => {
    const value = text === "" ? {} : parsedJson(text);
    if (isObject(value) && !isTooDeep(value)) return value;
    const detail = '"where" must be a JSON object';
    const hint = 'for example where={"properties":{"plan":"pro"}}';
    context.addIssue({ code: "custom", message: detail, params: { detail, hint } });
    return undefined;
  })
  .describe(`${patternLanguage}; as JSON`);

const ListQuery = EventListQuery.extend({ where: PatternText.optional() });

const SearchRequest = z.strictObject({
  match: EventPattern.nullish(),
  project: OfProject.nullish(),
  outcome: Outcome.nullish(),
  since: SinceSeq.nullish(),
  until: UntilSeq.nullish(),
  order: Order.nullish(),
  limit: Limit.nullish().describe("Maximum number of results (default: 100)"),
});

interface EventSelection {
  readonly within: EventFilter;
  readonly where: JsonObject | undefined;
  readonly filter: Filter<EventSubject>;
}

const passes = ({ clock }: AssertPorts, { filter }: EventSelection, line: TrafficLine, index: number) =>
  filter === everything || filter.test(eventSubject(line, index), clock.now());

async function pageOf(ports: AssertPorts, selection: EventSelection, limit: number): Promise<EventPage> {
  const { within, where, filter } = selection;
  // events that arrive during the search are for the next page: the cursor must not pass them
  const end = ports.log.lastSeq;
  const until = Math.min(within.until ?? end, end);
  const scan = { ...(where && indexFilter(where)), ...indexedPart(filter), ...within, until };
  const events: StoredEvent[] = [];
  const isSpent = createBudget();
  let last = 0;
  const match = (line: TrafficLine, index: number) => {
    const event = passes(ports, selection, line, index) ? showEvent(line, index) : undefined;
    return event && (where === undefined || fitsEvent(where, event)) ? event : undefined;
  };
  for await (const { seq, event, size } of examineEvents(ports.log, scan, match)) {
    // with more events the next page starts after the last one examined, otherwise after all
    if (event && events.length === limit) return { events, cursor: last, more: true };
    if (event) events.push(event);
    last = seq;
    if (isSpent(size)) return { events, cursor: last, more: true };
  }
  return { events, cursor: end, more: false };
}

interface PageRequest {
  readonly limit: number;
  readonly ms: number;
  readonly call: Call;
}

async function listWithin(
  ports: AssertPorts,
  selection: EventSelection,
  { limit, ms, call }: PageRequest,
): Promise<EventPage> {
  if (ms === 0) return pageOf(ports, selection, limit);
  const { within, where = {}, filter } = selection;
  const arrival = arrivalOf(ports, { ...indexedPart(filter), ...within }, where, ({ request, seq }) => {
    const line = ports.log.line(request);
    return line !== undefined && passes(ports, selection, line, seq - (line.seq ?? seq));
  });
  try {
    const page = await pageOf(ports, selection, limit);
    const { until = Number.MAX_SAFE_INTEGER } = within;
    if (page.events.length > 0 || page.more || page.cursor >= until) return page;
    return (await arrival.within(ms, call.signal)) ? await pageOf(ports, selection, limit) : page;
  } finally {
    arrival.close();
  }
}

export const searchSlice = slice(["asserting"], ({ asserting: ports }: AssertingPorts) => [
  row({
    method: "GET",
    path: "/__sim/events",
    access: "control",
    summary: "Lists events in order of arrival",
    query: ListQuery,
    reply: EventPage,
    handle({ query: { where, filter, limit, wait_ms: ms, ...within }, call }) {
      if (where) parseShape(EventPattern, where, (path) => `?where${pointerTo(path)}`);
      const selection = { within, where, filter: parseEventFilter(filter) };
      return listWithin(ports, selection, { limit, ms, call });
    },
  }),
  row({
    method: "POST",
    path: "/__sim/events/search",
    access: "control",
    summary: "Lists events that match a pattern, in order of arrival",
    body: SearchRequest,
    reply: EventPage,
    handle({ body: { match, limit, project, outcome, since, until, order } }) {
      const within = {
        project: project ?? undefined,
        outcome: outcome ?? undefined,
        since: since ?? undefined,
        until: until ?? undefined,
        order: order ?? undefined,
      };
      const where = match === undefined || match === null ? undefined : patternOf(match);
      return pageOf(ports, { within, where, filter: everything }, limit ?? 100);
    },
  }),
]);
