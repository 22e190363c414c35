import { z } from "zod";
import { SimError } from "../../../kernel/base/errors.ts";
import type { JsonObject } from "../../../kernel/base/json.ts";
import { commonFields } from "../insights/shapes.ts";
import type { QueryContext, QueryKind } from "../kind.ts";
import { tableOf } from "../table.ts";
import type { JoinNode, QueryNode, SelectNode } from "./ast.ts";
import { parseExpression, parseQuery } from "./grammar/queries.ts";
import { planPorts } from "./hogql.ts";
import { filled, placeholderFields } from "./placeholders.ts";
import { attempt, placeIn, Refusal } from "./refusal.ts";
import { planQuery } from "./select.ts";
import type { Member, RowSource } from "./source.ts";
import { isInteger, type Kind } from "./types.ts";

const noEvents = tableOf({ events: [], owner: () => undefined, person: () => undefined, group: () => undefined });

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
  ...commonFields,
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

/** The tables that a query reads. @throws Refusal */
function tablesIn(query: Metadata, context: QueryContext): string[] | null {
  const isQuery = query.language === "hogQL";
  const node = isQuery ? filled(parseQuery(query.query), query, context) : around(query);
  planQuery(node, planPorts(context));
  return isQuery ? tablesOf(node) : null;
}

function checkedQuery(query: Metadata, context: QueryContext): JsonObject {
  const { language, query: text } = query;
  if (language !== "hogQL" && language !== "hogQLExpr")
    throw new SimError(
      "invalid_input",
      `HogQLMetadata of the language ${language} is not emulated: it checks hogQL and hogQLExpr`,
    );
  const facts = { query: text, notices: [], warnings: [], ch_table_names: null, isUsingIndices: null };
  try {
    return { ...facts, isValid: true, errors: [], table_names: tablesIn(query, context) };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const { start = null, end = null } = placeIn(error, text) ?? {};
    const errors = [{ message: error.message, start, end, fix: null }];
    return { ...facts, isValid: false, errors, table_names: null };
  }
}

/** Upstream PostHog/posthog posthog/schema.py, `DatabaseSchemaQuery`. */
const DatabaseSchema = z.strictObject({
  kind: z.literal("DatabaseSchemaQuery"),
  connectionId: z.null().optional(),
  ...commonFields,
});

const serialized: Partial<Record<Kind, string>> = {
  Float64: "float",
  Date: "date",
  DateTime: "datetime",
  DateTime64: "datetime",
  Bool: "boolean",
  Array: "array",
  Tuple: "json",
};
const typeOf = (kind: Kind): string => (isInteger(kind) ? "integer" : (serialized[kind] ?? "string"));

/** Tables of rows that other tables have the rows of. */
const sourceTable = (name: string): string => (name === "session" ? "sessions" : "groups");

function fieldOf(name: string, member: Member): JsonObject {
  const common = {
    name,
    hogql_value: /[@\-!$+]/.test(name) ? `\`${name}\`` : name,
    schema_valid: true,
    table: null,
    fields: null,
    chain: null,
    id: null,
  };
  if (member.is === "json") return { ...common, type: "json" };
  if (member.is === "column") return { ...common, type: typeOf(member.column.type.kind) };
  const fields = [...member.table.names];
  return name === "person"
    ? { ...common, type: "virtual_table", table: "events", fields }
    : { ...common, type: "lazy_table", table: sourceTable(name), fields, id: name };
}

function fieldsOf(table: RowSource): JsonObject {
  const fields = [...new Set(table.names)].flatMap((name) => {
    const member = attempt(() => table.member(name));
    return member ? [[name, fieldOf(name, member)] as const] : [];
  });
  return Object.fromEntries(fields);
}

function databaseSchema(_: unknown, context: QueryContext): JsonObject {
  const { tableNames, table } = planPorts(context);
  const tables = tableNames.flatMap((id) => {
    const source = table(id);
    const facts = source && { id, name: id, type: "posthog", row_count: null, fields: fieldsOf(source) };
    return facts ? [[id, facts] as const] : [];
  });
  return { tables: Object.fromEntries(tables), joins: [] };
}

/** A kind that reads no events: it describes tables and queries. The service neither caches nor stamps its results. */
const descriptive = <Query extends { readonly kind: string }>(
  shape: QueryKind<Query>["shape"],
  kind: Query["kind"],
  describe: (query: Query, context: QueryContext) => JsonObject,
): QueryKind<Query> => ({
  ...{ kind, shape, isPlain: true },
  run: (query, context) => describe(query, { ...context, table: noEvents }),
});

/** Whether HogQL is valid. Upstream PostHog/posthog posthog/hogql/metadata.py. */
export const metadataKind = descriptive(Metadata, "HogQLMetadata", checkedQuery);

/** The tables of HogQL. Upstream PostHog/posthog posthog/hogql/database/database.py. */
export const databaseSchemaKind = descriptive(DatabaseSchema, "DatabaseSchemaQuery", databaseSchema);
