import {
  batchExport,
  batchExportRun,
  type ContractField,
  collaborator,
  dashboard,
  dashboardDetail,
  decideAnswer,
  organization,
  sharing,
  user,
} from "./contract-rows.ts";
import type { Schema } from "./document.ts";

/**
 * Fields that may be null: the contract gives a type and does not say what an absent value looks like; the
 * live service has null there.
 */
const nullable = new Set([
  "logo_media_id",
  "customer_id",
  "enforce_2fa",
  "available_product_features",
  "use_dashboard",
  "last_paused_at",
  "start_at",
  "end_at",
  "hogql_query",
  "records_completed",
  "records_total_count",
  "latest_error",
  "cursor",
  "role_at_organization",
]);

const uuid: Schema = { type: "string", format: "uuid" };
const objects: Schema = { type: "array", items: { type: "object" } };

function withFields(...tables: readonly (readonly ContractField[])[]): Schema {
  const all = tables.flat();
  return {
    type: "object",
    required: all.map((it) => it.name),
    properties: Object.fromEntries(
      all.map(({ name, type }) => [
        name,
        nullable.has(name) ? { anyOf: [schemaOf(type), { type: "null" }] } : schemaOf(type),
      ]),
    ),
  };
}

/** The JSON Schema of each of the contract's type texts. */
const types: Readonly<Record<string, () => Schema>> = {
  integer: () => ({ type: "integer" }),
  string: () => ({ type: "string" }),
  boolean: () => ({ type: "boolean" }),
  array: () => ({ type: "array" }),
  object: () => ({ type: "object" }),
  nullable: () => ({}),
  "string (UUID)": () => uuid,
  "string (UUID) of the owning batch export": () => uuid,
  "string (e-mail format)": () => ({ type: "string", format: "email" }),
  "string, date-time": () => ({ type: "string", format: "date-time" }),
  "string (a secret token; never reproduced here, written as <ACCESS_TOKEN>)": () => ({
    type: "string",
    minLength: 16,
  }),
  "string, one of `events`, `persons`": () => ({ enum: ["events", "persons"] }),
  "object (free-form key/value map)": () => ({ type: "object" }),
  "object (free-form map)": () => ({ type: "object" }),
  "object with `type` (string) and `config`": () => ({
    type: "object",
    required: ["type", "config"],
    properties: { type: { type: "string" } },
  }),
  "object with `enable_collect_everything` (boolean)": () => ({
    type: "object",
    required: ["enable_collect_everything"],
    properties: { enable_collect_everything: { type: "boolean" } },
  }),
  "object mapping flag key to boolean or string": () => ({
    type: "object",
    additionalProperties: { type: ["boolean", "string"] },
  }),
  "object mapping flag key to string": () => ({ type: "object", additionalProperties: { type: "string" } }),
  "array of strings": () => ({ type: "array", items: { type: "string" } }),
  "array of objects": () => objects,
  "array of objects (free-form maps)": () => objects,
  "array of Batch export run": () => ({ type: "array", items: withFields(batchExportRun) }),
  "User object": () => withFields(user),
};

function schemaOf(type: string): Schema {
  const make = types[type];
  if (!make) throw new Error(`no shape is known for what the contract calls "${type}"`);
  return make();
}

/** § Resources, Paginated list envelope. */
const pageOf = (item: Schema): Schema => ({
  type: "object",
  required: ["count", "next", "previous", "results"],
  properties: {
    count: { type: "integer" },
    next: { type: ["string", "null"] },
    previous: { type: ["string", "null"] },
    results: { type: "array", minItems: 1, items: item },
  },
});

/** A list item: the detail's further fields are absent. */
const listedDashboard: Schema = {
  ...withFields(dashboard),
  not: { anyOf: dashboardDetail.map(({ name }) => ({ required: [name] })) },
};

/** The contract's response texts without their status. `null`: no body at all. */
export const responses: Readonly<Record<string, Schema | null>> = {
  "no body": null,
  "no body; use PATCH with deleted true instead": null,
  "paginated envelope of Dashboard (list shape)": pageOf(listedDashboard),
  "Dashboard (detail shape)": withFields(dashboard, dashboardDetail),
  // "Whether the collaborators list is paginated or returns an array: not shown." The service's is an array.
  "a collaborator object in the shape above": { type: "array", minItems: 1, items: withFields(collaborator) },
  "Dashboard collaborator": withFields(collaborator),
  "Dashboard sharing configuration": withFields(sharing),
  "paginated envelope of Organization": pageOf(withFields(organization)),
  Organization: withFields(organization),
  "paginated envelope of Batch export": pageOf(withFields(batchExport)),
  "Batch export": withFields(batchExport),
  // "Response body of the batch export logs endpoint: not shown."
  "see Gaps in endpoints": { type: "object", required: ["results"] },
};

export const decideShape: Schema = withFields(decideAnswer);
