import { z } from "zod";
import { SimError } from "../../../kernel/base/errors.ts";
import { isObject, type JsonObject, objectsIn } from "../../../kernel/base/json.ts";
import { stringOf } from "../../../kernel/base/text.ts";
import { boolean, choice, datetime, dictionary, integer, invalid, json, list, text } from "../../api-frame/fields.ts";
import { equalFilter } from "../../api-frame/lists.ts";
import type { ResourceKind, Writing } from "./kind.ts";
import { checkReference, fieldFilter, searchIn, siblingsOf, textIn } from "./resource-fields.ts";

/**
 * Documents of projects that nothing else of the sim reads: no function runs, nothing is delivered. A row each. What
 * the service refuses for reasons of its plans, quotas and integrations is accepted.
 */

const objects = () => list(z.looseObject({}));
const optionalText = (max?: number) => text({ blank: true, ...(max !== undefined && { max }) }).optional();

const functionTypes = [
  "destination",
  "site_destination",
  "internal_destination",
  "source_webhook",
  "site_app",
  "transformation",
  "transformation_log",
] as const;

/** Values of secret inputs are not kept: responses have a mark in their place anyway. */
function withoutSecrets({ inputs, inputs_schema: schema }: JsonObject): JsonObject {
  const secrets = new Set(objectsIn(schema).flatMap((it) => (it.secret === true ? [textIn(it, "key")] : [])));
  const entries = Object.entries(isObject(inputs) ? inputs : {});
  return Object.fromEntries(entries.map(([name, it]) => [name, secrets.has(name) ? { secret: true } : it]));
}

/** What a function takes from its template unless it is given. */
const fromTemplate = ["name", "description", "icon_url", "inputs_schema"] as const;

function templateOf(fields: JsonObject, writing: Writing): JsonObject {
  const template = siblingsOf(writing, "hog_function_templates").find((it) => it.key === fields.template_id);
  if (!template || writing.before) return {};
  const { body } = writing;
  const taken = fromTemplate.filter((name) => !body[name] && template.fields[name] !== undefined);
  return {
    ...Object.fromEntries(taken.map((name) => [name, template.fields[name] ?? null])),
    hog: body.hog || (template.fields.code ?? ""),
  };
}

/** @throws SimError with the service's text for what is wrong */
function prepareFunction(given: JsonObject, writing: Writing): JsonObject {
  const { before } = writing;
  const fields = { ...given, ...templateOf(given, writing) };
  if (before && fields.type !== before.fields.type) {
    throw invalid("Cannot modify the type of an existing function", "type");
  }
  if (fields.hog === "" && fields.template_id === null) throw invalid("Required.", "hog");
  if (fields.mappings !== null && !stringOf(fields.type).endsWith("destination")) {
    throw invalid("Mappings are only allowed for destinations.", "mappings");
  }
  const others = siblingsOf(writing, "hog_functions").filter((it) => it.fields.type === "transformation");
  const isNext = !before && fields.type === "transformation" && fields.execution_order === null;
  return { ...fields, inputs: withoutSecrets(fields), ...(isNext && { execution_order: others.length + 1 }) };
}

