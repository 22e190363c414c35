import { SimError } from "../../kernel/base/errors.ts";
import { readEventFilter, readRequestFilter } from "./filter/read.ts";
import type { EventSubject, Filter, FilterProblem, FilterReading, RequestSubject } from "./filter/types.ts";
import type { EventFilter } from "./log/traffic-log.ts";

function wrongFilter(name: string, problems: readonly FilterProblem[]): SimError {
  const { at = 0, length = 0, message = "", hint } = problems[0] ?? {};
  return new SimError("invalid_input", `the filter is wrong at character ${at + 1}: ${message}`, {
    pointer: `?${name}`,
    ...(hint !== undefined && { hint }),
    data: { at, length, problems },
  });
}

export const everything: Filter<unknown> = {
  text: "",
  isLight: true,
  indexed: {},
  isIndexed: true,
  isTimed: false,
  test: () => true,
};

const parser =
  <Subject>(read: (text: string) => FilterReading<Subject>) =>
  (text: string | undefined, name = "filter"): Filter<Subject> => {
    if (text === undefined || text.trim() === "") return everything;
    const reading = read(text);
    if ("filter" in reading) return reading.filter;
    throw wrongFilter(name, reading.problems);
  };

/** The value of `?filter=` of a list of events; blank matches everything. @throws SimError invalid_input */
export const parseEventFilter = parser<EventSubject>(readEventFilter);

export const parseRequestFilter = parser<RequestSubject>(readRequestFilter);

export function indexedPart(filter: Filter<EventSubject>, project?: number): EventFilter {
  const { rejected: _, ...indexed } = filter.indexed;
  return { ...indexed, ...(project !== undefined && { project }) };
}
