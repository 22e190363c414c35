/** A scenario with common kinds of flags. */
export const flagScenario = (apiKey?: string | null, personalKey?: string | null): string =>
  `api_key: ${apiKey ?? "phc_mine"}
flags:
  new-checkout: true
  beta: { rollout: 50 }
  pro-only: { person: { plan: pro } }
  button-color: { variants: { control: 50, test: 50 } }
personal_api_keys:
  - { key: ${personalKey ?? "phx_mine"}, scopes: ["*"] }
`;

/** Other ways to override a flag. */
export const overrideSnippets = (url: string | undefined): readonly { label: string; text: string }[] => [
  { label: "Terminal", text: "npx phx-sim flags set new-checkout true" },
  { label: "Test", text: 'await sim.flags.set("new-checkout", "test");' },
  {
    label: "curl",
    text: `curl -X PUT ${url ?? "http://127.0.0.1:7490"}/__sim/flags/new-checkout \\
  -H 'content-type: application/json' -d '{"value": true}'`,
  },
];
