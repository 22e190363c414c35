import { readFileSync } from "node:fs";
import { join } from "node:path";
import { readScenario } from "./load.ts";
import { shippedFolder, shippedScenarios } from "./shipped.ts";

/** A scenario that comes with phx-sim. */
export interface ShippedScenario {
  readonly name: string;
  /** Absolute path. */
  readonly file: string;
  readonly description: string;
}

/** The scenarios that come with phx-sim, `default` first. */
export const shippedList = (): Promise<ShippedScenario[]> =>
  Promise.all(
    [...shippedScenarios()].map(async ([name, file]) => {
      const { scenario } = await readScenario(name);
      return { name, file, description: scenario?.description ?? "" };
    }),
  );

/** The published JSON Schema (draft-07) of scenario files, as text. */
export const scenarioSchemaText = (): string =>
  readFileSync(join(shippedFolder(), "scenario.schema.json"), "utf8");

/** Where the schema is in a project that has phx-sim installed. */
const schemaPath = "./node_modules/phx-sim/scenarios/scenario.schema.json";

/** A commented scenario to begin with, as the text of a file. */
export const scenarioStarter = (format: "json" | "yaml"): string =>
  format === "json" ? jsonStarter : yamlStarter;

const yamlStarter = `# yaml-language-server: $schema=${schemaPath}
#
# A world for phx-sim. Check it with \`phx-sim scenario check\`, start it with \`phx-sim start --scenario\`.
# phx-sim never writes this file. Everything in it is optional.
description: What this world is for.

# Lay it over another one instead of starting from nothing: a shipped name or a path. Things of the same name
# are merged, null takes something away. \`phx-sim scenario list\` shows what is shipped.
# extends: default

# What the SDKs send.
api_key: phc_local
# For the management API. \`*\` is every scope.
personal_api_keys:
  - { key: phx_local, scopes: ["*"] }

flags:
  # On for everybody, for half of everybody, and for some.
  on: true
  half: { rollout: 50 }
  for-pro: { person: { plan: pro } }
  # One of two variants, with a payload.
  button-color:
    variants: { green: 50, blue: 50 }
    payloads: { green: { hex: "#0a0" }, blue: { hex: "#00a" } }
  # Or the service's own JSON, as exported from production:
  # from-production: { filters: { groups: [ … ] } }

# Who is known before the first event.
persons:
  - { distinct_ids: [user-1], is_identified: true, properties: { plan: pro } }

insights:
  - { name: Signups, query: { kind: InsightVizNode, source: { kind: TrendsQuery, series: [] } } }
dashboards:
  # Tiles call insights by their names.
  - { name: Overview, tiles: [{ text: "## Hello" }, { insight: Signups }] }

# Several users, organizations or projects? Then flags, persons and so on stand in their project:
# users:
#   - { email: dev@example.test, first_name: Dev }
# organizations:
#   - name: My organization
#     members: { dev@example.test: owner }
#     projects:
#       - { name: My project, api_key: phc_local, flags: { on: true } }
#       - { name: Another, api_key: … }
`;

const jsonStarter = `{
  "$schema": "${schemaPath}",
  // A world for phx-sim. Check it with \`phx-sim scenario check\`, start it with \`phx-sim start --scenario\`.
  // phx-sim never writes this file. Everything in it is optional.
  "description": "What this world is for.",

  // Lay it over another one instead of starting from nothing: a shipped name or a path. Things of the same
  // name are merged, null takes something away. \`phx-sim scenario list\` shows what is shipped.
  // "extends": "default",

  // What the SDKs send.
  "api_key": "phc_local",
  // For the management API. \`*\` is every scope.
  "personal_api_keys": [{ "key": "phx_local", "scopes": ["*"] }],

  "flags": {
    // On for everybody, for half of everybody, and for some.
    "on": true,
    "half": { "rollout": 50 },
    "for-pro": { "person": { "plan": "pro" } },
    // One of two variants, with a payload. The service's own JSON ("filters") will do, too.
    "button-color": {
      "variants": { "green": 50, "blue": 50 },
      "payloads": { "green": { "hex": "#0a0" }, "blue": { "hex": "#00a" } },
    },
  },

  // Who is known before the first event.
  "persons": [{ "distinct_ids": ["user-1"], "is_identified": true, "properties": { "plan": "pro" } }],

  "insights": [
    { "name": "Signups", "query": { "kind": "InsightVizNode", "source": { "kind": "TrendsQuery", "series": [] } } },
  ],
  // Tiles call insights by their names.
  "dashboards": [{ "name": "Overview", "tiles": [{ "text": "## Hello" }, { "insight": "Signups" }] }],

  // Several users, organizations or projects? Then flags, persons and so on stand in their project:
  // "organizations": [
  //   {
  //     "name": "My organization",
  //     "projects": [{ "name": "My project", "api_key": "phc_local", "flags": { "on": true } }],
  //   },
  // ],
}
`;
