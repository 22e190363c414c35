import { SimError } from "../../kernel/base/errors.ts";
import type { JsonObject } from "../../kernel/base/json.ts";
import { meantOf } from "../../kernel/base/nearest.ts";
import { stringOf } from "../../kernel/base/text.ts";
import { invalid } from "../../kernel/http/control-body.ts";
import { row } from "../../kernel/http/row.ts";
import { slice } from "../../kernel/http/slice.ts";
import type { Insight, StoredProject, Worlds } from "../../state/documents/world.ts";
import { queryOfFilters } from "./insights/legacy-filters.ts";
import type { SimQueries } from "./open-queries.ts";
import { largestQuery } from "./read-query.ts";
import type { QueryOrder } from "./runner.ts";
import { ControlAnswer, ControlQuery, DropOffs } from "./shapes.ts";

export interface QueryPorts extends SimQueries {
  readonly worlds: Worlds;
}

/** The insights that a project has, else those of the project that it was made like. */
function insightsOf({ current }: Worlds, { id, ephemeral }: StoredProject): readonly Insight[] {
  const of = (project: number) => current.insights.filter((it) => it.project === project && !it.deleted);
  const like = ephemeral?.like ?? null;
  return [...of(id), ...(like === null ? [] : of(like))];
}

/** @throws SimError not_found, with the nearest name */
function insightNamed(worlds: Worlds, project: StoredProject, name: string | number): Insight {
  const all = insightsOf(worlds, project);
  const found =
    all.find((it) => it.id === name || it.name === name || it.derived_name === name) ??
    all.find((it) => it.short_id === name || String(it.id) === name);
  if (found) return found;
  const names = all.flatMap((it) => it.name ?? it.derived_name ?? []);
  const hint =
    meantOf(stringOf(name), names) ??
    (names.length === 0 ? "the project has no insights" : `insights: ${names.slice(0, 20).join(", ")}`);
  throw new SimError("not_found", `there is no insight "${name}"`, { pointer: "/insight", hint });
}

/** The project of a body (default: the first one). @throws SimError not_found */
function projectOf({ current, projectById }: Worlds, id: number | null | undefined): StoredProject {
  const project = id === undefined || id === null ? current.projects[0] : projectById(id);
  if (project) return project;
  throw new SimError("not_found", `there is no project ${id ?? 1}`, { pointer: "/project" });
}

/** What a body asks for, as an order. @throws SimError invalid_input, not_found */
function orderOf({ worlds }: QueryPorts, { query, insight: name, project: id }: ControlQuery) {
  if ((query === undefined) === (name === undefined)) {
    const what = query === undefined ? "is missing" : "exclude each other";
    throw invalid(`"query" or "insight" ${what}`, "/query", 'for example {"query": "SELECT event FROM events"}');
  }
  const project = projectOf(worlds, id);
  const insight = name === undefined ? null : insightNamed(worlds, project, name);
  if (insight && insight.query === null && Object.keys(insight.filters).length === 0)
    throw invalid(`the insight "${name}" has no query`, "/insight");
  const ofInsight = insight && (insight.query ?? queryOfFilters(insight.filters));
  const source = ofInsight ?? (typeof query === "string" ? { kind: "HogQLQuery", query } : query);
  const order: QueryOrder = {
    project: project.id,
    query: source,
    at: [insight ? "insight" : "query"],
    mode: "force_blocking",
  };
  return { order, insight };
}

/** Queries for tests and people, computed each time: the service's endpoint has a key, a project and a cache. */
export const querySlice = slice(["worlds", "queries", "dropOffs"], (ports: QueryPorts) => [
  row({
    method: "POST",
    path: "/__sim/query",
    access: "control",
    summary: "Runs a query: HogQL, a query with its kind, or a stored insight",
    body: ControlQuery,
    bodyLimit: largestQuery,
    reply: ControlAnswer,
    errors: [404],
    async handle({ body, call }) {
      const { order, insight } = orderOf(ports, body);
      const read = ports.queries.read(order);
      const response: JsonObject = await ports.queries.run({ ...order, signal: call.signal }, read);
      const { results, timeseries, tables, errors } = response;
      return {
        ...response,
        // some kinds have no results under this name
        results: results ?? timeseries ?? tables ?? errors ?? null,
        project: order.project,
        insight: insight && { id: insight.id, short_id: insight.short_id, name: insight.name },
        query: read.source,
      };
    },
  }),
  row({
    method: "POST",
    path: "/__sim/query/drop-offs",
    access: "control",
    summary: "Lists who left a funnel at which step, with their last events",
    body: ControlQuery,
    bodyLimit: largestQuery,
    reply: DropOffs,
    errors: [404],
    async handle({ body, call }) {
      const { order } = orderOf(ports, body);
      return DropOffs.parse(await ports.dropOffs.run({ ...order, signal: call.signal }));
    },
  }),
]);
