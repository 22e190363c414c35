import { z } from "zod";
import { jsonText } from "../../http/reply.ts";
import { row } from "../../http/row.ts";
import { parseRequestFilter } from "../../journal/filter-parameter.ts";
import { Limit, UntilRequest } from "../../journal/query-shapes.ts";
import { RequestListQuery } from "../../journal/request-shapes.ts";
import { examineRequests, type RequestSearchPorts } from "../../journal/search.ts";
import { harEntry, harText } from "./request-har.ts";

const { before: _, ...listFields } = RequestListQuery.shape;
const HarQuery = z.strictObject({
  ...listFields,
  until: UntilRequest.optional(),
  limit: Limit.default(1_000).describe("Maximum number of requests (default: 1000)"),
});

const Har = z
  .strictObject({
    log: z.looseObject({
      version: z.literal("1.2"),
      creator: z.strictObject({ name: z.string(), version: z.string() }),
      entries: z.array(z.looseObject({})),
    }),
  })
  .meta({ title: "Har" });

/** The endpoint that exports the journal. */
export const requestHarRows = (ports: RequestSearchPorts) => [
  row({
    method: "GET",
    path: "/__sim/requests.har",
    access: "control",
    summary: "Exports the newest requests of the journal as HAR 1.2, oldest first",
    query: HarQuery,
    replies: { 200: { description: "The newest requests, oldest first", shape: Har } },
    async handle({ query: { until, limit, filter, ...selection } }) {
      const before = until === undefined ? undefined : until + 1;
      // each entry becomes text as soon as it is read, because bodies may be large
      const entries: string[] = [];
      for await (const { head } of examineRequests(ports, {
        ...selection,
        before,
        filter: parseRequestFilter(filter),
      })) {
        const line = head && ports.log.line(head.n);
        if (line && entries.push(JSON.stringify(harEntry(line))) === limit) break;
      }
      return jsonText(harText(entries.reverse()));
    },
  }),
];
