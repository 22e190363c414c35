import type { JsonObject } from "../kernel/json.ts";
import type { RequestQuery, Requests, SimRequest } from "./api.ts";
import type { Place } from "./call.ts";
import { queryText } from "./query.ts";

const most = 10_000;

/** The journal's part of the client. */
export function requestsBy({ call, project }: Place): Requests {
  const asked = (query: RequestQuery | undefined) => ({
    ...query,
    project: project ?? query?.project,
  });
  const list = async (query?: RequestQuery) => {
    const path = `requests${queryText({ limit: most, ...asked(query) })}`;
    return (await call<{ requests: SimRequest[] }>("GET", path)).requests;
  };
  return {
    list,
    unmatched: (query) => list({ ...query, outcome: "unmatched" }),
    get: (n) => call<SimRequest & JsonObject>("GET", `requests/${n}`),
    har: ({ limit = most, ...query } = {}) =>
      call("GET", `requests.har${queryText({ ...asked(query), limit })}`),
  };
}
