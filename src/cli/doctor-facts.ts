import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseEnv } from "node:util";
import type { Framework } from "../kernel/env-names.ts";
import { isObject, type JsonObject } from "../kernel/json.ts";
import type { Library, Variable } from "./doctor-finding.ts";

/** In order of precedence. Files for production are left alone: the real values belong there. */
const envFiles = [
  ".env.local",
  ".env.development.local",
  ".env.development",
  ".env.test.local",
  ".env.test",
  ".env",
];

const isOurs = (name: string): boolean => /(?:^|_)POSTHOG_/.test(name) || name === "PHX_SIM_URL";

const oursOf = (variables: Readonly<Record<string, string | undefined>>, source: string): Variable[] =>
  Object.entries(variables).flatMap(([name, value]) =>
    value !== undefined && isOurs(name) ? [{ name, value, source }] : [],
  );

/** PostHog's variables of the shell and of the folder's .env files; of each name the one that counts. */
export function readVariables(env: Readonly<Record<string, string | undefined>>, folder: string): Variable[] {
  const files = envFiles.flatMap((name) => oursOf(parseEnv(readIfThere(join(folder, name)) ?? ""), name));
  const found = new Map<string, Variable>();
  for (const variable of [...oursOf(env, "environment"), ...files]) {
    if (!found.has(variable.name)) found.set(variable.name, variable);
  }
  return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** What the app is made with. */
interface App {
  readonly framework: Framework | null;
  readonly libraries: Library[];
}

/** The first that package.json names: most of them may name vite as well. */
const frameworkPackages: readonly (readonly [Framework, string])[] = [
  ["next", "next"],
  ["nuxt", "nuxt"],
  ["expo", "expo"],
  ["sveltekit", "@sveltejs/kit"],
  ["astro", "astro"],
  ["react-router", "@react-router/dev"],
  ["remix", "@remix-run/dev"],
  ["vue", "vue"],
  ["vite", "vite"],
];

/** The nearest package.json at or above the folder, as far as it is about PostHog. */
export function readApp(folder: string): App {
  for (let at = folder; ; at = dirname(at)) {
    const found = parsed(readIfThere(join(at, "package.json")));
    if (found) return appOf(found, at);
    if (dirname(at) === at) return { framework: null, libraries: [] };
  }
}

function appOf(manifest: JsonObject, folder: string): App {
  const { dependencies, devDependencies } = manifest;
  const wanted = new Map(
    [devDependencies, dependencies].flatMap((it) => (isObject(it) ? Object.entries(it) : [])),
  );
  const framework = frameworkPackages.find(([, name]) => wanted.has(name))?.[0] ?? null;
  const libraries = [...wanted]
    .filter(([name]) => /^(?:@posthog\/[\w-]+|posthog-[\w-]+)$/.test(name))
    .map(([name, range]) => ({ name, version: installed(folder, name) ?? String(range) }));
  return { framework, libraries };
}

function installed(folder: string, name: string): string | undefined {
  const manifest = parsed(readIfThere(join(folder, "node_modules", name, "package.json")));
  return typeof manifest?.version === "string" ? manifest.version : undefined;
}

function parsed(text: string | undefined): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text ?? "");
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** What cannot be read is not there, for the doctor. */
function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}
