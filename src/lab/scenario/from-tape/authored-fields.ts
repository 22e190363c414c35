import type { z } from "zod";
import { type Json, type JsonObject, objectIn, own } from "../../../kernel/base/json.ts";
import { userKind } from "../../../state/documents/field-kinds.ts";
import type { KindField } from "../../../state/documents/kind.ts";
import { organizationKind } from "../../../state/documents/schemas/account.ts";
import { exportKind, runKind } from "../../../state/documents/schemas/batch-export.ts";
import { dashboardKind, insightKind, tileKind } from "../../../state/documents/schemas/dashboard.ts";
import { cohortKind, flagKind } from "../../../state/documents/schemas/feature-flag.ts";
import { AuthoredPerson, AuthoredProject } from "../project-schema.ts";
import type { DocumentKind, Found } from "./documents.ts";

/** The fields of a document that a scenario has under the same names, in this order. */
interface Fields {
  readonly shape: Readonly<Record<string, z.ZodType>>;
  readonly names: readonly string[];
}

const only = ({ shape }: z.ZodObject, names: string): Fields => ({
  shape: shape as Fields["shape"],
  names: names.split(" "),
});

/** All that a scenario may have, but users: their addresses are not in the document. */
function fieldsOf(
  { Authored: { shape }, fields }: { Authored: z.ZodObject; fields: Readonly<Record<string, KindField>> },
  ...without: readonly string[]
): Fields {
  const names = Object.keys(shape).filter((name) => fields[name]?.is !== "user" && !without.includes(name));
  return { shape: shape as Fields["shape"], names };
}

const byKind: Readonly<Record<DocumentKind, Fields>> = {
  users: fieldsOf(userKind, "hedgehog_config", "is_active"),
  organizations: fieldsOf(organizationKind, "available_product_features", "logo_media_id", "customer_id"),
  projects: only(AuthoredProject, "id uuid name timezone is_demo created_at"),
  dashboards: fieldsOf(dashboardKind),
  insights: fieldsOf(insightKind),
  feature_flags: fieldsOf(flagKind, "updated_at"),
  cohorts: fieldsOf(cohortKind, "persons"),
  batch_exports: fieldsOf(exportKind, "deleted", "scripted_runs"),
  persons: only(AuthoredPerson, "distinct_ids uuid properties created_at"),
};

const runFields = fieldsOf(runKind, "backfill");
const tileFields = fieldsOf(tileKind, "filters_overrides");

/** False for other types and for empty strings of required keys; all other mistakes are left to the checker, which reports them. */
function fits(shape: z.ZodType | undefined, value: Json): boolean {
  if (!shape || (value === "" && !shape.safeParse(undefined).success)) return false;
  const { error } = shape.safeParse(value);
  return !error?.issues.some(({ code, path }) => code === "invalid_type" && path.length === 0);
}

const picked = ({ shape, names }: Fields, fieldOf: (name: string) => Json | undefined): JsonObject =>
  Object.fromEntries(
    names.flatMap((name) => {
      const value = fieldOf(name);
      return value !== undefined && fits(shape[name], value) ? [[name, value]] : [];
    }),
  );

export const authored = ({ kind, fields: its }: Pick<Found, "kind" | "fields">): JsonObject =>
  picked(byKind[kind], (name) => {
    const value = its.get(name);
    // null is the default of a flag's keys
    return kind === "feature_flags" ? (value ?? undefined) : value;
  });

export const authoredRun = (run: JsonObject): JsonObject => picked(runFields, (name) => own(run, name));

/** A tile with the name of its insight, or its text; undefined for other tiles. */
export function authoredTile(tile: JsonObject, names: ReadonlyMap<string, string>): JsonObject | undefined {
  const name = names.get(String(own(objectIn(tile, "insight"), "id") ?? ""));
  const body = own(objectIn(tile, "text"), "body");
  const look = picked(tileFields, (field) => own(tile, field));
  if (name !== undefined) return { ...look, insight: name };
  return typeof body === "string" ? { ...look, text: body } : undefined;
}

/** Unique names of insights, by their ids: tiles refer to them by name. */
export function insightNames(insights: readonly JsonObject[]): Map<string, string> {
  const taken = new Set<string>();
  return new Map(
    insights.map((it) => {
      const id = String(it.id);
      const given = String(it.name || it.derived_name || `Insight ${id}`);
      const name = taken.has(given) ? `${given} (${id})` : given;
      taken.add(name);
      return [id, name];
    }),
  );
}
