import { writeFileSync } from "node:fs";
import { extname, relative } from "node:path";
import { counted } from "../base/counted.ts";
import { clean } from "../cli/clean-text.ts";
import { type Command, type CommandGroup, command, type Shell } from "../cli/command.ts";
import { Failure } from "../cli/failure.ts";
import type { Settings } from "../cli/settings.ts";
import { reasonOf, systemCode } from "../cli/system-reason.ts";
import { scenarioFromTapeCommand } from "./command-from-tape.ts";

const group: CommandGroup = { name: "scenario", describe: "Scenario files: write a first one, check, list" };

const checkOptions = {
  file: {
    kind: "scenario",
    describe: "The files, or names of shipped ones; each is laid over the one before",
    flagOnly: true,
    place: 1,
    many: true,
  },
  strict: { kind: "switch", describe: "Exit 1 also when there are warnings", flagOnly: true },
  json: { kind: "switch", describe: "Print all problems and warnings as one JSON line", flagOnly: true },
} as const;

async function check({ values }: Settings<typeof checkOptions>, shell: Shell) {
  const { problemLines, readScenario } = await import("../index.ts");
  const { problems, warnings, files } = await readScenario(values.file);
  const isSound = problems.length === 0 && (warnings.length === 0 || !values.strict);
  const marked = warnings.map((it) => ({ ...it, message: `warning: ${it.message}` }));
  const lines = problemLines([...problems, ...marked], shell.cwd).map((line) => clean(line, 2000));
  // The last line then counts the rest.
  const isCut = lines.length < problems.length + warnings.length;
  if (values.json) shell.out.say(JSON.stringify({ ok: isSound, problems, warnings, files }));
  else if (lines.length > 0)
    shell.out.say(...lines.slice(0, -1), `${lines.at(-1)}${isCut ? "; --json lists all" : ""}`);
  const counts = [
    ...(problems.length > 0 ? [counted(problems.length, "problem")] : []),
    ...(warnings.length > 0 ? [counted(warnings.length, "warning")] : []),
  ].join(", ");
  if (!isSound) throw new Failure("failed", counts);
  const checked = files.map((it) => clean(shown(it, shell.cwd))).join(" + ");
  if (!values.json) shell.out.say(`${checked}: ok${counts === "" ? "" : `, ${counts}`}`);
  return "ok" as const;
}

/** Files of the folder and below by their relative path. */
function shown(file: string, folder: string): string {
  const path = relative(folder, file);
  return path === "" || path.startsWith("..") ? file : path;
}

const initOptions = {
  file: {
    kind: "file",
    describe: "The new file, .yaml or .json (default: scenario.yaml)",
    flagOnly: true,
    place: 1,
    optional: true,
  },
  json: { kind: "switch", describe: "Print the file's name as JSON", flagOnly: true },
} as const;

const formats: Readonly<Record<string, "json" | "yaml">> = {
  ".json": "json",
  ".jsonc": "json",
  ".yaml": "yaml",
  ".yml": "yaml",
};

async function init({ values }: Settings<typeof initOptions>, shell: Shell) {
  const file = values.file ?? `${shell.cwd}/scenario.yaml`;
  const format = formats[extname(file).toLowerCase()];
  const name = clean(shown(file, shell.cwd));
  if (!format) throw new Failure("usage", `${name} must end in .yaml or .json`);
  const { scenarioStarter } = await import("../index.ts");
  create(file, name, scenarioStarter(format));
  const next = `${name} is written; start it with: phx-sim start --scenario ${name}`;
  shell.out.say(values.json ? JSON.stringify({ file }) : next);
  return "ok" as const;
}

/** Never over a file that is there. */
function create(file: string, name: string, text: string): void {
  try {
    writeFileSync(file, text, { flag: "wx" });
  } catch (error) {
    const isThere = systemCode(error) === "EEXIST";
    const reason = isThere ? "is there already; give another name" : `cannot be written: ${reasonOf(error)}`;
    throw new Failure("failed", `${name} ${reason}`, error);
  }
}

const schemaOptions = {
  json: { kind: "switch", describe: "No effect: the output is always JSON", flagOnly: true },
} as const;

async function schema(_: Settings<typeof schemaOptions>, shell: Shell) {
  const { scenarioSchemaText } = await import("../index.ts");
  shell.out.say(scenarioSchemaText().trimEnd());
  return "ok" as const;
}

const listOptions = {
  json: { kind: "switch", describe: "Print them as one JSON line", flagOnly: true },
} as const;

async function list({ values }: Settings<typeof listOptions>, shell: Shell) {
  const { shippedList } = await import("../index.ts");
  const shipped = await shippedList();
  const width = Math.max(...shipped.map(({ name }) => name.length));
  if (values.json) shell.out.say(JSON.stringify({ scenarios: shipped }));
  else shell.out.say(...shipped.map(({ name, description }) => `${name.padEnd(width)}  ${description}`));
  return "ok" as const;
}

export const scenarioCommands: readonly Command[] = [
  command({
    name: "scenario init",
    group,
    describe: "Write a commented scenario to start from",
    options: initOptions,
    examples: [["phx-sim scenario init world.yaml", "a new file; an existing one is never replaced"]],
    confirms: true,
    run: init,
  }),
  command({
    name: "scenario check",
    group,
    describe: "List everything that is wrong with scenario files",
    options: checkOptions,
    examples: [
      ["phx-sim scenario check world.yaml", "exit code 1 and a line for each problem, or one line"],
      ["phx-sim scenario check shop.yaml sale.yaml", "the second laid over the first"],
      [
        "phx-sim scenario check world.yaml --strict",
        "warnings, such as variants that add up to 90, fail as well",
      ],
    ],
    confirms: true,
    run: check,
  }),
  command({
    name: "scenario schema",
    group,
    describe: "Print the JSON Schema of scenario files",
    options: schemaOptions,
    examples: [["phx-sim scenario schema > scenario.schema.json", "for an editor that cannot find ours"]],
    run: schema,
  }),
  command({
    name: "scenario list",
    group,
    describe: "List the scenarios that come with phx-sim",
    options: listOptions,
    examples: [["phx-sim scenario list", "names for --scenario and extends"]],
    run: list,
  }),
  scenarioFromTapeCommand(group),
];
