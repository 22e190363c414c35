import type { JsonObject } from "../../kernel/base/json.ts";
import { type HandleScope, queryText } from "../../kernel/call/call.ts";
import type { RequestPage, SimRequest } from "../../state/journal/request-shapes.ts";
import type { ContactPage } from "./contact-rows.ts";
import type { ContactQuery, RequestQuery, Requests } from "./events-api.ts";

const most = 10_000;

/** The journal's part of the client. */
export function requestsBy({ call, project }: HandleScope): Requests {
  const asked = (query: RequestQuery | undefined) => ({ ...query, project: project ?? query?.project });
  /** A page may end early if much was searched; the next one continues. */
  const list = async (query: RequestQuery = {}) => {
    const { limit = most } = query;
    const requests: SimRequest[] = [];
    for (let before: number | undefined; ; ) {
      const left = limit - requests.length;
      const path = `requests${queryText({ ...asked(query), before, limit: left })}`;
      const page = await call<RequestPage>("GET", path);
      requests.push(...page.requests);
      if (page.before === null || requests.length >= limit) return requests;
      before = page.before;
    }
  };
  const contacts = ({ waitMs, ...query }: ContactQuery) =>
    call<ContactPage>("GET", `contacts${queryText({ ...query, ...asked(query), wait_ms: waitMs })}`);
  return {
    list,
    contacts: async (query = {}) => (await contacts({ limit: most, ...query })).contacts,
    mark: async () => (await contacts({ limit: 1 })).cursor,
    unmatched: (query) => list({ ...query, outcome: "unmatched" }),
    get: (n) => call<SimRequest & JsonObject>("GET", `requests/${n}`),
    har: ({ limit = most, ...query } = {}) => call("GET", `requests.har${queryText({ ...asked(query), limit })}`),
  };
}