const hogFunctions: ResourceKind = {
  kind: "hog_functions",
  noun: "hog function",
  isOnlyStored: true,
  of: "project",
  scope: "hog_function",
  deletion: "restore",
  // Upstream PostHog/posthog products/cdp/backend/api/hog_function.py
  fields: {
    type: choice(functionTypes).optional(),
    name: text({ max: 400, blank: true }).nullable().optional(),
    description: optionalText(),
    enabled: boolean().optional(),
    deleted: boolean().optional(),
    hog: optionalText(),
    inputs_schema: objects().optional(),
    inputs: dictionary().optional(),
    filters: dictionary().nullable().optional(),
    masking: z
      .looseObject({ ttl: integer({ min: 60, max: 86_400 }), hash: text() })
      .nullable()
      .optional(),
    mappings: objects().nullable().optional(),
    icon_url: text({ blank: true }).nullable().optional(),
    template_id: text({ max: 400 }).nullable().optional(),
    execution_order: integer({ min: 0, max: 32_767 }).nullable().optional(),
  },
  initial: {
    type: "destination",
    name: null,
    description: "",
    enabled: false,
    deleted: false,
    hog: "",
    inputs_schema: [],
    inputs: {},
    filters: {},
    masking: null,
    mappings: null,
    icon_url: null,
    template_id: null,
    execution_order: null,
    version: 1,
  },
  stamps: ["created_at", "created_by", "updated_at"],
  unshown: ["template_id", "deleted"],
  shown: {
    template: z.looseObject({ id: z.string() }).nullable(),
    status: z.object({ state: z.int(), tokens: z.int() }),
    version: z.int(),
  },
  filters: [
    fieldFilter("id", z.string().describe("Only the one with this id")),
    fieldFilter("enabled", z.boolean().describe("Only enabled, or disabled ones")),
    fieldFilter("created_by", z.int().describe("Only what the user with this id made")),
    searchIn("name", "description"),
  ],
  query: { type: z.string().describe("Types, with commas between them (default: destination)") },
  narrow(documents, { call }) {
    const types = (call.query.get("type") ?? call.query.get("types") ?? "destination").split(",");
    return documents.filter(({ fields }) => types.includes(stringOf(fields.type)));
  },
  prepare: prepareFunction,
  show({ template_id: id = null, type = null, name = null }, { project }, { worlds }) {
    const template = worlds.current.resources.find(
      (it) => it.kind === "hog_function_templates" && it.project === project && it.key === id,
    );
    const known: JsonObject = template ? { ...template.fields, id } : { id, name, type };
    return { template: id === null ? null : known, status: { state: 0, tokens: 0 } };
  },
};

const hogFunctionTemplates: ResourceKind = {
  kind: "hog_function_templates",
  noun: "hog function template",
  isOnlyStored: true,
  of: "project",
  scope: "hog_function",
  key: "name",
  methods: ["list", "read"],
  deletion: "hard",
  fields: {
    name: text(),
    type: choice(functionTypes),
    description: optionalText(),
    code: optionalText(),
    code_language: choice(["hog", "javascript"]).optional(),
    inputs_schema: objects().optional(),
    icon_url: text({ blank: true }).nullable().optional(),
    category: list(text()).optional(),
    status: text().optional(),
    free: boolean().optional(),
  },
  initial: {
    description: "",
    code: "",
    code_language: "hog",
    inputs_schema: [],
    icon_url: null,
    category: [],
    status: "stable",
    free: true,
    filters: null,
    masking: null,
    mapping_templates: null,
  },
  query: { type: z.string().describe("Types, with commas between them (default: all)") },
  narrow(documents, { call }) {
    const types = (call.query.get("type") ?? call.query.get("types"))?.split(",");
    return documents.filter(({ fields }) => types?.includes(stringOf(fields.type)) ?? true);
  },
};

const weekdays = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"] as const;
const periods: Readonly<Record<string, string>> = { daily: "day", weekly: "week", monthly: "month", yearly: "year" };
const positions: Readonly<Record<string, string>> = { 1: "first", 2: "second", 3: "third", 4: "fourth", "-1": "last" };

/** `sent every 2 months on the first Monday` */
function scheduleText({ frequency, interval, byweekday: days, bysetpos }: JsonObject): string {
  const count = Number(interval);
  const period = periods[stringOf(frequency)] ?? "";
  const [day] = Array.isArray(days) ? days : [];
  const one = Array.isArray(days) && days.length === 1 ? stringOf(day) : "day";
  const name = one === "day" ? one : one.charAt(0).toUpperCase() + one.slice(1);
  const on = day !== undefined && bysetpos ? ` on the ${positions[stringOf(bysetpos)]} ${name}` : "";
  return `sent every ${count > 1 ? `${count} ${period}s` : period}${on}`;
}

