import { z } from "zod";
import { isObject, type JsonObject } from "../../../kernel/base/json.ts";
import { tidyTags } from "../../../state/documents/tags.ts";
import type { Dashboard } from "../../../state/documents/world.ts";
import { given } from "../../api-frame/body.ts";
import { boolean, datetime, integer, invalid, json, list, numberChoice, text } from "../../api-frame/fields.ts";

/** Read from the body as it stands, outside of the service's serializer: checked by `filled`. */
const rawObject = () => z.unknown().optional().meta({ type: "object" });

export const layouts = () => z.record(z.string(), z.json());

/** A tile in a PATCH of its dashboard. A text makes or changes a text tile, the rest changes the tile with the id. */
const TilePatch = z.object({
  id: integer().nullable().optional(),
  text: z
    .object({
      id: integer().nullable().optional(),
      body: text({ blank: true }).nullable().optional(),
      created_by: z.object({ id: integer().optional() }).nullable().optional(),
    })
    .nullable()
    .optional(),
  layouts: layouts().optional(),
  color: text({ max: 400, blank: true }).nullable().optional(),
  deleted: boolean().optional(),
  filters_overrides: json().optional(),
  show_description: boolean().nullable().optional(),
  transparent_background: boolean().nullable().optional(),
});
export type TilePatch = z.infer<typeof TilePatch>;

/** In the order of the service's serializer. */
export const DashboardFields = z.object({
  name: text({ max: 400, blank: true }).nullable().optional(),
  description: text({ blank: true }).optional(),
  pinned: boolean().optional(),
  deleted: boolean().optional(),
  use_template: text({ blank: true }).optional(),
  use_dashboard: integer().nullable().optional(),
  delete_insights: boolean().optional(),
  breakdown_colors: list(json()).optional(),
  data_color_theme_id: integer().nullable().optional(),
  tags: list(text({ max: 255, blank: true }))
    .nullable()
    .optional(),
  restriction_level: numberChoice([21, 37]).optional(),
  last_refresh: datetime().nullable().optional(),
  filters: rawObject(),
  variables: rawObject(),
});
export type DashboardFields = z.infer<typeof DashboardFields>;

export const NewDashboard = DashboardFields.extend({ duplicate_tiles: boolean().optional() });

export const ChangedDashboard = DashboardFields.extend({
  tiles: list(TilePatch).optional(),
  duplicate_tiles: list(z.object({ id: integer(), layouts: layouts().optional() })).optional(),
});
export type ChangedDashboard = z.infer<typeof ChangedDashboard>;

/** What Python takes for false, except an empty object. */
const isNothing = (value: unknown): boolean => !value || (Array.isArray(value) && value.length === 0);

/** An object that is not empty; undefined if it is empty. The service's message has "Filters" for both. */
function filled(value: unknown): JsonObject | undefined {
  if (isNothing(value)) return undefined;
  if (!isObject(value)) throw invalid("Filters must be a dictionary");
  return Object.keys(value).length > 0 ? value : undefined;
}

const kept = [
  "name",
  "description",
  "pinned",
  "restriction_level",
  "breakdown_colors",
  "data_color_theme_id",
  "last_refresh",
] as const satisfies readonly (keyof DashboardFields & keyof Dashboard)[];

/**
 * The fields of the document that the body sets.
 * @throws SimError invalid_input when filters or variables are not objects
 */
export function changesIn(fields: DashboardFields): Partial<Dashboard> {
  const filters = filled(fields.filters);
  const variables = filled(fields.variables);
  return {
    ...given(fields, kept),
    ...(fields.tags && { tags: tidyTags(fields.tags) }),
    ...(filters && { filters }),
    ...(variables && { variables }),
  };
}

/** @throws SimError invalid_input */
export function refuseTwoModels({ use_dashboard, use_template }: DashboardFields): void {
  if (use_dashboard && use_template) {
    throw invalid("`use_dashboard` and `use_template` cannot be used together");
  }
}
