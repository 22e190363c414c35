/** The path of the schema in a project that has phx-sim installed, for `$schema`. */
export const schemaPath = "./node_modules/phx-sim/scenarios/scenario.schema.json";

/** A commented scenario to begin with, as the text of a file. */
export const scenarioStarter = (format: "json" | "yaml"): string => (format === "json" ? jsonStarter : yamlStarter);

const yamlStarter = `# yaml-language-server: $schema=${schemaPath}
#
# A world for phx-sim. Check it with \`phx-sim scenario check\`, start it with \`phx-sim start --scenario\`.
# phx-sim never writes this file. Everything in it is optional.
description: What this world is for.

# Lay it over another scenario, a shipped name or a path. Things with the same name are merged, null removes one.
# \`phx-sim scenario list\` lists the shipped ones.
# extends: default

# The project key that the SDKs send.
api_key: phc_sim_default
# For the management API. \`*\` is every scope.
personal_api_keys:
  - { key: phx_sim_default, scopes: ["*"] }

flags:
  # On for all persons, for half of them, and for some.
  on: true
  half: { rollout: 50 }
  for-pro: { person: { plan: pro } }
  # One of two variants, with a payload.
  button-color:
    variants: { green: 50, blue: 50 }
    payloads: { green: { hex: "#0a0" }, blue: { hex: "#00a" } }
  # Or the service's own JSON, as exported from production:
  # from-production: { filters: { groups: [ … ] } }

# Persons that exist before the first event.
persons:
  - { distinct_ids: [user-1], is_identified: true, properties: { plan: pro } }

insights:
  # Counts the events signed_up that arrive.
  - name: Signups
    query:
      kind: InsightVizNode
      source: { kind: TrendsQuery, series: [{ kind: EventsNode, event: signed_up }] }
dashboards:
  # Tiles name their insights.
  - { name: Overview, tiles: [{ text: "## Hello" }, { insight: Signups }] }

# With several users, organizations or projects, flags, persons and so on are in their project:
# users:
#   - { email: dev@example.test, first_name: Dev }
# organizations:
#   - name: My organization
#     members: { dev@example.test: owner }
#     projects:
#       - { name: My project, api_key: phc_sim_default, flags: { on: true } }
#       - { name: Another, api_key: … }
`;

const jsonStarter = `{
  "$schema": "${schemaPath}",
  // A world for phx-sim. Check it with \`phx-sim scenario check\`, start it with \`phx-sim start --scenario\`.
  // phx-sim never writes this file. Everything in it is optional.
  "description": "What this world is for.",

  // Lay it over another scenario, a shipped name or a path. Things with the same name are merged, null removes one.
  // \`phx-sim scenario list\` lists the shipped ones.
  // "extends": "default",

  // The project key that the SDKs send.
  "api_key": "phc_sim_default",
  // For the management API. \`*\` is every scope.
  "personal_api_keys": [{ "key": "phx_sim_default", "scopes": ["*"] }],

  "flags": {
    // On for all persons, for half of them, and for some.
    "on": true,
    "half": { "rollout": 50 },
    "for-pro": { "person": { "plan": "pro" } },
    // One of two variants, with a payload. The service's own JSON ("filters") works too.
    "button-color": {
      "variants": { "green": 50, "blue": 50 },
      "payloads": { "green": { "hex": "#0a0" }, "blue": { "hex": "#00a" } },
    },
  },

  // Persons that exist before the first event.
  "persons": [{ "distinct_ids": ["user-1"], "is_identified": true, "properties": { "plan": "pro" } }],

  "insights": [
    // Counts the events "signed_up" that arrive.
    {
      "name": "Signups",
      "query": {
        "kind": "InsightVizNode",
        "source": { "kind": "TrendsQuery", "series": [{ "kind": "EventsNode", "event": "signed_up" }] },
      },
    },
  ],
  // Tiles name their insights.
  "dashboards": [{ "name": "Overview", "tiles": [{ "text": "## Hello" }, { "insight": "Signups" }] }],

  // With several users, organizations or projects, flags, persons and so on are in their project:
  // "organizations": [
  //   {
  //     "name": "My organization",
  //     "projects": [{ "name": "My project", "api_key": "phc_sim_default", "flags": { "on": true } }],
  //   },
  // ],
}
`;
