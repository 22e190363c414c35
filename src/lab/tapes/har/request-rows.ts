import { z } from "zod";
import { decodingText } from "../../../kernel/base/bytes-turns.ts";
import { writingJson } from "../../../kernel/base/json-turns.ts";
import { inSlices, type Stepwise } from "../../../kernel/base/work.ts";
import { jsonText } from "../../../kernel/http/reply.ts";
import { row } from "../../../kernel/http/row.ts";
import { slice } from "../../../kernel/http/slice.ts";
import { parseRequestFilter } from "../../../state/journal/filter-parameter.ts";
import { Limit, UntilRequest } from "../../../state/journal/query-shapes.ts";
import { RequestListQuery } from "../../../state/journal/request-shapes.ts";
import { examineRequests, type RequestSearchPorts } from "../../../state/journal/search.ts";
import type { TrafficLine } from "../../../state/journal/traffic.ts";
import { harBytes, harEntry } from "./request-har.ts";

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
      comment: z.string().optional(),
      entries: z.array(z.looseObject({})),
    }),
  })
  .meta({ title: "Har" });

/** Bytes of a HAR: it must fit into memory several times. */
const largestHar = 200 * 1024 * 1024;

function* writingEntry(line: TrafficLine): Stepwise<Buffer> {
  const body = line.body === undefined ? undefined : yield* decodingText(yield* writingJson(line.body));
  return yield* writingJson(harEntry(line, body));
}

export const requestHarSlice = slice(["log", "clock", "worlds"], (ports: RequestSearchPorts) => [
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
      const entries: Buffer[] = [];
      let size = 0;
      let comment: string | undefined;
      for await (const { head } of examineRequests(ports, {
        ...selection,
        before,
        filter: parseRequestFilter(filter),
      })) {
        const line = head && (await inSlices(ports.log.reading(head.n)));
        if (!line) continue;
        const entry = await inSlices(writingEntry(line));
        size += entry.length;
        if (size > largestHar && entries.length > 0) {
          comment = `requests up to ${line.n} are left out: a HAR has at most ${largestHar / 1024 / 1024} MB; ?until=${line.n} continues`;
          break;
        }
        if (entries.push(entry) === limit) break;
      }
      return { ...jsonText(""), body: await inSlices(harBytes(entries.reverse(), comment)) };
    },
  }),
]);
