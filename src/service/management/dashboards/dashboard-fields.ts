import { z } from "zod";
import { isObject, type JsonObject } from "../../../kernel/base/json.ts";
import { dashboardKind, tileKind } from "../../../state/documents/schemas/dashboard.ts";
import type { Dashboard } from "../../../state/documents/world.ts";
import { boolean, integer, invalid, list, text } from "../../api-frame/fields.ts";

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
  ...tileKind.Writable.shape,
});
export type TilePatch = z.infer<typeof TilePatch>;

export type DashboardFields = z.infer<typeof dashboardKind.Writable>;

export const NewDashboard = dashboardKind.Writable.extend({ duplicate_tiles: boolean().optional() });

export const ChangedDashboard = dashboardKind.Writable.extend({
  tiles: list(TilePatch).optional(),
  duplicate_tiles: list(z.object({ id: integer(), layouts: tileKind.Writable.shape.layouts })).optional(),
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

/**
 * The fields of the document that the body sets.
 * @throws SimError invalid_input when filters or variables are not objects
 */
export const changesIn = (fields: DashboardFields): Partial<Dashboard> =>
  dashboardKind.changes(fields, { filters: filled, variables: filled });

/** @throws SimError invalid_input */
export function refuseTwoModels({ use_dashboard, use_template }: DashboardFields): void {
  if (use_dashboard && use_template) {
    throw invalid("`use_dashboard` and `use_template` cannot be used together");
  }
}
