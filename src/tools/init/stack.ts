import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isObject, type JsonObject, objectIn } from "../../kernel/base/json.ts";
import { syntaxErrorAt } from "../../kernel/base/json-syntax.ts";
import { shortened } from "../../kernel/base/problem.ts";
import { clean } from "../../kernel/command/clean-text.ts";
import { Failure } from "../../kernel/command/failure.ts";
import { reasonOf } from "../../kernel/command/system-reason.ts";
import type { Framework } from "../../lab/egress/env-names.ts";
import { readApp } from "../doctor/doctor-facts.ts";

/** The text of a file; undefined if it does not exist. @throws Failure */
export function readIfThere(file: string, folder: string): string | undefined {
  if (!existsSync(file)) return undefined;
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new Failure("failed", `${clean(shortened(file, folder))} cannot be read: ${reasonOf(error)}`, error);
  }
}

export interface JsonFile {
  readonly text: string;
  readonly value: JsonObject;
}

/** Undefined if the file does not exist. @throws Failure with file:line:col if it is no JSON object */
export function readJsonFile(file: string, folder: string): JsonFile | undefined {
  const text = readIfThere(file, folder)?.replace(/^\ufeff/, "");
  if (text === undefined) return undefined;
  const name = clean(shortened(file, folder));
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return { text, value };
  } catch (error) {
    const { line, column } = syntaxErrorAt(text) ?? { line: 1, column: 1 };
    const fix = "repair the file, then run phx-sim init again; nothing was written";
    throw new Failure("failed", `${name}:${line}:${column}: this is not JSON; ${fix}`, error);
  }
  throw new Failure("failed", `${name}:1:1: expected a JSON object; nothing was written`);
}

/** JSON in the file's own indentation and line ends. */
export function jsonLike(text: string, value: JsonObject): string {
  const indent = /^\{\r?\n([ \t]+)/.exec(text)?.[1] ?? "  ";
  const made = `${JSON.stringify(value, null, indent)}\n`;
  return text.includes("\r\n") ? made.replaceAll("\n", "\r\n") : made;
}

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
