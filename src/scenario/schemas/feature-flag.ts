import { z } from "zod";
import { FeatureFlag, FlagFilters } from "../../model/schemas/feature-flag.ts";
import { Email, Id, JsonRecord, Tags, Time } from "./values.ts";

const share = z.number().min(0).max(100);

const ShortFlag = z.strictObject({
  rollout: share.optional(),
  variants: z.record(z.string(), share).optional(),
  payloads: JsonRecord.optional(),
  person: JsonRecord.optional(),
  /** Tells the forms apart. */
  filters: z.never().optional(),
});
export type ShortFlag = z.infer<typeof ShortFlag>;

const { shape } = FeatureFlag;

/** As exported from production: what the sim does not know of it is let go. */
const ServiceFlag = z.looseObject({
  filters: FlagFilters,
  id: Id.optional(),
  name: shape.name.nullish(),
  active: shape.active.nullish(),
  deleted: shape.deleted.nullish(),
  version: shape.version.nullish(),
  ensure_experience_continuity: shape.ensure_experience_continuity.nullish(),
  has_encrypted_payloads: shape.has_encrypted_payloads.nullish(),
  is_remote_configuration: shape.is_remote_configuration.nullish(),
  evaluation_runtime: shape.evaluation_runtime.optional(),
  bucketing_identifier: shape.bucketing_identifier.optional(),
  tags: Tags.optional(),
  created_at: Time.optional(),
  updated_at: Time.nullish(),
});
export type ServiceFlag = z.infer<typeof ServiceFlag>;

/** `true`, `false`, the short form, or the service's own document. */
export const AuthoredFlag = z.union(
  [z.boolean(), ServiceFlag, ShortFlag],
  "a flag is true, false or an object",
);
export type AuthoredFlag = z.infer<typeof AuthoredFlag>;

export const AuthoredCohort = z.strictObject({
  name: z.string(),
  id: Id.optional(),
  description: z.string().optional(),
  is_static: z.boolean().optional(),
  deleted: z.boolean().optional(),
  filters: JsonRecord.optional(),
  query: z.json().optional(),
  /** Uuids of the persons of a static cohort. */
  persons: z.array(z.string()).optional(),
  created_at: Time.optional(),
  created_by: Email.nullable().optional(),
});
export type AuthoredCohort = z.infer<typeof AuthoredCohort>;
