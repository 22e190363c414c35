import { resourceParts } from "./resource-schema.ts";

export interface ScenarioPart {
  readonly kind: string;
  /** Keys that identify a thing, the strongest first; `a+b` is both together. */
  readonly names: readonly string[];
  /** The key by which changes name a thing (default: the weakest of `names` that it has). */
  readonly shownBy?: string;
}

const named = (kind: string, ...names: readonly string[]): ScenarioPart => ({ kind, names });

/** The lists of a project. `flags` is an object: its keys are the names. */
export const projectParts = {
  flags: named("flag"),
  cohorts: named("cohort", "id", "name"),
  persons: named("person", "uuid", "distinct_ids"),
  groups: named("group", "type+key"),
  dashboards: named("dashboard", "id", "name"),
  dashboard_templates: named("dashboard template", "id", "template_name"),
  insights: named("insight", "id", "name"),
  batch_exports: named("batch export", "id", "name"),
  surveys: named("survey", "id", "name"),
  product_tours: named("product tour", "id", "name"),
  web_experiments: named("web experiment", "id", "name"),
  prompts: named("prompt", "name"),
  // the keys that code names come first
  ...(resourceParts as object),
} as const;

/** The lists of an organization, without its projects. */
export const organizationParts = {
  roles: named("role", "id", "name"),
  invites: named("invite", "id", "target_email"),
} as const;

export const scenarioParts = {
  users: named("user", "id", "email"),
  organizations: named("organization", "id", "name"),
  projects: named("project", "id", "name"),
  /** Keys are secret: changes show labels. */
  personal_api_keys: { ...named("personal API key", "key"), shownBy: "label" },
  geoip: named("geoip row", "address"),
} as const;
