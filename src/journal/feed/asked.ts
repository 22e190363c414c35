import type { Call } from "../../http/call.ts";
import { queryNumber } from "../../http/control-body.ts";
import type { EventSubject, Filter, RequestSubject } from "../filter/types.ts";
import { indexedEvents, queryEventFilter, queryRequestFilter } from "../filter-parameter.ts";
import type { EventFilter } from "../log/traffic-log.ts";

const most = Number.MAX_SAFE_INTEGER;

const everything: Filter<unknown> = {
  text: "",
  isLight: true,
  indexed: {},
  isIndexed: true,
  isTimed: false,
  test: () => true,
};

/** The filter of a call about events. @throws SimError invalid_input, with all problems */
export const eventFilterIn = (call: Call, name?: string): Filter<EventSubject> =>
  queryEventFilter(call, name) ?? everything;

/** The same of requests. @throws SimError invalid_input, with all problems */
export const requestFilterIn = (call: Call, name?: string): Filter<RequestSubject> =>
  queryRequestFilter(call, name) ?? everything;

/** Only this project's. @throws SimError invalid_input */
export const projectIn = (call: Call): number | undefined =>
  queryNumber(call, "project", { min: 0, max: most });

/** What the log's index is asked for; the filter itself looks at the rest. */
export const scanned = (filter: Filter<EventSubject>, project: number | undefined): EventFilter => ({
  ...indexedEvents(filter),
  ...(project !== undefined && { project }),
});
