import { type Dirent, statSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { compareText } from "../../kernel/base/text.ts";
import type { CallSite, SourceProblem } from "./calls.ts";
import { scriptCalls } from "./script-calls.ts";

const isScript = (path: string): boolean => /\.([cm]?[jt]s|[jt]sx|vue|svelte|astro)$/.test(path);

/** Folders of packages and of builds. */
const skipped = /^(\..*|node_modules|dist|build|out|vendor|target|coverage|venv|__pycache__|Pods|DerivedData)$/;
const testFolder = /^(tests?|__tests__|__mocks__|specs?|e2e|cypress|playwright|fixtures|androidTest|.*Tests)$/;
const testFile = /\.(test|spec|stories|e2e|cy)\.\w+$/;
const isMade = (name: string): boolean => /(\.d\.[cm]?ts|\.min\.js)$/.test(name);

/** Larger files are bundles. */
const maxBytes = 2 * 1024 * 1024;

/** Other files have no calls, and parsing them would take most of the time. */
const mayCall = /posthog|\bph\b|distinctId|useFeatureFlag/i;

export interface SourceOptions {
  /** Files of tests count, too. */
  readonly tests: boolean;
  readonly ignore: readonly string[];
  /** The app's own functions that capture an event of the name in their first argument: `track`, `analytics.track`. */
  readonly wrappers: readonly string[];
}

export interface FoundSite extends CallSite {
  readonly file: string;
}

export interface SourceFindings {
  readonly sites: readonly FoundSite[];
  readonly problems: readonly (SourceProblem & { readonly file: string })[];
  readonly files: number;
}

async function* filesIn(folder: string, options: SourceOptions): AsyncGenerator<string> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((): Dirent[] => []);
  for (const it of entries.sort((a, b) => compareText(a.name, b.name))) {
    const isLeftOut = options.ignore.includes(it.name);
    const isTest = it.isDirectory() ? testFolder.test(it.name) : testFile.test(it.name);
    if (isLeftOut || (isTest && !options.tests)) continue;
    const path = join(folder, it.name);
    if (it.isDirectory() && !skipped.test(it.name)) yield* filesIn(path, options);
    else if (it.isFile() && isScript(it.name) && !isMade(it.name)) yield path;
  }
}

/** The call sites in files and folders. @param base Paths are shown from this folder @throws the system's error for a missing one */
export async function findSites(
  paths: readonly string[],
  base: string,
  options: SourceOptions,
): Promise<SourceFindings> {
  const sites: FoundSite[] = [];
  const problems: (SourceProblem & { file: string })[] = [];
  const seen = new Set<string>();
  const wrappers = new Set(options.wrappers);
  const words = options.wrappers.map((it) => it.split(".").at(-1) ?? it);
  async function read(path: string): Promise<void> {
    if (seen.has(path)) return;
    seen.add(path);
    const file = relative(base, path).replaceAll("\\", "/");
    const notRead = isScript(path)
      ? statSync(path).size > maxBytes && "a file of more than 2 MB is not read"
      : "only JavaScript, TypeScript, Vue, Svelte and Astro are read";
    if (notRead) {
      problems.push({ file, line: 1, column: 1, message: notRead });
      return;
    }
    const text = await readFile(path, "utf8");
    if (!mayCall.test(text) && !words.some((it) => text.includes(it))) return;
    const found = scriptCalls(text, path, wrappers);
    sites.push(...found.sites.map((it) => ({ ...it, file })));
    problems.push(...found.problems.map((it) => ({ ...it, file })));
  }
  for (const path of paths) {
    if (statSync(path).isFile()) await read(path);
    else for await (const file of filesIn(path, options)) await read(file);
  }
  return { sites, problems, files: seen.size };
}
