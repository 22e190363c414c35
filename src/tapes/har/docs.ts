import { docsOf, parameter, whole } from "../../http/control-docs.ts";
import { always, exact, listOf, open, text, titled } from "../../http/json-schema.ts";

export const ofProject = parameter("project", "Only this project's", whole(0));
export const ofPartition = parameter("partition", "Only those whose X-Test-Id header says so");
export const afterRequest = parameter("since", "Only requests after this number", whole(0));
export const byFilter = parameter(
  "filter",
  "Only what fits, in the filter's grammar: `event:$pageview prop.amount:>10 -is:dropped`",
);

const har = titled(
  "Har",
  exact({
    log: open({
      version: always("1.2"),
      creator: exact({ name: text, version: text }),
      entries: listOf(open({})),
    }),
  }),
);

/** The journal as HAR. */
export const harDocs = docsOf("The newest requests, oldest first", har, {
  errors: [400],
  query: [
    ofProject,
    ofPartition,
    byFilter,
    parameter("outcome", "As for GET /__sim/requests"),
    afterRequest,
    parameter("until", "Only requests up to this number", whole(1)),
    parameter("limit", "Most requests (default: 1,000)", whole(1, 10_000)),
  ],
});
