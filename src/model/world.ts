import type { z } from "zod";
import type { FeatureFlag as FeatureFlagSchema, WorldSchema } from "./world.schema.ts";

/** Everything people edit, as one document. What arrives (events, persons) is not in it. */
export type World = z.infer<typeof WorldSchema>;
export type Project = World["projects"][number];
export type PersonalApiKey = World["personal_api_keys"][number];
export type FeatureFlag = z.infer<typeof FeatureFlagSchema>;

/** The version that this code reads and writes; older ones are migrated (store/migrations.ts). */
const worldVersion = 1;

export const emptyWorld = (): World => ({
  version: worldVersion,
  organizations: [],
  projects: [],
  personal_api_keys: [],
  feature_flags: [],
  cohorts: [],
  surveys: [],
  early_access_features: [],
  product_tours: [],
  web_experiments: [],
  prompts: [],
});

/** The world document as handlers use it; the store implements it (store/world.ts). */
export interface Worlds {
  /** The live document. Read it freely; change it only inside `change`. */
  readonly current: World;
  projectByKey(apiKey: string): Project | undefined;
  projectById(id: number): Project | undefined;
  /** Edits the document and has it written soon. */
  change<T>(edit: (world: World) => T): T;
}
