import { existsSync } from "node:fs";
import { extname } from "node:path";
import { shortened } from "../../kernel/base/problem.ts";
import { counted } from "../../kernel/base/text.ts";
import { writeWhole } from "../../kernel/base/whole-file.ts";
import { clean } from "../../kernel/command/clean-text.ts";
import { type Command, command, type Shell } from "../../kernel/command/command.ts";
import { Failure } from "../../kernel/command/failure.ts";
import { written } from "../../kernel/command/result-file.ts";
import type { Settings } from "../../kernel/command/settings.ts";

const checkOptions = {
  file: {
    kind: "scenario",
    describe: "The files, or names of shipped ones; each is laid over the previous one",
    place: 1,
    many: true,
  },
  strict: { kind: "switch", describe: "Exit 1 also when there are warnings" },
  json: { kind: "switch", describe: "Print all problems and warnings as one JSON line" },
} as const;

async function check({ values }: Settings<typeof checkOptions>, shell: Shell) {
  const [{ linesOf }, { readScenario }] = await Promise.all([import("./problems.ts"), import("./load.ts")]);
  const { problems, warnings, files } = await readScenario(values.file);
  const isSound = problems.length === 0 && (warnings.length === 0 || !values.strict);
  const marked = warnings.map((it) => ({ ...it, message: `warning: ${it.message}` }));
  const lines = linesOf([...problems, ...marked], shell.cwd).map((line) => clean(line, 2000));
  // a cut list ends with the number of the other lines
  const isCut = lines.length < problems.length + warnings.length;
  if (values.json) shell.out.say(JSON.stringify({ ok: isSound, problems, warnings, files }));
  else if (lines.length > 0)
    shell.out.say(...lines.slice(0, -1), `${lines.at(-1)}${isCut ? "; --json lists all" : ""}`);
  const counts = [
    ...(problems.length > 0 ? [counted(problems.length, "problem")] : []),
    ...(warnings.length > 0 ? [counted(warnings.length, "warning")] : []),
  ].join(", ");
  if (!isSound) throw new Failure("failed", counts);
  const checked = files.map((it) => clean(shortened(it, shell.cwd))).join(" + ");
  if (!values.json) shell.out.say(`${checked}: ok${counts === "" ? "" : `, ${counts}`}`);
  return "ok" as const;
}

const initOptions = {
  file: { kind: "file", describe: "The new file, .yaml or .json (default: scenario.yaml)", place: 1, optional: true },
  json: { kind: "switch", describe: "Print the file's name as JSON" },
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
  const name = clean(shortened(file, shell.cwd));
  if (!format) throw new Failure("usage", `${name} must end in .yaml or .json`);
  const { scenarioStarter } = await import("./starter.ts");
  if (existsSync(file)) throw new Failure("failed", `${name} already exists; give another name`);
  await written(name, () => writeWhole(file, [scenarioStarter(format)], 0o666));
  const next = `${name} is written; start it with: phx-sim start --scenario ${name}`;
  shell.out.say(values.json ? JSON.stringify({ file }) : next);
  return "ok" as const;
}

const schemaOptions = { json: { kind: "switch", describe: "No effect: the output is always JSON" } } as const;

async function schema(_: Settings<typeof schemaOptions>, shell: Shell) {
  const { scenarioSchemaText } = await import("./shipped.ts");
  shell.out.say(scenarioSchemaText().trimEnd());
  return "ok" as const;
}

const listOptions = { json: { kind: "switch", describe: "Print them as one JSON line" } } as const;

async function list({ values }: Settings<typeof listOptions>, shell: Shell) {
  const { shippedList } = await import("./load.ts");
  const shipped = await shippedList();
  const width = Math.max(...shipped.map(({ name }) => name.length));
  if (values.json) shell.out.say(JSON.stringify({ scenarios: shipped }));
  else shell.out.say(...shipped.map(({ name, description }) => `${name.padEnd(width)}  ${description}`));
  return "ok" as const;
}

export const scenarioCommands: readonly Command[] = [
  command({
    name: "scenario init",
    describe: "Write a commented scenario to start from",
    options: initOptions,
    examples: [["phx-sim scenario init world.yaml", "a new file; an existing one is never replaced"]],
    confirms: true,
    run: init,
  }),
  command({
    name: "scenario check",
    describe: "List everything that is wrong with scenario files",
    options: checkOptions,
    examples: [
      ["phx-sim scenario check world.yaml", "exit code 1 and a line for each problem, or one line"],
      ["phx-sim scenario check shop.yaml sale.yaml", "the second laid over the first"],
      ["phx-sim scenario check world.yaml --strict", "warnings, such as variants that add up to 90, fail as well"],
    ],
    confirms: true,
    run: check,
  }),
  command({
    name: "scenario schema",
    describe: "Print the JSON Schema of scenario files",
    options: schemaOptions,
    examples: [["phx-sim scenario schema > scenario.schema.json", "for an editor that cannot find ours"]],
    run: schema,
  }),
  command({
    name: "scenario list",
    describe: "List the scenarios that come with phx-sim",
    options: listOptions,
    examples: [["phx-sim scenario list", "names for --scenario and extends"]],
    run: list,
  }),
];
