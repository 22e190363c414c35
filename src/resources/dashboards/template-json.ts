import { z } from "zod";
import { isObject, type Json, type JsonObject } from "../../kernel/json.ts";
import type { Dashboard } from "../../model/world.ts";
import { json } from "../fields.ts";
import { invalid } from "../invalid.ts";
import { createDashboard, emptyDashboard } from "./create.ts";
import type { DashboardDesk, DashboardRequest } from "./desk.ts";
import { changesIn, NewDashboard } from "./fields.ts";
import { type TemplateContent, withTemplate } from "./templates.ts";

/** The contract lets it take a dashboard's writable fields, the service takes a template only. */
export const DashboardFromJson = NewDashboard.extend({
  template: z.unknown().optional().meta({ type: "object" }),
});
type DashboardFromJson = z.infer<typeof DashboardFromJson>;

interface Rule {
  key: string;
  /** JSON types that the value may have. */
  types: readonly string[];
  isRequired?: true;
}

/** What a template is made of. Upstream PostHog/posthog posthog/api/dashboards/dashboard_template_schema.json. */
const rules: readonly Rule[] = [
  { key: "template_name", types: ["string"], isRequired: true },
  { key: "dashboard_description", types: ["string"], isRequired: true },
  { key: "dashboard_filters", types: ["object"], isRequired: true },
  { key: "tiles", types: ["array"], isRequired: true },
  { key: "id", types: ["string"] },
  { key: "team_id", types: ["number", "null"] },
  { key: "created_at", types: ["string", "null"] },
  { key: "image_url", types: ["string", "null"] },
  { key: "variables", types: ["array", "null"] },
  { key: "tags", types: ["array"] },
];

function typeOf(value: Json): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

const quoted = (value: Json): string => JSON.stringify(value).slice(0, 200);

function complaint(template: JsonObject, { key, types, isRequired }: Rule): string | undefined {
  const value = Object.hasOwn(template, key) ? template[key] : undefined;
  if (value === undefined) return isRequired && `'${key}' is a required property`;
  if (types.includes(typeOf(value))) return undefined;
  return `${quoted(value)} is not of type ${types.map((type) => `'${type}'`).join(", ")}`;
}

/** @throws SimError invalid_input with what a JSON Schema validator would say first */
function checkTemplate(template: JsonObject): void {
  for (const rule of rules) {
    const detail = complaint(template, rule);
    if (detail !== undefined) throw invalid(detail);
  }
  const { tiles, tags = [] } = template;
  if (Array.isArray(tiles) && tiles.length === 0) throw invalid("[] should be non-empty");
  refuseStrangers(tiles, isObject, "object");
  refuseStrangers(tags, (tag) => typeof tag === "string", "string");
}

function refuseStrangers(list: Json | undefined, is: (member: Json) => boolean, type: string): void {
  const stranger = Array.isArray(list) ? list.find((it) => !is(it)) : undefined;
  if (stranger !== undefined) throw invalid(`${quoted(stranger)} is not of type '${type}'`);
}

const Content = z.object({
  template_name: z.string(),
  dashboard_description: z.string(),
  dashboard_filters: z.record(z.string(), json()),
  tags: z.array(z.string()).default([]),
  tiles: z.array(z.record(z.string(), json())),
});

/** @throws SimError required, invalid_input */
function contentOf(template: unknown): TemplateContent {
  if (!isObject(template)) throw invalid("Template must be a dictionary", "template");
  checkTemplate(template);
  const content = Content.parse(template);
  return { ...content, tiles: content.tiles.map((tile) => ({ ...tile, type: String(tile.type) })) };
}

/**
 * Makes a dashboard of a template in the body; its other fields win over the template's.
 * @throws SimError required, invalid_input
 */
export function createFromJson(desk: DashboardDesk, request: DashboardRequest<DashboardFromJson>): Dashboard {
  const { template, ...fields } = request.body();
  const isDocumented = desk.dialect === "documented";
  if (template === undefined || template === null) {
    if (isDocumented) return createDashboard(desk, request, fields);
    throw invalid("This field is required.", "template", "required");
  }
  const content = contentOf(template);
  const changes = isDocumented ? changesIn(fields) : {};
  return desk.worlds.change((draft) => {
    const maker = desk.maker(draft, request);
    const made = withTemplate(maker, emptyDashboard(maker, {}), content);
    return draft.put("dashboards", { ...made, ...changes });
  });
}
