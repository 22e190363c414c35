import { z } from "zod";
import { FeatureFlag, FlagFilters } from "../../world/schemas/feature-flag.ts";
import { AnyJson, Email, Id, JsonRecord, Tags, Time } from "./values.ts";

const share = z.number().min(0).max(100);

const ShortFlag = z.strictObject({
  rollout: share.optional().describe("Percent of everybody who gets it; by default 100."),
  variants: z.record(z.string(), share).optional().describe("Percent of each variant; together 100."),
  payloads: JsonRecord.optional().describe("By variant; `true` for a flag without variants."),
  person: JsonRecord.optional().describe("Only for persons with exactly these properties."),
  /** Tells the forms apart. */
  filters: z.never().optional(),
});
export type ShortFlag = z.infer<typeof ShortFlag>;

const { shape } = FeatureFlag;

const Filters = FlagFilters.extend({
  version: z
    .literal(1, "1 (rules of other versions are not evaluated yet)")
    .optional()
    .describe("The version of the rules; by default 1, the only one that is evaluated."),
  groups: FlagFilters.shape.groups.describe(
    "Condition sets: the first whose properties match, and whose share has the person, decides.",
  ),
  multivariate: FlagFilters.shape.multivariate.describe("The variants with their percentages."),
  payloads: FlagFilters.shape.payloads.describe("By variant; `true` for a flag without variants."),
});

/** As exported from production: what the sim does not know of it is let go. */
const ServiceFlag = z.looseObject({
  filters: Filters.describe("The service's filters, as exported from production."),
  id: Id.optional().describe("The flag's number; by default the next free one."),
  name: shape.name.nullish().describe("What the flag is about."),
  active: shape.active.nullish().describe("False: the flag is not computed. By default true."),
  deleted: shape.deleted.nullish().describe("By default false."),
  version: shape.version.nullish().describe("By default 1."),
  ensure_experience_continuity: shape.ensure_experience_continuity
    .nullish()
    .describe("True: who is identified keeps the value from before. By default false."),
  has_encrypted_payloads: shape.has_encrypted_payloads.nullish().describe("By default false."),
  is_remote_configuration: shape.is_remote_configuration
    .nullish()
    .describe("True: it carries a payload for everybody, not a decision. By default false."),
  evaluation_runtime: shape.evaluation_runtime.optional().describe("Where it counts; by default everywhere."),
  bucketing_identifier: shape.bucketing_identifier
    .optional()
    .describe("`device_id`: the device is hashed. By default the distinct id is."),
  evaluation_contexts: shape.evaluation_contexts
    .nullish()
    .describe("Only for callers that name one of these; by default for everybody."),
  tags: Tags.optional().describe("They are trimmed, put in lower case and sorted."),
  evaluation_tags: Tags.nullish().describe("What older exports call `evaluation_contexts`."),
  created_at: Time.optional().describe("By default 2025-01-01."),
  updated_at: Time.nullish().describe("By default never."),
});
export type ServiceFlag = z.infer<typeof ServiceFlag>;

/** `true`, `false`, the short form, or the service's own document. */
export const AuthoredFlag = z.union(
  [z.boolean(), ServiceFlag, ShortFlag],
  "a flag: true, false or an object",
);
export type AuthoredFlag = z.infer<typeof AuthoredFlag>;

export const AuthoredCohort = z.strictObject({
  name: z.string().describe("The cohort's name."),
  id: Id.optional().describe("The number that flags call it by; by default the next free one."),
  description: z.string().optional().describe("By default empty."),
  is_static: z.boolean().optional().describe("True: `persons` are its members. By default false."),
  deleted: z.boolean().optional().describe("By default false."),
  filters: JsonRecord.optional().describe("The service's filters; they are computed for each person."),
  query: AnyJson.optional().describe("The service's query JSON; it is kept, but not computed."),
  persons: z
    .array(z.string())
    .optional()
    .describe("Members of a static cohort: uuids, or distinct ids of persons of this project."),
  created_at: Time.optional().describe("By default 2025-01-01."),
  created_by: Email.nullable().optional().describe("E-mail address; by default the first user's."),
});
export type AuthoredCohort = z.infer<typeof AuthoredCohort>;
