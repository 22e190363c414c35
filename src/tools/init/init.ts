import { existsSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { objectIn } from "../../kernel/base/json.ts";
import { makeFolder } from "../../kernel/base/make-folder.ts";
import { writeWhole } from "../../kernel/base/whole-file.ts";
import { clean } from "../../kernel/command/clean-text.ts";
import { type CommandEnd, command, type Shell } from "../../kernel/command/command.ts";
import { Failure } from "../../kernel/command/failure.ts";
import { locate, whereOptions } from "../../kernel/command/running-sim.ts";
import type { Settings } from "../../kernel/command/settings.ts";
import { reasonOf } from "../../kernel/command/system-reason.ts";
import { print } from "../../kernel/command/thin-command.ts";
import { frameworks } from "../../lab/egress/env-names.ts";
import { appScript, projectFiles, skill, skillPaths, testCommand, withSection, withServer } from "./project-files.ts";
import { jsonLike, readIfThere, readJsonFile, readStack, runners, type Stack } from "./stack.ts";

const options = {
  agents: {
    kind: "switch",
    describe: "Also write a skill, a section of AGENTS.md, and phx-sim into .mcp.json, for coding agents",
  },
  framework: { describe: "The app's framework (default: what package.json names)", choices: frameworks },
  runner: { describe: "The test runner (default: what package.json names)", choices: runners },
  "dry-run": { kind: "switch", describe: "Only list what would be written" },
  force: { kind: "switch", describe: "Replace files that exist and differ" },
  json: { kind: "switch", describe: "Print the stack, the files and the next steps as JSON" },
} as const;

type InitSettings = Settings<typeof options>;

export const init = command({
  name: "init",
  describe: "Set up phx-sim in an app: config, scenario, variables, a first test, a script",
  options,
  examples: [
    ["phx-sim init --dry-run", "what it would write"],
    ["phx-sim init", "existing files are never replaced"],
    ["phx-sim init --agents", "also what coding agents read"],
  ],
  confirms: true,
  run,
});

/** What happens to a file; `exists`: it differs and stays. */
type FileAction = "create" | "update" | "replace" | "unchanged" | "exists";

interface PlannedFile {
  readonly path: string;
  readonly what: string;
  readonly action: FileAction;
  readonly text: string;
}

interface Place {
  readonly folder: string;
  readonly force: boolean;
}

/** A file of its own: written if it does not exist. */
function whole({ folder, force }: Place, path: string, what: string, text: string): PlannedFile {
  const found = readIfThere(join(folder, path), folder);
  const differs = force ? "replace" : "exists";
  return { path, what, text, action: found === undefined ? "create" : found === text ? "unchanged" : differs };
}

/** A file that others write as well: changed in one place. */
function merged({ folder }: Place, path: string, what: string, text: string): PlannedFile {
  const found = readIfThere(join(folder, path), folder)?.replace(/^\ufeff/, "");
  return { path, what, text, action: found === undefined ? "create" : found === text ? "unchanged" : "update" };
}

const scriptName = "test:analytics";

/** package.json with the script; another script of this name stays. */
function withScript(place: Place, stack: Stack, line: string): PlannedFile[] {
  const { folder, force } = place;
  const file = readJsonFile(join(folder, "package.json"), folder);
  if (file === undefined || stack.language !== "javascript") return [];
  const what = `script ${scriptName}`;
  const scripts = objectIn(file.value, "scripts");
  const given = scripts[scriptName];
  if (given === line) return [{ path: "package.json", what, text: file.text, action: "unchanged" }];
  if (given !== undefined && !force)
    return [{ path: "package.json", what: `another ${what}`, text: file.text, action: "exists" }];
  const text = jsonLike(file.text, { ...file.value, scripts: { ...scripts, [scriptName]: line } });
  return [{ path: "package.json", what, text, action: "update" }];
}

function agentFiles(place: Place): PlannedFile[] {
  const { folder, force } = place;
  const sections = withSection(readIfThere(join(folder, "AGENTS.md"), folder));
  const servers = withServer(readJsonFile(join(folder, ".mcp.json"), folder), force);
  return [
    ...skillPaths.map((path) => whole(place, path, "a skill for coding agents", skill)),
    merged(place, "AGENTS.md", "a section about phx-sim", sections),
    merged(place, ".mcp.json", "the tools of phx-sim mcp", servers),
  ];
}

/** All files, read and checked before one is written. @throws Failure */
function plannedFiles(place: Place, stack: Stack, withAgents: boolean): PlannedFile[] {
  const line = testCommand(stack);
  return [
    ...projectFiles(stack).map(({ path, what, text }) => whole(place, path, what, text)),
    ...(line === undefined ? [] : withScript(place, stack, line)),
    ...(withAgents ? agentFiles(place) : []),
  ];
}

const isWritten = ({ action }: PlannedFile): boolean => action !== "unchanged" && action !== "exists";

async function write(folder: string, { path, text }: PlannedFile): Promise<void> {
  const file = join(folder, path);
  try {
    makeFolder(dirname(file));
    await writeWhole(file, [text], existsSync(file) ? statSync(file).mode & 0o777 : 0o644);
  } catch (error) {
    throw new Failure("failed", `${path} cannot be written: ${reasonOf(error)}`, error);
  }
}

function nextSteps(folder: string, stack: Stack, files: readonly PlannedFile[]): string[] {
  const line = testCommand(stack);
  const packages = { ...objectIn(stack.manifest ?? {}, "dependencies") };
  const dev = objectIn(stack.manifest ?? {}, "devDependencies");
  const isInstalled = "phx-sim" in packages || "phx-sim" in dev;
  const hasScript = files.some((it) => it.path === "package.json" && it.action !== "exists");
  return [
    ...(stack.manifest !== null && !isInstalled ? ["npm install --save-dev phx-sim"] : []),
    ...(hasScript ? [`npm run ${scriptName}`] : line === undefined ? [] : [`npx ${line}`]),
    ...(stack.runner === "jest" && stack.configured
      ? [
          'for runs without exec, globalSetup "phx-sim/jest/global" and globalTeardown "phx-sim/jest/teardown" in jest\'s configuration',
        ]
      : []),
    ...missingScript(stack),
    ...(runningIn(folder) ? ["npx phx-sim stop"] : []),
    "npx phx-sim start",
  ];
}

/** The Playwright configuration starts the app by a script that does not exist yet. */
const missingScript = (stack: Stack): string[] =>
  stack.runner === "playwright" && !stack.configured && appScript(stack) === undefined
    ? [
        "name the command and address of the app in the Playwright configuration (package.json has no script dev or start)",
      ]
    : [];

const dataFolder = whereOptions.data.default;

/** The sim of this folder, which has its port and data. */
const runningIn = (folder: string) => locate(join(folder, dataFolder));

/** A data folder of an earlier start gets the new scenario with the next one. */
function folderNote(folder: string): string[] {
  const running = runningIn(folder);
  const merges = "the next start merges the scenario into it (--fresh begins anew)";
  if (running) return [`  the sim at ${clean(running.url)} runs with its own scenario on ${dataFolder}; ${merges}`];
  return existsSync(join(folder, dataFolder, "world.json"))
    ? [`  ${dataFolder} has documents and events already; ${merges}`]
    : [];
}

const stackText = ({ language, framework, runner, typescript }: Stack): string =>
  language === null
    ? "no package.json and no Python project in this folder: no test is written; run it in the app's folder, or give --runner"
    : [typescript ? "typescript" : language, framework, runner].filter((it) => it !== null).join(", ");

async function run({ values }: InitSettings, shell: Shell): Promise<CommandEnd> {
  const folder = shell.cwd;
  const found = readStack(folder);
  const stack: Stack = {
    ...found,
    framework: values.framework ?? found.framework,
    runner: values.runner ?? found.runner,
  };
  const files = plannedFiles({ folder, force: values.force }, stack, values.agents);
  const isDry = values["dry-run"];
  if (!isDry) for (const file of files.filter(isWritten)) await write(folder, file);
  const next = nextSteps(folder, stack, files);
  const { manifest: _, ...facts } = stack;
  const listed = files.map(({ path, action, what }) => ({ path, action, what }));
  const kept = files.filter(({ action }) => action === "exists");
  const { outStyle: style } = shell;
  const width = Math.max(...files.map(({ path }) => path.length));
  return print(shell, values.json, { dry_run: isDry, stack: facts, files: listed, next }, [
    `${isDry ? "would set up" : "set up"} for: ${stackText(stack)}`,
    ...files.map((it) => `  ${it.action.padEnd(9)} ${it.path.padEnd(width)}  ${style.dim(it.what)}`),
    ...(kept.length > 0 ? ["  what exists and differs stays; --force replaces it"] : []),
    ...folderNote(folder),
    `next: ${next.join("; ")}`,
  ]);
}
