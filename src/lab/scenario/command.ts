import { existsSync } from "node:fs";
import { extname } from "node:path";
import { shortened } from "../../kernel/base/problem.ts";
import { counted } from "../../kernel/base/text.ts";
import { writeWhole } from "../../kernel/base/whole-file.ts";
import { clean } from "../../kernel/command/clean-text.ts";
import { type Command, type CommandGroup, command, type Shell } from "../../kernel/command/command.ts";
import { Failure } from "../../kernel/command/failure.ts";
import type { Settings } from "../../kernel/command/settings.ts";
import { reasonOf } from "../../kernel/command/system-reason.ts";
import { onFile } from "../tapes/commands/tape-trouble.ts";
import { tapePlace } from "../tapes/format/place.ts";
import type { TapeProblem } from "../tapes/shapes.ts";
import type { TapeScenario } from "./from-tape/tape-scenario.ts";

const group: CommandGroup = { name: "scenario", describe: "Scenario files: write a first one, check, list" };

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
  try {
    await write(file, scenarioStarter(format), name, "give another name");
  } catch (error) {
    if (error instanceof Failure) throw error;
    throw new Failure("failed", `${name} cannot be written: ${reasonOf(error)}`, error);
  }
  const next = `${name} is written; start it with: phx-sim start --scenario ${name}`;
  shell.out.say(values.json ? JSON.stringify({ file }) : next);
  return "ok" as const;
}

/** @throws Failure if the file exists, unless forced; the system's error */
async function write(file: string, text: string, name: string, advice: string, isForced = false): Promise<void> {
  if (!isForced && existsSync(file)) throw new Failure("failed", `${name} already exists; ${advice}`);
  await writeWhole(file, [text], 0o666);
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

const fromTapeOptions = {
  tape: { describe: "The tape: tapes/NAME.tape.ndjson, or a path", place: 1, suggests: "tapes" },
  out: { kind: "file", describe: "File to write; default: stdout" },
  force: { kind: "switch", describe: "Replace the file if it exists" },
  json: { kind: "switch", describe: "Print the scenario, and the file if one was written, as JSON" },
} as const;

const maxLeftOut = 20;

async function fromTape({ values }: Settings<typeof fromTapeOptions>, shell: Shell) {
  const file = tapePlace(values.tape, shell.cwd);
  const { out } = values;
  const [{ scenarioFromTape }, { readTape }, { damageText, problemCount, warnOfDamage }] = await Promise.all([
    import("./from-tape/scenario-from-tape.ts"),
    import("../tapes/format/read.ts"),
    import("../tapes/commands/verify-report.ts"),
  ]);
  const source = shortened(file, shell.cwd);
  const { found, add } = problemCount<TapeProblem>();
  const made = await onFile(file, () =>
    scenarioFromTape(readTape(file, { bodies: "whole", onProblem: add }), { source }),
  );
  warnOfDamage(found, shell);
  if (made.exchanges === 0) throw new Failure("failed", `${clean(source)} has no exchanges`);
  if (out !== undefined)
    await onFile(out, () => write(out, made.text, clean(out), "--force writes over it", values.force));
  if (values.json) {
    const { scenario, counts, leftOut: left_out } = made;
    shell.out.say(JSON.stringify({ file: out ?? null, scenario, counts, left_out }));
  } else if (out === undefined) shell.out.say(made.text.trimEnd());
  const where = out === undefined ? "" : `${clean(shortened(out, shell.cwd))} is written: `;
  shell.err.say(`${where}${contents(made)}`, ...leftOutLines(made), ...(await flagLines(made, file)));
  if (found.damaged > 0) throw new Failure("failed", `${damageText(found.damaged)} (${clean(source)})`);
  return "ok" as const;
}

/** Differences between flag definitions and recorded answers: a definition may have changed, or use facts that tapes do not have. */
async function flagLines(made: TapeScenario, file: string): Promise<string[]> {
  if (!made.counts.flags) return [];
  const [{ startSim }, { readTape }, { readHeader }, { differenceLines, flagDifferences }] = await Promise.all([
    import("../../sim/start-sim.ts"),
    import("../tapes/format/read.ts"),
    import("../tapes/format/header.ts"),
    import("./command-flag-differences.ts"),
  ]);
  const { redaction } = await readHeader(file);
  const clock = made.firstAt === undefined ? {} : { clock: made.firstAt };
  const sim = await startSim({ scenario: made.scenario, proxy: false, ...clock });
  try {
    const found = await flagDifferences(sim, made.keys, readTape(file, { bodies: "whole" }));
    return differenceLines(found, redaction === "pii");
  } finally {
    await sim.close();
  }
}

function contents({ counts, exchanges }: TapeScenario): string {
  const parts = Object.entries(counts).flatMap(([name, count]) =>
    count > 0 ? [counted(count, name.replace("_", " ").replace(/s$/, ""))] : [],
  );
  return `${parts.join(", ")} of ${counted(exchanges, "exchange")}`;
}

function leftOutLines({ leftOut }: TapeScenario): string[] {
  const more = leftOut.length - maxLeftOut;
  return [
    ...leftOut.slice(0, maxLeftOut).map((it) => clean(`left out: ${it}`, 300)),
    ...(more > 0 ? [`… and ${more} more left out`] : []),
  ];
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
      ["phx-sim scenario check world.yaml --strict", "warnings, such as variants that add up to 90, fail as well"],
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
  command({
    name: "scenario from-tape",
    group,
    describe: "Make an editable scenario from a tape",
    options: fromTapeOptions,
    examples: [
      ["phx-sim scenario from-tape checkout --out world.jsonc", "projects, dashboards, flags …, ids kept"],
      ["phx-sim start --scenario world.jsonc", "the recorded world, live"],
    ],
    run: fromTape,
  }),
];
