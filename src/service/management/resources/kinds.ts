import { isObject, type JsonObject, objectsIn, textIn } from "../../../kernel/base/json.ts";
import { boolean } from "../../../state/documents/lenient-fields.ts";
import { eventDefinitions, propertyDefinitions } from "../definitions/definitions.ts";
import { accessControls } from "./access-controls.ts";
import { actions } from "./actions.ts";
import { earlyAccessFeatures } from "./early-access-features.ts";
import { experiments } from "./experiments.ts";
import { type ResourceKind, type ResourceRow, resourceKind } from "./kind.ts";
import { surveys } from "./surveys.ts";

/** A kind of documents that nothing else of the sim reads: they are kept as clients send them. */
const stored = (kind: string, noun: string, more: Partial<ResourceRow> = {}): ResourceKind =>
  resourceKind({
    kind,
    noun,
    isOnlyStored: true,
    isLoose: true,
    of: "project",
    scope: noun.replaceAll(" ", "_"),
    deletion: "hard",
    fields: {},
    stamps: ["created_at", "created_by"],
    ...more,
  });

/** Deleted and restored by PATCH. */
const marked = { fields: { deleted: { write: boolean(), blank: false } } };

/** Values of secret inputs are not kept. */
function withoutSecrets({ inputs, ...fields }: JsonObject): JsonObject {
  if (!isObject(inputs)) return fields;
  const secrets = new Set(objectsIn(fields.inputs_schema).map((it) => it.secret === true && textIn(it, "key")));
  const entries = Object.entries(inputs).map(([name, it]) => [name, secrets.has(name) ? { secret: true } : it]);
  return { ...fields, inputs: Object.fromEntries(entries) };
}

const ofOrganization = { of: "organization", scope: "organization", byAdmins: true } as const;

export const resourceKinds: readonly ResourceKind[] = [
  actions,
  surveys,
  earlyAccessFeatures,
  experiments,
  eventDefinitions,
  propertyDefinitions,
  accessControls,
  stored("annotations", "annotation", {
    ...{ ...marked, isOnlyStored: false, key: "number", nameField: "content", deletion: "patch" },
  }),
  stored("schema_property_groups", "schema property group", { scope: "event_definition" }),
  stored("event_schemas", "event schema", {
    scope: "event_definition",
    methods: ["list", "create", "change", "remove"],
  }),
  stored("alerts", "alert"),
  stored("hog_functions", "hog function", { ...marked, deletion: "restore", prepare: withoutSecrets }),
  stored("hog_function_templates", "hog function template", {
    ...{ scope: "hog_function", key: "name", methods: ["list", "read"] },
  }),
  stored("subscriptions", "subscription", { ...marked, key: "number", nameField: "title", deletion: "patch" }),
  stored("notebooks", "notebook", { ...marked, key: "letters", nameField: "title", deletion: "restore" }),
  stored("insight_variables", "insight variable"),
  stored("groups_metrics", "usage metric", {
    path: "metrics",
    parent: { path: "groups_types", param: "group_type_index" },
  }),
  stored("roles", "role", ofOrganization),
  stored("role_memberships", "role membership", {
    ...ofOrganization,
    parent: { path: "roles", param: "role_id", kind: "roles" },
    methods: ["list", "create", "read", "remove"],
    stamps: ["joined_at", "updated_at"],
  }),
  stored("invites", "invite", {
    of: "organization",
    scope: "organization_member",
    methods: ["list", "create", "remove"],
  }),
];
