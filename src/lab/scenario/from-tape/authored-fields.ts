import type { z } from "zod";
import { type Json, type JsonObject, own } from "../../../kernel/base/json.ts";
import type { KindField } from "../../../state/documents/kind.ts";
import { dashboardKind, insightKind } from "../../../state/documents/schemas/dashboard.ts";
import { cohortKind } from "../../../state/documents/schemas/feature-flag.ts";
import {
  AuthoredBatchExport,
  AuthoredPerson,
  AuthoredProject,
  AuthoredRun,
  InsightTile,
  ServiceFlag,
} from "../project-schema.ts";
import { AuthoredOrganization, AuthoredUser } from "../schema.ts";
import type { DocumentKind, Found } from "./documents.ts";

/** The fields of a document that a scenario has under the same names, in this order. */
interface Fields {
  readonly shape: Readonly<Record<string, z.ZodType>>;
  readonly names: readonly string[];
}

const fields = ({ shape }: z.ZodObject, names: string): Fields => ({
  shape: shape as Fields["shape"],
  names: names.split(" "),
});

/** All that a scenario may have, but users: their addresses are not in the document. */
const fieldsOf = (
  { Authored: { shape }, fields: rows }: { Authored: z.ZodObject; fields: Readonly<Record<string, KindField>> },
  without: readonly string[] = [],
): Fields => ({
  shape: shape as Fields["shape"],
  names: Object.keys(shape).filter((name) => rows[name]?.is !== "user" && !without.includes(name)),
});

const byKind: Readonly<Record<DocumentKind, Fields>> = {
  users: fields(
    AuthoredUser,
    "email id uuid distinct_id first_name last_name role_at_organization is_email_verified is_staff date_joined",
  ),
  organizations: fields(
    AuthoredOrganization,
    "name id slug plugins_access_level is_member_join_email_enabled enforce_2fa allow_publicly_shared_resources created_at",
  ),
  projects: fields(AuthoredProject, "id uuid name timezone is_demo created_at"),
  dashboards: fieldsOf(dashboardKind),
  insights: fieldsOf(insightKind),
  feature_flags: fields(
    ServiceFlag,
    "filters id name active deleted version ensure_experience_continuity has_encrypted_payloads is_remote_configuration evaluation_runtime bucketing_identifier evaluation_contexts evaluation_tags tags created_at",
  ),
  cohorts: fieldsOf(cohortKind, ["persons"]),
  batch_exports: fields(
    AuthoredBatchExport,
    "name id model destination interval paused last_paused_at start_at end_at hogql_query schema filters created_at",
  ),
  persons: fields(AuthoredPerson, "distinct_ids uuid properties created_at"),
};

const runFields = fields(
  AuthoredRun,
  "id status data_interval_start data_interval_end records_completed records_total_count bytes_exported latest_error cursor created_at finished_at",
);

const tileFields = fields(InsightTile, "id layouts color show_description transparent_background");

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

/** A tile without its content. */
export const authoredTile = (tile: JsonObject): JsonObject => picked(tileFields, (name) => own(tile, name));
