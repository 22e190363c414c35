import { z } from "zod";
import { stringOf } from "../../../kernel/base/text.ts";
import { compareTimes } from "../../../state/documents/time.ts";
import type { StoredResource } from "../../../state/documents/world.ts";
import { documentNamed } from "../../api-frame/access.ts";
import type { ResourceRequest } from "../../api-frame/changing.ts";
import { boolean, choice, datetime, integer, invalid, isTrue, readWireTime, text } from "../../api-frame/fields.ts";
import type { ResourceKind } from "./kind.ts";
import { checkReference, searchIn, textIn } from "./resource-fields.ts";

const scopes = ["dashboard_item", "dashboard", "project", "organization", "recording"] as const;

const markedAt = ({ fields }: StoredResource): string => textIn(fields, "date_marker");

/** The parameter as a wire time. @throws SimError invalid_input */
function bound({ call }: ResourceRequest, name: string): string | undefined {
  const value = call.query.get(name);
  if (!value) return undefined;
  const time = readWireTime(value) ?? readWireTime(`${value}T00:00`);
  if (time === undefined) throw invalid(`Invalid date range: ${name} must be a valid ISO 8601 date`);
  return time;
}

/** @throws SimError invalid_input */
function narrow(documents: readonly StoredResource[], request: ResourceRequest): readonly StoredResource[] {
  const { query } = request.call;
  const scope = query.get("scope") === "insight" ? "dashboard_item" : query.get("scope");
  if (scope && !scopes.some((it) => it === scope)) throw invalid(`Invalid scope: ${scope}`);
  const from = bound(request, "date_from");
  const to = bound(request, "date_to");
  if (from && to && compareTimes(from, to) > 0) {
    throw invalid("Invalid date range: date_from must be before date_to");
  }
  const hidden = query.get("hidden_in_user_interface");
  return documents.filter(
    (it) =>
      (!scope || it.fields.scope === scope) &&
      (from === undefined || compareTimes(markedAt(it), from) >= 0) &&
      (to === undefined || compareTimes(markedAt(it), to) <= 0) &&
      (hidden === null || (it.fields.hidden_in_user_interface === true) === isTrue(hidden)),
  );
}

/** Notes on charts. Upstream PostHog/posthog products/annotations/backend/api/annotation.py. */
export const annotations: ResourceKind = {
  kind: "annotations",
  nameField: "content",
  noun: "annotation",
  isOnlyStored: false,
  of: "project",
  scope: "annotation",
  key: "number",
  deletion: "patch",
  limit: 1000,
  fields: {
    content: text({ max: 8192, blank: true }).nullable().optional(),
    date_marker: datetime().nullable().optional(),
    creation_type: choice(["USR", "GIT"]).optional(),
    dashboard_item: integer().nullable().optional(),
    dashboard_id: integer().nullable().optional(),
    deleted: boolean().optional(),
    scope: choice(scopes).optional(),
    emoji: text({ max: 8, blank: true }).nullable().optional(),
    hidden_in_user_interface: boolean().nullable().optional(),
  },
  initial: {
    content: null,
    date_marker: null,
    creation_type: "USR",
    dashboard_item: null,
    dashboard_id: null,
    deleted: false,
    scope: "dashboard_item",
    emoji: null,
    hidden_in_user_interface: null,
  },
  stamps: ["created_at", "created_by", "updated_at"],
  shown: {
    dashboard_name: z.string().nullable(),
    insight_short_id: z.string().nullable(),
    insight_name: z.string().nullable(),
    insight_derived_name: z.string().nullable(),
  },
  filters: [searchIn("content")],
  query: {
    scope: choice([...scopes, "insight"]).describe("Only those of this scope"),
    date_from: z.string().describe("Only those marked at or after this time"),
    date_to: z.string().describe("Only those marked at or before this time"),
    hidden_in_user_interface: z.boolean().describe("Only those hidden from charts, or only the others"),
  },
  compare: (a, b) => compareTimes(markedAt(b), markedAt(a)) || Number(b.key) - Number(a.key),
  load({ project, organization }, { worlds }) {
    const isOfAll = (it: StoredResource) =>
      it.fields.scope === "organization" && worlds.projectById(it.project ?? 0)?.organization === organization.id;
    return worlds.current.resources.filter(
      (it) => it.kind === "annotations" && (it.project === project?.id || isOfAll(it)),
    );
  },
  narrow,
  prepare(fields, writing) {
    const { body, desk, request } = writing;
    const { dashboard_id: dashboard = null } = body;
    if (dashboard !== null && !documentNamed(desk, "dashboards", request.project?.id ?? 0, stringOf(dashboard))) {
      throw invalid("Dashboard not found.", "dashboard_id");
    }
    checkReference(writing, "dashboard_item", "insights");
    if (body.scope === "recording") throw invalid("Recording scope is deprecated");
    return { ...fields, emoji: fields.emoji || null };
  },
  show({ dashboard_item, dashboard_id }, _, { worlds }) {
    const insight = worlds.get("insights", Number(dashboard_item));
    return {
      dashboard_name: worlds.get("dashboards", Number(dashboard_id))?.name ?? null,
      insight_short_id: insight?.short_id ?? null,
      insight_name: insight?.name ?? null,
      insight_derived_name: insight?.derived_name ?? null,
    };
  },
};
