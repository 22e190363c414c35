import type { Call } from "../http/call.ts";
import type { Endpoint } from "../http/endpoint.ts";
import { unknownParameter } from "../http/row.ts";

const page = ["project", "before", "limit"];

/**
 * The parameters of each endpoint that takes any. Others are mistakes: `?evnt=signup` must not list every event, and
 * `POST /__sim/reset?project=2` must not reset all of them. The OpenAPI document says what each means.
 */
export const queryNames: Readonly<Record<string, readonly string[]>> = {
  "GET /__sim/events": [
    ...["project", "event", "distinct_id", "outcome", "since", "until"],
    ...["where", "filter", "order", "limit", "wait_ms"],
  ],
  "DELETE /__sim/events": ["project", "compact"],
  "GET /__sim/events/stream": ["filter", "project", "since"],
  "GET /__sim/feed/events": ["filter", ...page],
  "GET /__sim/feed/requests": ["filter", ...page],
  "GET /__sim/requests": ["project", "outcome", "partition", "filter", "before", "since", "limit"],
  "GET /__sim/requests.har": ["project", "partition", "filter", "outcome", "since", "until", "limit"],
  "GET /__sim/totals": ["project", "events", "requests"],
  "GET /__sim/problems": ["project"],
  "DELETE /__sim/problems": ["project"],
  "GET /__sim/persons": ["project", "distinct_id", "search", "limit", "offset"],
  "GET /__sim/persons/:id": ["project"],
  "GET /__sim/persons/:id/timeline": page,
  "GET /__sim/groups": ["project", "search", "limit", "offset"],
  "GET /__sim/groups/:type/:key": ["project", "limit"],
  "GET /__sim/flags": ["project"],
  "DELETE /__sim/flags": ["project"],
  "GET /__sim/flags/:key": ["project"],
  "DELETE /__sim/flags/:key": ["project", "distinct_id", "for"],
  "GET /__sim/flags/:key/explain": [
    ...["distinct_id", "project", "person", "groups"],
    ...["group_properties", "device_id", "anon_distinct_id", "ip"],
  ],
  "GET /__sim/flags/:key/simulate": ["project", "person", "groups", "group_properties", "count"],
  "GET /__sim/flags/:key/served": ["project", "distinct_id", "value", "wait_ms", "limit"],
  "GET /__sim/flag-decisions": ["project", "key", "distinct_id", "before", "since", "limit"],
  "GET /__sim/flag-decisions/totals": ["project"],
  "DELETE /__sim/answers": ["project", "partition"],
  "GET /__sim/tapes/exchanges": ["skip", "limit"],
  "GET /__sim/exports": ["project"],
  "GET /__sim/exports/runs": ["project", "batch_export", "status", "before", "limit"],
  "GET /__sim/lint": ["project", "max_ms"],
  "GET /__sim/world/dashboards": ["project", "limit", "offset"],
};

/** The endpoint, which refuses parameters that it does not have. */
export function withKnownQuery(endpoint: Endpoint): Endpoint {
  // rows with shapes check their own parameters
  if (endpoint.docs) return endpoint;
  const names = endpoint.methods.flatMap((method) => queryNames[`${method} ${endpoint.path}`] ?? []);
  return {
    ...endpoint,
    /** @throws SimError invalid_input */
    handle(call: Call) {
      for (const name of call.query.keys()) if (!names.includes(name)) throw unknownParameter(name, names);
      return endpoint.handle(call);
    },
  };
}
