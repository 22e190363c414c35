import { z } from "zod";
import { clockStartExpected, readMoment } from "../../kernel/base/time-text.ts";
import { Email, Id, Time, Uuid, userKind } from "../../state/documents/field-kinds.ts";
import { organizationKind } from "../../state/documents/schemas/account.ts";
import { PlaceRow } from "../../state/documents/schemas/place.ts";
import { FaultUses } from "../faults/shapes.ts";
import { AuthoredProject } from "./project-schema.ts";

export const AuthoredUser = userKind.Authored;
export type AuthoredUser = z.infer<typeof AuthoredUser>;

const levels = z.enum(["member", "admin", "owner"]);

const AuthoredRole = z.strictObject({
  name: z.string().min(1).max(200).describe("The role's name, once in the organization."),
  id: Uuid.optional().describe("By default it follows from the name."),
  members: z.array(Email).optional().describe("E-mail addresses of members of the organization; by default none."),
  created_at: Time.optional().describe("By default 2025-01-01."),
});

const AuthoredInvite = z.strictObject({
  target_email: Email.describe("The address of the person who is invited."),
  id: Uuid.optional().describe("By default it follows from the address."),
  first_name: z.string().max(30).optional().describe("By default empty."),
  level: levels.optional().describe("The level of the new member; by default member."),
  message: z.string().nullable().optional().describe("A text for the person; by default null."),
  created_by: Email.nullable().optional().describe("By default the first user."),
  created_at: Time.optional().describe("An invite is valid for three days. By default 2025-01-01."),
});

const { name, id, slug, ...organization } = organizationKind.Authored.shape;

export const AuthoredOrganization = z.strictObject({
  ...{ name, id, slug },
  members: z
    .record(Email, levels)
    .optional()
    .describe("Each member's level by e-mail address; by default the first user is the owner."),
  roles: z.array(AuthoredRole).optional().describe("Roles; stored, not enforced."),
  invites: z.array(AuthoredInvite).optional().describe("Invites that are not accepted yet."),
  ...organization,
});
export type AuthoredOrganization = z.infer<typeof AuthoredOrganization>;

export const AuthoredPersonalApiKey = z.strictObject({
  key: z.string().min(1).describe("The key as clients send it, `phx_…`."),
  id: z.string().min(1).optional().describe("By default it follows from the key."),
  label: z.string().optional().describe("A name for the key; by default the key itself."),
  scopes: z
    .array(z.string())
    .describe("Permissions: `dashboard:read`, `feature_flag:write`, …; write implies read, `*` is all."),
  user: Email.optional().describe("E-mail address of its owner; by default the first user's."),
  projects: z
    .array(z.union([z.string(), Id], "a project's name or id"))
    .optional()
    .describe("Names or ids of the only projects that the key opens; by default there is no limit."),
  organizations: z
    .array(z.string())
    .optional()
    .describe("Names or ids of the only organizations that the key opens; by default there is no limit."),
  created_at: Time.optional().describe("By default 2025-01-01."),
});
export type AuthoredPersonalApiKey = z.infer<typeof AuthoredPersonalApiKey>;

const ClockTime = z
  .string()
  .refine(
    (text) => text === "real" || readMoment(text) !== undefined,
    'a time from 1970 to 9999, such as 2025-06-01T12:00:00Z, or "real"',
  );

const AuthoredClock = z.union(
  [
    ClockTime,
    z.strictObject({
      now: ClockTime.optional().describe("The time at the start; by default the machine's."),
      frozen: z.boolean().optional().describe("True: the clock does not advance. By default false."),
    }),
  ],
  clockStartExpected,
);

type Key = keyof typeof PlaceRow.shape;

const descriptions: Readonly<Record<Key, string>> = {
  address: "An IP address, or a range such as 203.0.113.0/24.",
  country_name: "Such as `Sweden`.",
  country_code: "Two letters, such as `SE`.",
  city_name: "Such as `Linköping`.",
  city_confidence: "Confidence in the city, in percent.",
  continent_name: "Such as `Europe`.",
  continent_code: "Two letters, such as `EU`.",
  postal_code: "The postal code.",
  time_zone: "Such as `Europe/Stockholm`.",
  subdivision_1_code: "The largest part of the country, such as `E`.",
  subdivision_1_name: "Its name.",
  subdivision_2_code: "A part of the first subdivision.",
  subdivision_2_name: "Its name.",
  subdivision_3_code: "A part of the second subdivision.",
  subdivision_3_name: "Its name.",
  latitude: "In degrees, north is positive.",
  longitude: "In degrees, east is positive.",
  accuracy_radius: "In kilometres.",
};

const { shape } = PlaceRow;
const described = Object.fromEntries(
  Object.entries(shape).map(([key, schema]) => [key, schema.describe(descriptions[key as Key])]),
) as typeof shape;

const AuthoredPlace = z.strictObject(described);

export const OrganizationWithProjects = AuthoredOrganization.extend({
  projects: z.array(AuthoredProject).min(1).describe("The organization's projects; there is at least one."),
});

/** The whole form of a scenario (short-form.ts); files are checked after they are laid over their bases (merge.ts). */
export const ScenarioSchema = z.strictObject({
  $schema: z.string().optional().describe("The schema of scenarios, for editors; the first key."),
  version: z.literal(1).describe("The version of the format: 1, also by default."),
  description: z.string().optional().describe("The purpose of the scenario, in a sentence."),
  extends: z
    .union([z.string(), z.array(z.string())], "a name or a path, or a list of them")
    .optional()
    .describe("Scenarios that this one is laid over: shipped names, or paths from this file; later ones win."),
  users: z.array(AuthoredUser).min(1).optional().describe("Users of the service; by default one, dev@phx-sim.test."),
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
    .describe("Locations of addresses; the first row that contains the address counts."),
  clock: AuthoredClock.optional().describe("The sim's time at the start; by default the machine's."),
  dialect: z
    .enum(["documented", "production"])
    .optional()
    .describe("Which of the two the sim follows where the documentation and production differ; by default documented."),
  faults: FaultUses.optional().describe("Faults: names of presets, or rules."),
});

export type Scenario = z.infer<typeof ScenarioSchema>;

/** At the top of a file, keys that identify a project would read like those of the scenario. */
const OnlyProject = AuthoredProject.omit({ id: true, uuid: true, name: true, is_demo: true, created_at: true });

/** Keys of a project that may be at the top of a scenario with one project. */
export const onlyProjectKeys: ReadonlySet<string> = new Set(Object.keys(OnlyProject.shape));

/** A scenario as its author writes it: no key is required, and those of the only project may be at the top. */
export const AuthoredScenarioSchema = ScenarioSchema.extend(OnlyProject.shape).partial();
export type AuthoredScenario = z.infer<typeof AuthoredScenarioSchema>;

/** A part of a scenario, to be laid over another one; null removes a key. */
export type ScenarioLayer = Part<AuthoredScenario>;

type Part<T> = T extends readonly (infer E)[]
  ? Part<E>[]
  : T extends object
    ? { [K in keyof T]?: Part<T[K]> | null }
    : T;
