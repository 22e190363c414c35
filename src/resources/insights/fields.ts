import { z } from "zod";
import { boolean, dictionary, json, list, text } from "../fields.ts";

const label = () => text({ max: 400, blank: true }).nullable().optional();

/** In the order of the service's serializer. */
export const InsightFields = z.object({
  name: label(),
  derived_name: label(),
  filters: dictionary().optional(),
  query: json().nullable().optional(),
  deleted: boolean().optional(),
  /** Ids of dashboards; looked up by `dashboardsNamed`. */
  dashboards: list(json()).optional(),
  description: label(),
  tags: list(text({ max: 255, blank: true }))
    .nullable()
    .optional(),
  favorited: boolean().optional(),
  saved: boolean().optional(),
});
export type InsightFields = z.infer<typeof InsightFields>;
