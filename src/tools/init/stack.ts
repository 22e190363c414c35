import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isObject, type JsonObject, objectIn } from "../../kernel/base/json.ts";
import type { Framework } from "../../lab/egress/env-names.ts";
import { readApp } from "../doctor/doctor-facts.ts";
import { readJsonFile } from "./json-file.ts";

export const runners = ["vitest", "jest", "playwright", "pytest", "node:test"] as const;
export type Runner = (typeof runners)[number];

/** What a folder's files say about the app in it. */
export interface Stack {
  readonly language: "javascript" | "python" | null;
  readonly framework: Framework | null;
  /** null: there is no project, so there is no test to write. */
  readonly runner: Runner | null;
  readonly typescript: boolean;
  /** True if the runner has a configuration of its own. */
  readonly configured: boolean;
  /** `"type": "module"` in package.json. */
  readonly modules: boolean;
  /** The manifest in this folder, if it has one. */
  readonly manifest: JsonObject | null;
}

/** Of several runners, the first; end-to-end tests come last. */
const runnerPackages: readonly (readonly [Runner, string])[] = [
  ["vitest", "vitest"],
  ["jest", "jest"],
  ["playwright", "@playwright/test"],
];

const pythonFiles = ["pyproject.toml", "requirements.txt", "setup.py", "manage.py", "Pipfile"];

/** True if one of a Python project's files names the package. */
const pythonNames = (folder: string, name: RegExp): boolean =>
  pythonFiles.some((it) => existsSync(join(folder, it)) && name.test(readFileSync(join(folder, it), "utf8")));

/** What the folder's files say. @throws Failure if package.json is damaged */
export function readStack(folder: string): Stack {
  const manifest = readJsonFile(join(folder, "package.json"), folder)?.value ?? null;
  if (manifest === null && pythonFiles.some((it) => existsSync(join(folder, it))))
    return {
      ...{ language: "python", runner: "pytest", typescript: false, modules: false, configured: false, manifest },
      framework: pythonNames(folder, /django/i) ? "django" : null,
    };
  if (manifest === null)
    return {
      ...{ language: null, framework: null, runner: null },
      ...{ typescript: false, modules: false, configured: false, manifest },
    };
  const packages = { ...objectIn(manifest, "dependencies"), ...objectIn(manifest, "devDependencies") };
  const runner = runnerPackages.find(([, name]) => Object.hasOwn(packages, name))?.[0] ?? "node:test";
  return {
    language: "javascript",
    framework: readApp(folder).framework,
    runner,
    typescript: existsSync(join(folder, "tsconfig.json")) || Object.hasOwn(packages, "typescript"),
    configured:
      (runner === "jest" && manifest.jest !== undefined) ||
      readdirSync(folder).some((it) => it.startsWith(`${runner}.config.`)),
    modules: isObject(manifest) && manifest.type === "module",
    manifest,
  };
}
