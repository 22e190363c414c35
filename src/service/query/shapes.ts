import { z } from "zod";
import { OfProject } from "../../state/journal/query-shapes.ts";

/** A query of the control API: HogQL, a query with its kind, or a stored insight. */
export const ControlQuery = z.strictObject({
  project: OfProject.nullish().describe("Id of a project (default: the first one)"),
  query: z
    .union([z.string().min(1), z.record(z.string(), z.json())], { error: "HogQL or an object with a kind" })
    .optional()
    .describe("HogQL as text, or a query with its kind"),
  insight: z
    .union([z.string().min(1), z.int()], { error: "the name or the id of an insight" })
    .optional()
    .describe("Name, short id or id of an insight of the project, or of the project that it was made like"),
});
export type ControlQuery = z.infer<typeof ControlQuery>;

const InsightFacts = z.object({ id: z.int(), short_id: z.string(), name: z.string().nullable() });

/** The response of the service's query endpoint, and what was run. */
export const ControlAnswer = z
  .looseObject({
    project: z.int(),
    insight: InsightFacts.nullable(),
    query: z.record(z.string(), z.json()).describe("Without the nodes around it"),
    results: z.json(),
    columns: z.json().optional(),
    types: z.json().optional(),
    hasMore: z.json().optional(),
  })
  .meta({ title: "QueryAnswer" });

/** A person who did not reach the next step of a funnel. */
const DropOff = z.object({
  person: z.string().describe("Uuid, or the distinct id of one without a person"),
  distinct_ids: z.array(z.string()),
  last_events: z
    .array(z.object({ seq: z.int(), event: z.string(), timestamp: z.string() }))
    .describe("The last events, in order of their times"),
});
export type DropOff = z.infer<typeof DropOff>;

export const DropOffs = z
  .object({
    steps: z.array(
      z.object({
        name: z.string(),
        count: z.int().describe("Persons who reached the step"),
        left: z.int().describe("Persons who reached it, and not the next one"),
        persons: z.array(DropOff).describe("At most 10 of those who left"),
      }),
    ),
  })
  .meta({ title: "DropOffs" });
export type DropOffs = z.infer<typeof DropOffs>;

/** A query in the background. Upstream PostHog/posthog posthog/schema.py, `QueryStatus`. */
export const QueryStatus = z
  .object({
    id: z.string(),
    team_id: z.int(),
    insight_id: z.int().nullable(),
    dashboard_id: z.int().nullable(),
    complete: z.boolean(),
    error: z.boolean(),
    error_message: z.string().nullable(),
    results: z.json(),
    query_async: z.literal(true),
    start_time: z.string(),
    pickup_time: z.string().nullable(),
    end_time: z.string().nullable(),
    expiration_time: z.string().nullable(),
    task_id: z.null(),
    query_progress: z.null(),
    labels: z.null(),
  })
  .meta({ title: "QueryStatus" });
export type QueryStatus = z.infer<typeof QueryStatus>;
