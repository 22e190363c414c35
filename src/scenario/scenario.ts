import type { z } from "zod";
import { uuidV5 } from "../kernel/ids.ts";
import { emptyWorld, type FeatureFlag, type Project, type World } from "../model/world.ts";
import type { ScenarioSchema } from "./schema.ts";

export type Scenario = z.infer<typeof ScenarioSchema>;
type AuthoredProject = Scenario["organizations"][number]["projects"][number];
type AuthoredFlag = NonNullable<AuthoredProject["flags"]>[string];

/** Ids that a scenario does not give are derived from its names: the same file, the same ids. */
const namespace = "5f3b2f4e-6c56-4d0a-9a53-5a0f6b3f9c01";

/** The world that a scenario describes. */
export function worldOf(scenario: Scenario): World {
  const world = emptyWorld();
  for (const organization of scenario.organizations) {
    const id = uuidV5(namespace, `organization:${organization.name}`);
    world.organizations.push({ id, name: organization.name });
    for (const project of organization.projects) addProject(world, id, project);
  }
  world.personal_api_keys = scenario.personal_api_keys.map((it) => ({ label: it.key, ...it }));
  return world;
}

const nextId = (documents: readonly { id: number }[]): number =>
  documents.reduce((highest, it) => Math.max(highest, it.id), 0) + 1;

function addProject(world: World, organization: string, authored: AuthoredProject): void {
  const project: Project = {
    id: authored.id ?? nextId(world.projects),
    organization,
    name: authored.name,
    api_key: authored.api_key,
    secret_api_key: authored.secret_api_key ?? authored.api_key.replace(/^phc_|^/, "phs_"),
    remote_config: authored.remote_config ?? {},
    adopted: false,
  };
  world.projects.push(project);
  for (const [key, flag] of Object.entries(authored.flags ?? {})) {
    world.feature_flags.push(flagOf(nextId(world.feature_flags), project.id, key, flag));
  }
  const owned = { project: project.id };
  world.surveys.push(...(authored.surveys ?? []).map((it) => ({ ...it, ...owned })));
  world.early_access_features.push(
    ...(authored.early_access_features ?? []).map((it) => ({ ...it, ...owned })),
  );
  world.prompts.push(...(authored.prompts ?? []).map((it) => ({ version: 1, ...it, ...owned })));
}

function flagOf(id: number, project: number, key: string, authored: AuthoredFlag): FeatureFlag {
  const blank: FeatureFlag = {
    id,
    project,
    key,
    name: "",
    active: true,
    deleted: false,
    version: 1,
    ensure_experience_continuity: false,
    has_encrypted_payloads: false,
    is_remote_configuration: false,
    evaluation_runtime: "all",
    bucketing_identifier: null,
    filters: { groups: [{ properties: [], rollout_percentage: 100 }] },
  };
  // Off means decided as false: an inactive flag would be missing from the answer instead.
  if (typeof authored === "boolean") return { ...blank, filters: filtersOf({ rollout: authored ? 100 : 0 }) };
  if ("filters" in authored) return { ...blank, ...authored, id, project, key };
  return { ...blank, filters: filtersOf(authored as ShortFlag) };
}

type ShortFlag = Extract<AuthoredFlag, { rollout?: number | undefined }>;

/** The short form in the service's own words. */
function filtersOf({ rollout = 100, variants, payloads, person = {} }: ShortFlag): FeatureFlag["filters"] {
  const properties = Object.entries(person).map(([key, value]) => ({
    key,
    value,
    operator: "exact",
    type: "person",
  }));
  return {
    groups: [{ properties, rollout_percentage: rollout }],
    ...(variants && {
      multivariate: {
        variants: Object.entries(variants).map(([key, share]) => ({ key, rollout_percentage: share })),
      },
    }),
    ...(payloads && {
      payloads: Object.fromEntries(Object.entries(payloads).map(([key, it]) => [key, JSON.stringify(it)])),
    }),
  };
}
