/** What an app needs to reach a sim; the same keys as the `--json` line and the locator file. */
export interface Access {
  readonly url: string;
  readonly project_api_key: string;
  readonly personal_api_key: string;
  readonly project_id: number;
}

export interface EnvGroup {
  readonly comments: readonly string[];
  readonly variables: readonly (readonly [name: string, value: string])[];
  readonly syntax?: "xcconfig";
}

interface FrameworkRow {
  readonly file: string;
  /** What names must begin with to reach the browser; none: only the server's names are read. */
  readonly prefixes: readonly string[];
  readonly keys: readonly string[];
  /** An app on an emulator or a simulator: how this machine is called there, and what lets it use http. */
  readonly device?: { readonly host: string; readonly note: string };
  readonly syntax?: "xcconfig";
}

const keyAndToken = ["POSTHOG_KEY", "POSTHOG_PROJECT_TOKEN"] as const;
const localFile = ".env.local";

/** What bundlers let through to the browser, and which file they read, by their documentation and PostHog's examples. */
const frameworkRows = {
  next: { file: localFile, prefixes: ["NEXT_PUBLIC_"], keys: keyAndToken },
  vite: { file: localFile, prefixes: ["VITE_PUBLIC_", "VITE_"], keys: keyAndToken },
  vue: { file: localFile, prefixes: ["VUE_APP_", "VITE_PUBLIC_", "VITE_"], keys: keyAndToken },
  sveltekit: { file: localFile, prefixes: ["PUBLIC_"], keys: keyAndToken },
  astro: { file: ".env", prefixes: ["PUBLIC_"], keys: keyAndToken },
  "react-router": { file: localFile, prefixes: ["VITE_PUBLIC_", "VITE_"], keys: keyAndToken },
  remix: { file: ".env", prefixes: ["VITE_PUBLIC_", "VITE_"], keys: keyAndToken },
  nuxt: {
    file: ".env",
    prefixes: ["NUXT_PUBLIC_"],
    keys: ["POSTHOG_KEY", "POSTHOG_PUBLIC_KEY", "POSTHOG_PROJECT_TOKEN"],
  },
  angular: {
    file: ".env (read by @ngx-env/builder; without it, write the values into src/environments/environment.development.ts)",
    prefixes: ["NG_APP_"],
    keys: keyAndToken,
  },
  expo: {
    file: localFile,
    prefixes: ["EXPO_PUBLIC_"],
    keys: ["POSTHOG_KEY", "POSTHOG_API_KEY", "POSTHOG_PROJECT_TOKEN"],
  },
  node: { file: ".env (node --env-file=.env)", prefixes: [], keys: [] },
  django: { file: ".env (read by django-environ or python-dotenv in settings.py)", prefixes: [], keys: [] },
  rails: { file: ".env (read by dotenv-rails; used in config/initializers/posthog.rb)", prefixes: [], keys: [] },
  laravel: { file: ".env (run php artisan config:clear afterwards)", prefixes: ["VITE_"], keys: keyAndToken },
  android: {
    file: "local.properties (read by your build.gradle into BuildConfig fields)",
    prefixes: [],
    keys: ["POSTHOG_API_KEY", "POSTHOG_PROJECT_TOKEN"],
    device: {
      host: "10.0.2.2",
      note: 'emulator: 10.0.2.2 is this machine; http needs android:usesCleartextTraffic="true" on <application> in src/debug/AndroidManifest.xml',
    },
  },
  ios: {
    file: "Config.xcconfig (put $(POSTHOG_HOST) and $(POSTHOG_API_KEY) into Info.plist)",
    prefixes: [],
    keys: ["POSTHOG_API_KEY", "POSTHOG_PROJECT_TOKEN"],
    device: {
      host: "localhost",
      note: "simulator: localhost is this machine; http needs NSAllowsLocalNetworking = YES under NSAppTransportSecurity in Info.plist",
    },
    syntax: "xcconfig",
  },
} as const satisfies Readonly<Record<string, FrameworkRow>>;

export type Framework = keyof typeof frameworkRows;
export const frameworks = Object.keys(frameworkRows) as Framework[];

export const publicPrefixes = (framework: Framework): readonly string[] => frameworkRows[framework].prefixes;

export const serverGroup = (access: Access): EnvGroup => ({
  comments: [
    "POSTHOG_API_KEY is the project key, as in the SDKs' documentation (other tools mean the personal key by it)",
  ],
  variables: [
    ["POSTHOG_HOST", access.url],
    ["POSTHOG_API_KEY", access.project_api_key],
    ["POSTHOG_PROJECT_TOKEN", access.project_api_key],
    ["POSTHOG_PERSONAL_API_KEY", access.personal_api_key],
    ["POSTHOG_PROJECT_ID", String(access.project_id)],
    ["PHX_SIM_URL", access.url],
  ],
});

const isLoopback = (hostname: string): boolean => /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);

/** An address of this machine as a device calls this machine; other addresses stay as they are. */
function hostOn(device: FrameworkRow["device"], url: string): string {
  const parsed = new URL(url);
  if (!device || !isLoopback(parsed.hostname)) return url;
  parsed.hostname = device.host;
  return parsed.origin;
}

function frameworkGroup(framework: Framework, access: Access): EnvGroup {
  const { file, prefixes, keys, device, syntax }: FrameworkRow = frameworkRows[framework];
  const host = hostOn(device, access.url);
  const starts = device ? [""] : prefixes;
  return {
    comments: [`${framework}: ${file}`, ...(device ? [device.note] : [])],
    variables: starts.flatMap((start) => [
      [`${start}POSTHOG_HOST`, host] as const,
      ...keys.map((key) => [`${start}${key}`, access.project_api_key] as const),
    ]),
    ...(syntax && { syntax }),
  };
}

/**
 * For one framework, with the server's; for an app on a device, its own only. Without a framework those of all, each
 * name once.
 */
export function envGroups(access: Access, framework: Framework | undefined): EnvGroup[] {
  const server = serverGroup(access);
  if (framework !== undefined) {
    const own = frameworkGroup(framework, access);
    const row: FrameworkRow = frameworkRows[framework];
    return row.device
      ? [own]
      : [
          { ...server, comments: [...own.comments, ...server.comments] },
          { ...own, comments: [] },
        ];
  }
  const known = new Set<string>();
  return [server, ...frameworks.map((it) => frameworkGroup(it, access))]
    .map((group) => ({ ...group, variables: group.variables.filter(([name]) => known.size !== known.add(name).size) }))
    .filter(({ variables }) => variables.length > 0);
}