/** @throws SimError with the service's text for what is wrong */
function prepareSubscription(fields: JsonObject, writing: Writing): JsonObject {
  checkReference(writing, "dashboard", "dashboards");
  checkReference(writing, "insight", "insights");
  const { dashboard, insight, prompt, dashboard_export_insights: chosen } = fields;
  const isOfPrompt = typeof prompt === "string" && prompt.trim() !== "";
  if (dashboard === null && insight === null && !isOfPrompt) {
    throw invalid("Insight is required for insight subscriptions.", "insight");
  }
  if (insight !== null && (dashboard !== null || isOfPrompt)) {
    throw invalid("Insight subscriptions cannot also set dashboard or prompt.", "insight");
  }
  if (dashboard !== null && Array.isArray(chosen) && chosen.length === 0) {
    throw invalid("Select at least one insight for this subscription.", "dashboard_export_insights");
  }
  if (fields.target_type === "slack" && fields.integration_id === null) {
    throw invalid("A Slack integration is required for Slack subscriptions.", "integration_id");
  }
  return fields;
}

const subjectOf = ({ dashboard, insight }: JsonObject): string =>
  insight !== null ? "insight" : dashboard !== null ? "dashboard" : "ai_prompt";

const subscriptions: ResourceKind = {
  kind: "subscriptions",
  nameField: "title",
  noun: "subscription",
  isOnlyStored: true,
  of: "project",
  scope: "subscription",
  key: "number",
  deletion: "patch",
  // Upstream PostHog/posthog ee/api/subscription.py
  fields: {
    dashboard: integer().nullable().optional(),
    insight: integer().nullable().optional(),
    dashboard_export_insights: list(integer()).optional(),
    prompt: text({ max: 4000, blank: true }).nullable().optional(),
    ai_prompt_config: dictionary().nullable().optional(),
    target_type: choice(["email", "slack", "webhook"]),
    target_value: text(),
    frequency: choice(["daily", "weekly", "monthly", "yearly"]),
    interval: integer({ min: 1 }).optional(),
    byweekday: list(choice(weekdays)).nullable().optional(),
    bysetpos: integer({ min: -1, max: 4 }).nullable().optional(),
    count: integer().nullable().optional(),
    start_date: datetime(),
    until_date: datetime().nullable().optional(),
    deleted: boolean().optional(),
    enabled: boolean().optional(),
    title: text({ max: 100, blank: true }).nullable().optional(),
    integration_id: integer().nullable().optional(),
    invite_message: text({ blank: true }).nullable().optional(),
    summary_enabled: boolean().optional(),
    summary_prompt_guide: text({ max: 500, blank: true }).optional(),
  },
  initial: {
    dashboard: null,
    insight: null,
    dashboard_export_insights: [],
    prompt: null,
    ai_prompt_config: null,
    interval: 1,
    byweekday: null,
    bysetpos: null,
    count: null,
    until_date: null,
    deleted: false,
    enabled: true,
    title: null,
    integration_id: null,
    summary_enabled: false,
    summary_prompt_guide: "",
    next_delivery_date: null,
  },
  stamps: ["created_at", "created_by"],
  unshown: ["invite_message"],
  shown: {
    resource_type: z.string(),
    resource_name: z.string().nullable(),
    insight_short_id: z.string().nullable(),
    summary: z.string(),
    next_delivery_date: z.null().describe("Nothing is delivered"),
  },
  filters: [
    fieldFilter("dashboard", z.int().describe("Only those of this dashboard")),
    fieldFilter("insight", z.int().describe("Only those of this insight")),
    equalFilter("resource_type", z.string().describe("insight, dashboard or ai_prompt"), ({ fields }) =>
      subjectOf(fields),
    ),
    fieldFilter("target_type", z.string().describe("email, slack or webhook")),
    searchIn("title"),
  ],
  prepare: prepareSubscription,
  show(fields, _, { worlds }) {
    const insight = worlds.get("insights", Number(fields.insight));
    const dashboard = worlds.get("dashboards", Number(fields.dashboard));
    return {
      resource_type: subjectOf(fields),
      insight_short_id: insight?.short_id ?? null,
      resource_name: insight ? (insight.name ?? insight.derived_name) : (dashboard?.name ?? null),
      summary: scheduleText(fields),
    };
  },
};

