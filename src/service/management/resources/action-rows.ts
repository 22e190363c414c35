import { z } from "zod";
import { objectsIn } from "../../../kernel/base/json.ts";
import type { Endpoint } from "../../../kernel/http/endpoint.ts";
import { found, numberIn } from "../../api-frame/access.ts";
import { inProject, managementRow, projectRoot } from "../../api-frame/row.ts";
import { actionOf } from "../../query/named-documents.ts";
import type { ManagementDesk } from "../desk.ts";

/** The rows of an EventsQuery about an action. @throws SimError invalid_input for an action without steps */
async function rowsOf(
  { queries }: ManagementDesk,
  project: number,
  query: { readonly actionId: number; readonly select: readonly string[]; readonly after: string },
): Promise<unknown[]> {
  const order = { kind: "EventsQuery", orderBy: [], limit: 50_000, ...query, select: [...query.select] };
  const { results } = await queries.run({ project, query: order, mode: "force_blocking" });
  return Array.isArray(results) ? results : [];
}

/** Uuids of the project's events that match an action. @throws SimError as `rowsOf` */
export async function eventsOfAction(
  desk: ManagementDesk,
  project: number,
  actionId: number,
): Promise<ReadonlySet<unknown>> {
  const rows = await rowsOf(desk, project, { actionId, select: ["uuid"], after: "all" });
  return new Set(rows.map((row) => (Array.isArray(row) ? row[0] : undefined)));
}

/** What is asked of an action. Upstream PostHog/posthog products/actions/backend/api/action.py. */
export const actionRows = (desk: ManagementDesk): Endpoint[] =>
  managementRow(desk, {
    method: "GET",
    path: `${projectRoot}/actions/:id/count`,
    summary: "The number of events that matched an action in the last three months",
    access: inProject("action:read", "analytics"),
    reply: z.object({ count: z.int() }),
    async handle({ project, param }) {
      const id = numberIn(param("id")) ?? Number.NaN;
      const { steps } = found(actionOf(desk.worlds, project.id, id));
      if (objectsIn([...steps]).length === 0) return { count: 0 };
      const [row] = await rowsOf(desk, project.id, { actionId: id, select: ["count()"], after: "-90d" });
      return { count: Array.isArray(row) ? Number(row[0] ?? 0) : 0 };
    },
  });
