import { z } from "zod";
import { FlagFilters } from "../model/world.schema.ts";

const share = z.number().min(0).max(100);

/** `true`, `false`, the short form, or the service's own `filters` as exported from production. */
const Flag = z.union([
  z.boolean(),
  z.strictObject({
    rollout: share.optional(),
    variants: z.record(z.string(), share).optional(),
    payloads: z.record(z.string(), z.json()).optional(),
    person: z.record(z.string(), z.json()).optional(),
  }),
  z.looseObject({ filters: FlagFilters }),
]);

const Project = z.strictObject({
  id: z.int().positive().optional(),
  name: z.string(),
  api_key: z
    .string()
    .regex(/^(?!phx_)[\x21-\x7e]{1,64}$/, "a project key: up to 64 ASCII characters, not phx_…"),
  secret_api_key: z.string().optional(),
  flags: z.record(z.string(), Flag).optional(),
  remote_config: z.record(z.string(), z.json()).optional(),
  surveys: z.array(z.record(z.string(), z.json())).optional(),
  early_access_features: z.array(z.record(z.string(), z.json())).optional(),
  prompts: z
    .array(
      z.strictObject({
        name: z.string(),
        prompt: z.json(),
        version: z.int().optional(),
        label: z.string().optional(),
      }),
    )
    .optional(),
});

/** A scenario file: an authored world, read-only, kept in git. Unknown keys are errors. */
export const ScenarioSchema = z.strictObject({
  $schema: z.string().optional(),
  version: z.literal(1),
  description: z.string().optional(),
  organizations: z.array(z.strictObject({ name: z.string(), projects: z.array(Project).min(1) })).min(1),
  personal_api_keys: z
    .array(z.strictObject({ key: z.string(), label: z.string().optional(), scopes: z.array(z.string()) }))
    .min(1),
});
