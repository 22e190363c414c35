import { z } from "zod";
import { SimError } from "../../../kernel/base/errors.ts";
import type { JsonObject } from "../../../kernel/base/json.ts";
import { insightFields } from "../insights/shapes.ts";
import type { QueryContext } from "../kind.ts";
import type { JoinNode, QueryNode, SelectNode } from "./ast.ts";
import { descriptiveKind } from "./descriptive.ts";
import { parseExpression, parseQuery } from "./grammar/queries.ts";
import { planPorts } from "./hogql.ts";
import { filled, placeholderFields } from "./hogql-query.ts";
import { placeIn, Refusal } from "./refusal.ts";
import { planQuery } from "./select.ts";

/** Upstream PostHog/posthog posthog/schema.py, `HogQLMetadata`. */
const Metadata = z.strictObject({
  kind: z.literal("HogQLMetadata"),
  language: z.enum(["hogQL", "hogQLExpr", "hog", "hogJson", "hogTemplate", "liquid"]),
  query: z.string(),
  sourceQuery: z.record(z.string(), z.json()).nullish(),
  ...placeholderFields,
  globals: z.record(z.string(), z.json()).nullish(),
  connectionId: z.null().optional(),
  debug: z.boolean().nullish(),
  modifiers: insightFields.modifiers,
  tags: insightFields.tags,
  version: insightFields.version,
  response: insightFields.response,
});
type Metadata = z.infer<typeof Metadata>;

/** The tables that a query names in FROM and JOIN, without the names of its WITH. */
function tablesOf(query: QueryNode): string[] {
  const named = new Set<string>();
  const own = new Set<unknown>();
  const waiting: object[] = [query];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const { ctes } = next as Partial<SelectNode>;
    for (const { name } of ctes ?? []) own.add(name);
    const { node, table } = next as Partial<JoinNode>;
    if (node === "JoinExpr" && table?.node === "Field") named.add(table.chain.join("."));
    for (const child of Object.values(next)) if (typeof child === "object" && child !== null) waiting.push(child);
  }
  return [...named].filter((it) => !own.has(it)).sort();
}

/** The query that an expression is one of: HogQL with it as a further column, or a table. */
function around(query: Metadata): QueryNode {
  const expression = parseExpression(query.query);
  const { kind, query: text } = query.sourceQuery ?? {};
  const table = kind === "ActorsQuery" ? "persons" : "events";
  const source = parseQuery(kind === "HogQLQuery" ? String(text) : `select 1 from ${table}`);
  if (source.node === "SelectQuery") return { ...source, select: [...source.select, expression] };
  throw new SimError("invalid_input", "HogQLMetadata: a sourceQuery with UNION is not emulated");
}

/** @throws Refusal */
function checked(query: Metadata, context: QueryContext): string[] | null {
  const isQuery = query.language === "hogQL";
  const node = isQuery ? filled(parseQuery(query.query), query, context) : around(query);
  planQuery(node, planPorts(context));
  return isQuery ? tablesOf(node) : null;
}

function describe(query: Metadata, context: QueryContext): JsonObject {
  const { language, query: text } = query;
  if (language !== "hogQL" && language !== "hogQLExpr")
    throw new SimError(
      "invalid_input",
      `HogQLMetadata of the language ${language} is not emulated: it checks hogQL and hogQLExpr`,
    );
  const facts = { query: text, notices: [], warnings: [], ch_table_names: null, isUsingIndices: null };
  try {
    return { ...facts, isValid: true, errors: [], table_names: checked(query, context) };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const { start = null, end = null } = placeIn(error, text) ?? {};
    const errors = [{ message: error.message, start, end, fix: null }];
    return { ...facts, isValid: false, errors, table_names: null };
  }
}

/** The kind `HogQLMetadata`: whether HogQL is valid. Upstream PostHog/posthog posthog/hogql/metadata.py. */
export const metadataKind = descriptiveKind({ kind: "HogQLMetadata", shape: Metadata, describe });
