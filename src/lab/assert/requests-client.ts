import type { JsonObject } from "../../kernel/base/json.ts";
import { type HandleScope, queryText } from "../../kernel/call/call.ts";
import { newest } from "../../kernel/call/newest.ts";
import type { SimRequest } from "../../state/journal/request-shapes.ts";
import type { ContactPage } from "./contact-rows.ts";
import { type ContactQuery, type RequestQuery, type Requests, requestOptions } from "./events-api.ts";

const most = 10_000;

export function requestsBy({ call, project }: HandleScope): Requests {
  const asked = (query: RequestQuery | undefined) => ({ ...query, project: project ?? query?.project });
  const list = async (query: RequestQuery = {}) => {
    const paged = { path: "requests", list: "requests", pageSize: most };
    return (await newest<SimRequest>((path) => call("GET", path), paged, { limit: most, ...asked(query) })).entries;
  };
  const contacts = ({ waitMs, ...query }: ContactQuery) =>
    call<ContactPage>("GET", `contacts${queryText({ ...query, ...asked(query), wait_ms: waitMs })}`);
  return requestOptions({
    list,
    contacts: async (query = {}) => (await contacts({ limit: most, ...query })).contacts,
    mark: async () => (await contacts({ limit: 1 })).cursor,
    unmatched: (query) => list({ ...query, outcome: "unmatched" }),
    get: (n) => call<SimRequest & JsonObject>("GET", `requests/${n}`),
    har: ({ limit = most, ...query } = {}) => call("GET", `requests.har${queryText({ ...asked(query), limit })}`),
  });
}
