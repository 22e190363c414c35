import { z } from "zod";
import type { JsonObject } from "../../kernel/json.ts";
import type { Cohort } from "../../model/world.ts";
import type { ResourceDesk } from "../desk.ts";
import { showUserOf, UserShape } from "../users.ts";
import { treeOf } from "./tree.ts";

/** Upstream PostHog/posthog posthog/api/cohort.py, CohortSerializer. */
export const CohortShape = z
  .object({
    id: z.int(),
    name: z.string().nullable(),
    description: z.string(),
    groups: z.array(z.json()),
    deleted: z.boolean(),
    filters: z.json(),
    query: z.json(),
    is_calculating: z.boolean(),
    created_by: UserShape.nullable(),
    created_at: z.string().nullable(),
    last_calculation: z.string().nullable(),
    errors_calculating: z.int(),
    /** How many persons a static cohort lists; null: the sim does not know who is in it. */
    count: z.int().nullable(),
    is_static: z.boolean(),
    cohort_type: z.string().nullable(),
    experiment_set: z.array(z.int()),
  })
  .meta({ title: "Cohort" });

export function showCohort(desk: ResourceDesk, cohort: Cohort): z.infer<typeof CohortShape> {
  const tree: JsonObject = { properties: treeOf(cohort) };
  return {
    id: cohort.id,
    name: cohort.name ?? null,
    description: cohort.description ?? "",
    groups: cohort.groups ?? [],
    deleted: cohort.deleted ?? false,
    filters: cohort.filters ?? tree,
    query: cohort.query ?? null,
    is_calculating: false,
    created_by: showUserOf(desk, cohort.created_by ?? null),
    created_at: cohort.created_at ?? null,
    last_calculation: null,
    errors_calculating: 0,
    count: cohort.is_static === true ? (cohort.persons ?? []).length : null,
    is_static: cohort.is_static ?? false,
    cohort_type: null,
    experiment_set: [],
  };
}
