import { z } from "zod";
import { SimError } from "../../../kernel/base/errors.ts";
import { type JsonObject, stepsOf } from "../../../kernel/base/json.ts";
import type { Endpoint } from "../../../kernel/http/endpoint.ts";
import { parseShape } from "../../../kernel/http/shape-errors.ts";
import { fieldsOf } from "../../api-frame/body.ts";
import { inProject, managementRow, type ProjectRequest, projectRoot } from "../../api-frame/row.ts";
import { largestQuery, withDashboardFilters, withVariables } from "../read-query.ts";
import { type ExecutionMode, executionModes, type QueryDesk } from "../runner.ts";
import { QueryStatus } from "../shapes.ts";

const Filters = z.record(z.string(), z.json());

/** Upstream PostHog/posthog posthog/schema.py, `QueryRequest`. */
const QueryRequest = z.strictObject({
  query: z.json({ error: "a query: an object with a kind" }).describe("A query with its kind, or a node around one"),
  refresh: z
    .union([z.boolean(), z.enum(executionModes)])
    .nullish()
    .describe("When it is computed, and whether the request waits (default: blocking)"),
  client_query_id: z.string().min(1).max(200).nullish().describe("Names the query for its status and its end"),
  async: z.boolean().nullish().describe("Older form of `refresh: async`"),
  filters_override: Filters.nullish().describe("Filters as those of a dashboard, applied to the query"),
  variables_override: Filters.nullish().describe("Values of variables of HogQL, by their ids"),
  name: z.string().nullish().describe("Named in the service's query log"),
});
type QueryRequest = z.infer<typeof QueryRequest>;

const StatusAnswer = z.object({ query_status: QueryStatus });
type StatusAnswer = z.infer<typeof StatusAnswer>;

/** The part of each response; the other fields depend on the kind. */
const QueryAnswer = z
  .looseObject({
    results: z.json().optional(),
    cache_key: z.string().nullish(),
    is_cached: z.boolean().optional(),
    last_refresh: z.string().optional(),
    query_status: QueryStatus.nullish(),
  })
  .meta({ title: "QueryResponse" });

/** A mistake in a body, in the words of the service's parser. */
function parseError(error: unknown): unknown {
  if (!(error instanceof SimError) || error.extra.pointer === undefined) return error;
  const { pointer, hint } = error.extra;
  const place = stepsOf(pointer).join(".");
  const what = hint === undefined ? error.message : `${error.message}; ${hint}`;
  const detail = `JSON parse error - 1 validation error for QueryRequest\n${place}\n  ${what}`;
  return new SimError("parse_error", detail);
}

/** Without a key in the body, which is no field of a query. */
function requestIn({ call }: ProjectRequest<unknown>): QueryRequest {
  const { personal_api_key: _, ...fields } = fieldsOf(call);
  return parseShape(QueryRequest, fields);
}

/** A request of this endpoint always gets a result: `force_cache` computes a missing one. */
function modeOf({ refresh, async }: QueryRequest): ExecutionMode {
  if (async === true) return "async";
  if (refresh === true) return "force_blocking";
  return typeof refresh === "string" && refresh !== "force_cache" ? refresh : "blocking";
}

async function runQuery(desk: QueryDesk, request: ProjectRequest<unknown>): Promise<JsonObject> {
  const { project, call } = request;
  try {
    const fields = requestIn(request);
    const { query, filters_override: filters, variables_override: variables, client_query_id } = fields;
    const filtered = filters ? withDashboardFilters(query, filters) : query;
    return await desk.queries.run({
      project: project.id,
      query: variables ? withVariables(filtered, variables) : filtered,
      at: ["query"],
      mode: modeOf(fields),
      id: client_query_id ?? desk.ids.uuid().replaceAll("-", ""),
      signal: call.signal,
    });
  } catch (error) {
    throw parseError(error);
  }
}

const isPending = (answer: object): boolean =>
  "query_status" in answer &&
  (answer as { query_status: { complete?: boolean } | null }).query_status?.complete === false;

function statusCodeOf(answer: object): number {
  const { complete, error, error_message } = (answer as StatusAnswer).query_status;
  if (error) return error_message === null ? 500 : 400;
  return complete ? 200 : 202;
}

const path = `${projectRoot}/query`;
const access = inProject("query:read", "query");

/** Queries over the events. Upstream PostHog/posthog posthog/api/query.py. */
export const queryEndpoints = (desk: QueryDesk): Endpoint[] => [
  ...managementRow<"project", QueryRequest>(desk, {
    method: "POST",
    path,
    summary: "Runs a query: HogQL or an insight's; 202 if it is computed in the background",
    access,
    body: QueryRequest,
    bodyLimit: largestQuery,
    reply: QueryAnswer,
    replies: { 202: { description: "It is computed in the background", shape: QueryAnswer } },
    statusOf: (answer) => (answer && isPending(answer) ? 202 : 200),
    handle: (request) => runQuery(desk, request),
  }),
  ...managementRow(desk, {
    method: "GET",
    path: `${path}/:id`,
    summary: "The status of a query in the background, with its results once it is complete",
    access,
    reply: StatusAnswer,
    replies: { 202: { description: "It is still computed", shape: StatusAnswer } },
    statusOf: statusCodeOf,
    handle({ project, param }) {
      const id = param("id");
      const status = desk.queries.status(project.id, id);
      if (!status) throw new SimError("not_found", `Query ${id} not found for team ${project.id}`);
      return { query_status: status };
    },
  }),
  ...managementRow(desk, {
    method: "DELETE",
    path: `${path}/:id`,
    summary: "Ends a query that is running or in the background, and forgets its status",
    access,
    reply: z.object({ message: z.string() }),
    handle({ project, param }) {
      desk.queries.cancel(project.id, param("id"));
      return { message: "Cancelled query on clickhouse" };
    },
  }),
];
