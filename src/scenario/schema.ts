import { z } from "zod";
import { FaultUses } from "../faults/shapes.ts";
import { AuthoredOrganization, AuthoredPersonalApiKey, AuthoredUser } from "./schemas/account.ts";
import { AuthoredClock } from "./schemas/clock.ts";
import { AuthoredPlace } from "./schemas/place.ts";
import { AuthoredProject } from "./schemas/project.ts";

export const OrganizationWithProjects = AuthoredOrganization.extend({
  projects: z.array(AuthoredProject).min(1).describe("The organization's projects; there is at least one."),
});

/**
 * The whole form of a scenario: what its layers say together, with defaults (only-project.ts). Unknown keys are errors.
 * What a file `extends` is laid under it before it is held against this (merge.ts).
 */
export const ScenarioSchema = z.strictObject({
  $schema: z.string().optional().describe("Where editors find the schema of scenarios; it stands first."),
  version: z.literal(1).describe("The version of the format: 1, also by default."),
  description: z.string().optional().describe("What the scenario is for, in a sentence."),
  extends: z
    .union([z.string(), z.array(z.string())], "a name or a path, or a list of them")
    .optional()
    .describe(
      "Scenarios that this one is laid over: shipped names, or paths from this file; later ones win.",
    ),
  users: z
    .array(AuthoredUser)
    .min(1)
    .optional()
    .describe("Who uses the service; by default one, dev@phx-sim.test."),
  organizations: z
    .array(OrganizationWithProjects)
    .min(1)
    .describe("The organizations with their projects; by default one with one project, phc_sim_default."),
  personal_api_keys: z
    .array(AuthoredPersonalApiKey)
    .min(1)
    .describe("Personal keys for the management API; by default phx_sim_default with every scope."),
  geoip: z
    .array(AuthoredPlace)
    .optional()
    .describe("Where addresses are; the first row that has the address counts."),
  clock: AuthoredClock.optional().describe("The sim's time at the start; by default the machine's."),
  dialect: z
    .enum(["documented", "production"])
    .optional()
    .describe(
      "Whom the sim follows where the contract and the live service differ; by default the contract.",
    ),
  faults: FaultUses.optional().describe("What goes wrong on purpose: names of presets, or rules."),
});

/** The whole form of a scenario. */
export type Scenario = z.infer<typeof ScenarioSchema>;

/** What identifies a project is not at the top of a file: there it would read like the scenario's own. */
const OnlyProject = AuthoredProject.omit({
  id: true,
  uuid: true,
  name: true,
  is_demo: true,
  created_at: true,
});

/** Keys of a project that may stand at the top of a scenario with one project. */
export const onlyProjectKeys: ReadonlySet<string> = new Set(Object.keys(OnlyProject.shape));

/** A scenario as its author writes it: nothing is required, and the keys of the only project may stand at the top. */
export const AuthoredScenarioSchema = ScenarioSchema.extend(OnlyProject.shape).partial();
export type AuthoredScenario = z.infer<typeof AuthoredScenarioSchema>;

/** A part of a scenario, to be laid over another one; null takes a key away. */
export type ScenarioLayer = Part<AuthoredScenario>;

type Part<T> = T extends readonly (infer E)[]
  ? Part<E>[]
  : T extends object
    ? { [K in keyof T]?: Part<T[K]> | null }
    : T;
