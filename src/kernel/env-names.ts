/** What an app needs to reach a sim; the same keys as the `--json` line and the locator file. */
export interface Access {
  readonly url: string;
  readonly project_api_key: string;
  readonly personal_api_key: string;
  readonly project_id: number;
}

/** Variables that belong together, with a comment for people. */
export interface EnvGroup {
  readonly comment: string;
  readonly variables: readonly (readonly [name: string, value: string])[];
}

/** What bundlers let through to the browser: prefixes, and the names that apps use after them. */
const frameworkRows = {
  next: { prefixes: ["NEXT_PUBLIC_"], keys: ["POSTHOG_KEY", "POSTHOG_PROJECT_TOKEN"] },
  vite: { prefixes: ["VITE_PUBLIC_", "VITE_"], keys: ["POSTHOG_KEY", "POSTHOG_PROJECT_TOKEN"] },
  nuxt: {
    prefixes: ["NUXT_PUBLIC_"],
    keys: ["POSTHOG_KEY", "POSTHOG_PUBLIC_KEY", "POSTHOG_PROJECT_TOKEN"],
  },
  expo: { prefixes: ["EXPO_PUBLIC_"], keys: ["POSTHOG_KEY", "POSTHOG_API_KEY", "POSTHOG_PROJECT_TOKEN"] },
  node: { prefixes: [], keys: [] },
} as const;

export type Framework = keyof typeof frameworkRows;
export const frameworks = ["next", "vite", "nuxt", "expo", "node"] as const satisfies readonly Framework[];

/** What server-side code and tools read. */
export const serverGroup = (access: Access): EnvGroup => ({
  comment:
    "POSTHOG_API_KEY is the project key, as in the SDKs' documentation (other tools mean the personal key by it)",
  variables: [
    ["POSTHOG_HOST", access.url],
    ["POSTHOG_API_KEY", access.project_api_key],
    ["POSTHOG_PROJECT_TOKEN", access.project_api_key],
    ["POSTHOG_PERSONAL_API_KEY", access.personal_api_key],
    ["POSTHOG_PROJECT_ID", String(access.project_id)],
    ["PHX_SIM_URL", access.url],
  ],
});

function frameworkGroup(framework: Framework, access: Access): EnvGroup {
  const { prefixes, keys } = frameworkRows[framework];
  return {
    comment: framework,
    variables: prefixes.flatMap((prefix) => [
      [`${prefix}POSTHOG_HOST`, access.url] as const,
      ...keys.map((key) => [`${prefix}${key}`, access.project_api_key] as const),
    ]),
  };
}

/** The variables for one framework, or for all of them. Every set includes the server's. */
export function envGroups(access: Access, framework: Framework | undefined): EnvGroup[] {
  const wanted = framework === undefined ? frameworks : [framework];
  const groups = [serverGroup(access), ...wanted.map((it) => frameworkGroup(it, access))];
  return groups.filter(({ variables }) => variables.length > 0);
}
