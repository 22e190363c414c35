import { z } from "zod";
import type { Call } from "../../http/call.ts";
import type { Endpoint, QueryParameter } from "../../http/endpoint.ts";
import { compareTimes } from "../../model/time.ts";
import type { BatchExportLog } from "../../model/world.ts";
import type { ResourceDesk } from "../desk.ts";
import { datetime, integer, text } from "../fields.ts";
import { firstInvalid } from "../invalid.ts";
import { pageOf, pageSchema } from "../page.ts";
import { projectEndpoints } from "../row.ts";
import { everywhere, requireProject } from "./everywhere.ts";
import type { Records } from "./records.ts";
import { LogShape, showLog } from "./shapes.ts";

/** What a log can be asked for. Upstream PostHog/posthog posthog/api/log_entries.py. */
const Asked = z.object({
  limit: integer({ min: 1, max: 500 }).default(50),
  after: datetime().optional(),
  before: datetime().optional(),
  search: text().optional(),
  instance_id: text().optional(),
});

type Asked = z.infer<typeof Asked> & { levels: ReadonlySet<string> };

const parameter = (name: string, description: string, schema: QueryParameter["schema"]): QueryParameter => ({
  name,
  description,
  schema,
});

const logQuery = [
  parameter("limit", "Number of lines, 50 unless told", { type: "integer", minimum: 1, maximum: 500 }),
  parameter("offset", "Index of the first of those lines", { type: "integer" }),
  parameter("after", "Written after this time", { type: "string", format: "date-time" }),
  parameter("before", "Written before this time", { type: "string", format: "date-time" }),
  parameter("level", "Levels, comma-separated or repeated", { type: "string" }),
  parameter("search", "Part of the message, in upper or lower case", { type: "string" }),
];
const runQuery = parameter("instance_id", "Id of a run", { type: "string" });

/** @throws SimError for the first parameter that is wrong */
function readAsked({ query }: Call): Asked {
  // A parameter without a value is none.
  const values = Object.keys(Asked.shape).map((name) => [name, query.get(name) || undefined]);
  const result = Asked.safeParse(Object.fromEntries(values), { reportInput: true });
  if (!result.success) throw firstInvalid(result.error);
  const levels = query.getAll("level").flatMap((it) => it.split(","));
  return { ...result.data, levels: new Set(levels.map((it) => it.trim().toUpperCase()).filter(Boolean)) };
}

/** The lines that are asked for: at most `limit` of them, so that their count never says how many there are. */
function linesOf(logs: readonly BatchExportLog[], asked: Asked, run: string | undefined): BatchExportLog[] {
  const { after, before, levels, search = "" } = asked;
  const wanted = search.toLowerCase();
  const isAsked = (line: BatchExportLog): boolean =>
    (run === undefined || line.run === run) &&
    (after === undefined || compareTimes(line.timestamp, after) > 0) &&
    (before === undefined || compareTimes(line.timestamp, before) < 0) &&
    (levels.size === 0 || levels.has(line.level)) &&
    line.message.toLowerCase().includes(wanted);
  return logs.filter(isAsked).slice(0, asked.limit);
}

/** Logs of an export and of one run. */
export function logRows(desk: ResourceDesk, records: Records): Endpoint[] {
  return [
    ...everywhere(desk, {
      methods: ["GET"],
      path: "/batch_exports/:id/logs",
      contract: "GET /api/organizations/:organization_id/batch_exports/:id/logs",
      summary: "What an export and its runs logged, the newest first",
      scope: "batch_export:read",
      query: [...logQuery, runQuery],
      reply: pageSchema(LogShape),
      handle(request) {
        const it = records.exportOf(request);
        const asked = readAsked(request.call);
        requireProject(desk, request);
        const lines = linesOf(records.logsOf(it), asked, asked.instance_id?.toLowerCase());
        return pageOf(request.call, lines, showLog);
      },
    }),
    ...projectEndpoints(desk, {
      methods: ["GET"],
      path: "/batch_exports/:id/runs/:run_id/logs",
      summary: "What a run logged, the newest first",
      scope: "batch_export:read",
      query: logQuery,
      reply: pageSchema(LogShape),
      handle(request) {
        const it = records.exportOf(request);
        const run = records.runOf(request, it);
        const lines = linesOf(records.logsOf(it), readAsked(request.call), run.id);
        return pageOf(request.call, lines, showLog);
      },
    }),
  ];
}
