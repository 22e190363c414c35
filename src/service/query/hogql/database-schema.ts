import { z } from "zod";
import type { JsonObject } from "../../../kernel/base/json.ts";
import { insightFields } from "../insights/shapes.ts";
import type { QueryContext } from "../kind.ts";
import { descriptiveKind } from "./descriptive.ts";
import { planPorts } from "./hogql.ts";
import { Refusal } from "./refusal.ts";
import type { Member, RowSource } from "./source.ts";
import { isInteger, type Kind } from "./types.ts";

/** Upstream PostHog/posthog posthog/schema.py, `DatabaseSchemaQuery`. */
const DatabaseSchema = z.strictObject({
  kind: z.literal("DatabaseSchemaQuery"),
  connectionId: z.null().optional(),
  modifiers: insightFields.modifiers,
  tags: insightFields.tags,
  version: insightFields.version,
  response: insightFields.response,
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
const tableOf = (name: string): string => (name === "session" ? "sessions" : "groups");

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
    : { ...common, type: "lazy_table", table: tableOf(name), fields, id: name };
}

function fieldsOf(table: RowSource): JsonObject {
  const fields: [string, JsonObject][] = [];
  for (const name of new Set(table.names)) {
    try {
      const member = table.member(name);
      if (member) fields.push([name, fieldOf(name, member)]);
    } catch (error) {
      // the service has it, the sim does not
      if (!(error instanceof Refusal)) throw error;
    }
  }
  return Object.fromEntries(fields);
}

function describe(_: unknown, context: QueryContext): JsonObject {
  const { tableNames, table } = planPorts(context);
  const tables = tableNames.flatMap((id) => {
    const source = table(id);
    const facts = source && { id, name: id, type: "posthog", row_count: null, fields: fieldsOf(source) };
    return facts ? [[id, facts] as const] : [];
  });
  return { tables: Object.fromEntries(tables), joins: [] };
}

/** The kind `DatabaseSchemaQuery`: the tables of HogQL. Upstream PostHog/posthog posthog/hogql/database/database.py. */
export const databaseSchemaKind = descriptiveKind({ kind: "DatabaseSchemaQuery", shape: DatabaseSchema, describe });
