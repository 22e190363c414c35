import type { AuthoredScenario, ScenarioLayer } from "./schema.ts";

/** A shipped scenario's name, a file's path, a scenario, or a list of these: later ones are laid over earlier ones. */
export type ScenarioSource = string | AuthoredScenario | ScenarioLayer | readonly (string | ScenarioLayer)[];
