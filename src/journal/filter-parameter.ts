import { SimError } from "../base/errors.ts";
import type { Call } from "../http/call.ts";
import { readEventFilter, readRequestFilter } from "./filter/read.ts";
import type { EventSubject, Filter, FilterProblem, Reading, RequestSubject } from "./filter/types.ts";
import type { EventFilter } from "./log/traffic-log.ts";

/** The first thing that is wrong, in words and with its place; `problems` has all. */
function wrongFilter(name: string, problems: readonly FilterProblem[]): SimError {
  const { at = 0, length = 0, message = "", hint } = problems[0] ?? {};
  return new SimError("invalid_input", `the filter is wrong at character ${at + 1}: ${message}`, {
    pointer: `?${name}`,
    ...(hint !== undefined && { hint }),
    data: { at, length, problems },
  });
}

/** The query's filter of a name; absent and blank ones do not restrict. */
function filterIn<Subject>(
  call: Call,
  name: string,
  read: (text: string) => Reading<Subject>,
): Filter<Subject> | undefined {
  const text = call.query.get(name);
  if (text === null || text.trim() === "") return undefined;
  const reading = read(text);
  if ("filter" in reading) return reading.filter;
  throw wrongFilter(name, reading.problems);
}

/** `?filter=` of a list of events. @throws SimError invalid_input with the place of the mistake */
export const queryEventFilter = (call: Call, name = "filter"): Filter<EventSubject> | undefined =>
  filterIn(call, name, readEventFilter);

/** `?filter=` of a list of requests. @throws SimError invalid_input with the place of the mistake */
export const queryRequestFilter = (call: Call, name = "filter"): Filter<RequestSubject> | undefined =>
  filterIn(call, name, readRequestFilter);

/** What the log's index can find of a filter of events. */
export function indexedEvents(filter: Filter<EventSubject> | undefined): EventFilter {
  const { rejected: _, ...indexed } = filter?.indexed ?? {};
  return indexed;
}
