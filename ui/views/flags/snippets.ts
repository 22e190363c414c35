/** A scenario with the usual kinds of flags, with the keys that are given. */
export const scenarioSnippet = (apiKey?: string | null, personalKey?: string | null): string =>
  `api_key: ${apiKey ?? "phc_mine"}
flags:
  new-checkout: true
  beta: { rollout: 50 }
  pro-only: { person: { plan: pro } }
  button-color: { variants: { control: 50, test: 50 } }
personal_api_keys:
  - { key: ${personalKey ?? "phx_mine"}, scopes: ["*"] }
`;

/** How to override a flag from elsewhere than the page. */
export const overrideSnippets = (url: string | undefined): readonly { label: string; text: string }[] => [
  { label: "Terminal", text: "npx phx-sim flags set new-checkout true" },
  { label: "Test", text: 'await sim.flags.set("new-checkout", "test");' },
  {
    label: "curl",
    text: `curl -X PUT ${url ?? "http://127.0.0.1:7490"}/__sim/flags/new-checkout \\
  -H 'content-type: application/json' -d '{"value": true}'`,
  },
];
