import { z } from "zod";
import { AuthoredOrganization, AuthoredPersonalApiKey, AuthoredUser } from "./schemas/account.ts";
import { AuthoredProject } from "./schemas/project.ts";

/** A scenario file: an authored world, read-only, kept in git. Unknown keys are errors. */
export const ScenarioSchema = z.strictObject({
  $schema: z.string().optional(),
  version: z.literal(1),
  description: z.string().optional(),
  /** By default one: dev@phx-sim.test. */
  users: z.array(AuthoredUser).min(1).optional(),
  organizations: z.array(AuthoredOrganization.extend({ projects: z.array(AuthoredProject).min(1) })).min(1),
  personal_api_keys: z.array(AuthoredPersonalApiKey).min(1),
});

/** A scenario as its author writes it. */
export type Scenario = z.infer<typeof ScenarioSchema>;
