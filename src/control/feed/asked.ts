import { readEventFilter, readRequestFilter } from "../../filter/read.ts";
import type { EventSubject, Filter, Reading, RequestSubject } from "../../filter/types.ts";
import type { Call } from "../../http/call.ts";
import { SimError } from "../../kernel/errors.ts";
import { queryNumber } from "../body.ts";

const most = Number.MAX_SAFE_INTEGER;

function filterIn<Subject>(call: Call, read: (text: string) => Reading<Subject>): Filter<Subject> {
  const reading = read(call.query.get("filter") ?? "");
  if ("filter" in reading) return reading.filter;
  const [first] = reading.problems;
  throw new SimError("invalid_input", `the filter is wrong: ${first?.message ?? "it cannot be read"}`, {
    pointer: "?filter",
    ...(first?.hint !== undefined && { hint: first.hint }),
    data: { problems: reading.problems },
  });
}

/** The filter of a call about events. @throws SimError invalid_input, with all problems */
export const eventFilterIn = (call: Call): Filter<EventSubject> => filterIn(call, readEventFilter);

/** The same of requests. @throws SimError invalid_input, with all problems */
export const requestFilterIn = (call: Call): Filter<RequestSubject> => filterIn(call, readRequestFilter);

/** Only this project's. @throws SimError invalid_input */
export const projectIn = (call: Call): number | undefined =>
  queryNumber(call, "project", { min: 0, max: most });
