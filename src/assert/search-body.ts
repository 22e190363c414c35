import { z } from "zod";
import type { JsonObject } from "../base/json.ts";
import { parseShape } from "../http/shape-errors.ts";
import type { EventFilter } from "../journal/log/traffic-log.ts";
import { Limit, OfProject, Order, Outcome, SinceSeq, UntilSeq } from "../journal/query-shapes.ts";
import { EventPattern, patternOf } from "./pattern-shape.ts";

const SearchRequest = z.strictObject({
  match: EventPattern.nullish(),
  project: OfProject.nullish(),
  outcome: Outcome.nullish(),
  since: SinceSeq.nullish(),
  until: UntilSeq.nullish(),
  order: Order.nullish(),
  limit: Limit.nullish(),
});

/** The body of POST /__sim/events/search. @throws SimError invalid_input */
export function searchBody(body: JsonObject, page: { defaultPage: number }) {
  const { match, limit, ...given } = parseShape(SearchRequest, body);
  const filter: EventFilter = Object.fromEntries(
    Object.entries(given).filter(([, value]) => value !== undefined && value !== null),
  );
  return {
    filter,
    where: match === undefined || match === null ? undefined : patternOf(match),
    limit: limit ?? page.defaultPage,
  };
}
