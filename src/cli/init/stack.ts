import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isObject, type JsonObject, objectIn } from "../../base/json.ts";
import type { Framework } from "../../egress/env-names.ts";
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
  /** True if the folder has a Playwright configuration. */
  readonly playwrightConfig: boolean;
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
      ...{
        language: "python",
        runner: "pytest",
        typescript: false,
        modules: false,
        playwrightConfig: false,
        manifest,
      },
      framework: pythonNames(folder, /django/i) ? "django" : null,
    };
  if (manifest === null)
    return {
      ...{ language: null, framework: null, runner: null },
      ...{ typescript: false, modules: false, playwrightConfig: false, manifest },
    };
  const packages = { ...objectIn(manifest, "dependencies"), ...objectIn(manifest, "devDependencies") };
  return {
    language: "javascript",
    framework: readApp(folder).framework,
    runner: runnerPackages.find(([, name]) => Object.hasOwn(packages, name))?.[0] ?? "node:test",
    typescript: existsSync(join(folder, "tsconfig.json")) || Object.hasOwn(packages, "typescript"),
    playwrightConfig: readdirSync(folder).some((it) => /^playwright\.config\.[cm]?[jt]s$/.test(it)),
    modules: isObject(manifest) && manifest.type === "module",
    manifest,
  };
}
