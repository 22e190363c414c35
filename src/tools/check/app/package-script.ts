import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isObject } from "../../../kernel/base/json.ts";

/** The scripts that start an app for development, best first. */
const scripts = ["dev", "start", "serve", "preview"];

/** Lock files and the package manager that writes each. */
const managers: readonly (readonly [file: string, manager: string])[] = [
  ["pnpm-lock.yaml", "pnpm"],
  ["yarn.lock", "yarn"],
  ["bun.lock", "bun"],
  ["bun.lockb", "bun"],
];

export interface FoundScript {
  readonly command: string;
  readonly folder: string;
}

function scriptsIn(file: string): Record<string, unknown> | undefined {
  try {
    const manifest: unknown = JSON.parse(readFileSync(file, "utf8"));
    return isObject(manifest) && isObject(manifest.scripts) ? manifest.scripts : {};
  } catch {
    return undefined;
  }
}

/** The dev or start script of the nearest package.json at or above the folder. */
export function findScript(folder: string): FoundScript | undefined {
  for (let at = folder; ; at = dirname(at)) {
    const own = scriptsIn(join(at, "package.json"));
    const name = own && scripts.find((it) => typeof own[it] === "string");
    if (own) {
      const manager = managers.find(([file]) => existsSync(join(at, file)))?.[1] ?? "npm";
      return name === undefined ? undefined : { command: `${manager} run ${name}`, folder: at };
    }
    if (dirname(at) === at) return undefined;
  }
}