/** @throws SimError conflict when the content was changed since the client read it */
function prepareNotebook(fields: JsonObject, { body, before }: Writing): JsonObject {
  if (!before) return fields;
  const isContent = body.content !== undefined || body.text_content !== undefined;
  const { version } = before.fields;
  if (isContent && body.version !== undefined && body.version !== version) {
    throw new SimError("conflict", "Someone else edited the Notebook");
  }
  return { ...fields, version: Number(version) + (isContent ? 1 : 0) };
}

const notebooks: ResourceKind = {
  kind: "notebooks",
  nameField: "title",
  noun: "notebook",
  isOnlyStored: true,
  of: "project",
  scope: "notebook",
  key: "letters",
  deletion: "restore",
  // Upstream PostHog/posthog products/notebooks/backend/api/notebook.py
  fields: {
    title: text({ max: 256, blank: true }).nullable().optional(),
    content: json().optional(),
    text_content: text({ blank: true }).nullable().optional(),
    version: integer().optional(),
    deleted: boolean().optional(),
  },
  initial: { title: null, content: null, text_content: null, version: 0, deleted: false },
  stamps: ["created_at", "created_by", "last_modified_at", "last_modified_by"],
  filters: [searchIn("title", "text_content")],
  errors: [409],
  prepare: prepareNotebook,
};

/** The name in queries: `{variables.code_name}`. */
const codeName = (fields: JsonObject): string =>
  textIn(fields, "name")
    .replaceAll(/[^\p{L}\p{N} ]/gu, "")
    .replaceAll(" ", "_")
    .toLowerCase();

const insightVariables: ResourceKind = {
  kind: "insight_variables",
  noun: "insight variable",
  isOnlyStored: true,
  of: "project",
  scope: "insight_variable",
  deletion: "hard",
  // Upstream PostHog/posthog posthog/api/insight_variable.py
  fields: {
    name: text({ max: 400 }),
    type: choice(["String", "Number", "Boolean", "List", "Date"]),
    default_value: json().optional(),
    values: json().optional(),
  },
  initial: { default_value: null, values: null },
  stamps: ["created_at", "created_by"],
  shown: { code_name: z.string(), created_by: z.int().nullable() },
  prepare(fields, writing) {
    if (writing.before) return fields;
    const code_name = codeName(fields);
    const isTaken = siblingsOf(writing, "insight_variables").some(
      (it) => (it.fields.code_name ?? codeName(it.fields)) === code_name,
    );
    if (isTaken) throw invalid("Variable with name already exists");
    return { ...fields, code_name };
  },
  // in this kind the service shows the user's number
  show: ({ created_by = null, ...fields }) => ({ created_by, code_name: fields.code_name ?? codeName(fields) }),
};

const groupMetrics: ResourceKind = {
  kind: "groups_metrics",
  path: "metrics",
  parent: { path: "groups_types", param: "group_type_index" },
  noun: "usage metric",
  isOnlyStored: true,
  of: "project",
  scope: "usage_metric",
  deletion: "hard",
  fields: {
    name: text({ max: 255 }),
    format: choice(["numeric", "currency"]).optional(),
    interval: integer().optional(),
    display: choice(["number", "sparkline"]).optional(),
    filters: dictionary(),
    math: choice(["count", "sum"]).optional(),
    math_property: text().nullable().optional(),
  },
  initial: { format: "numeric", interval: 7, display: "number", math: "count", math_property: null },
  unshown: ["group_type_index"],
};

export const storedProjectKinds = [
  hogFunctions,
  hogFunctionTemplates,
  subscriptions,
  notebooks,
  insightVariables,
  groupMetrics,
];
