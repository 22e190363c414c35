import { writeFile } from "node:fs/promises";
import { counted } from "../base/counted.ts";
import { clean } from "../cli/clean-text.ts";
import { type CommandGroup, command, type Shell } from "../cli/command.ts";
import { Failure } from "../cli/failure.ts";
import type { Settings } from "../cli/settings.ts";
import { systemCode } from "../cli/system-reason.ts";
import type { TapeScenario } from "../index.ts";
import { onFile } from "../tapes/commands/tape-trouble.ts";
import { tapePlace } from "../tapes/format/place.ts";

const options = {
  tape: {
    kind: "text",
    describe: "The tape: tapes/NAME.tape.ndjson, or a path",
    flagOnly: true,
    place: 1,
    suggests: "tapes",
  },
  out: { kind: "file", describe: "File to write; default: stdout", flagOnly: true },
  force: { kind: "switch", describe: "Replace the file if it exists", flagOnly: true },
  json: {
    kind: "switch",
    describe: "Print the scenario, and the file if one was written, as JSON",
    flagOnly: true,
  },
} as const;

const mostLeftOut = 20;

async function run({ values }: Settings<typeof options>, shell: Shell) {
  const file = tapePlace(values.tape, shell.cwd);
  const { out } = values;
  const [{ scenarioFromTape }, { readTape }, { shownFile }] = await Promise.all([
    import("../index.ts"),
    import("../tapes/format/read.ts"),
    import("../tapes/commands/verify-report.ts"),
  ]);
  const source = shownFile(file, shell.cwd);
  const made = await onFile(file, () => scenarioFromTape(readTape(file, { bodies: "whole" }), { source }));
  if (made.exchanges === 0) throw new Failure("failed", `${clean(source)} has no exchanges`);
  if (out !== undefined) await write(out, made.text, values.force);
  if (values.json) {
    const { scenario, counts, leftOut: left_out } = made;
    shell.out.say(JSON.stringify({ file: out ?? null, scenario, counts, left_out }));
  } else if (out === undefined) shell.out.say(made.text.trimEnd());
  const where = out === undefined ? "" : `${clean(shownFile(out, shell.cwd))} is written: `;
  shell.err.say(`${where}${contents(made)}`, ...leftOutLines(made), ...(await flagLines(made, file)));
  return "ok" as const;
}

/** Never over a file that is there, unless told. */
async function write(file: string, text: string, isForced: boolean): Promise<void> {
  try {
    await onFile(file, () => writeFile(file, text, { flag: isForced ? "w" : "wx" }));
  } catch (error) {
    if (systemCode(error) !== "EEXIST") throw error;
    throw new Failure("failed", `${clean(file)} is there already; --force writes over it`, error);
  }
}

/** Where definitions of flags and their recorded answers disagree: a definition may have changed since, or depend on what no tape has. */
async function flagLines(made: TapeScenario, file: string): Promise<string[]> {
  if (!made.counts.flags) return [];
  const [{ startSim }, { readTape }, { readHeader }, { disagreementLines, flagDisagreements }] =
    await Promise.all([
      import("../index.ts"),
      import("../tapes/format/read.ts"),
      import("../tapes/format/header.ts"),
      import("./command-flag-check.ts"),
    ]);
  const { redaction } = await readHeader(file);
  const clock = made.firstAt === undefined ? {} : { clock: made.firstAt };
  const sim = await startSim({ scenario: made.scenario, proxy: false, ...clock });
  try {
    const found = await flagDisagreements(sim, made.keys, readTape(file, { bodies: "whole" }));
    return disagreementLines(found, redaction === "pii");
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
  const more = leftOut.length - mostLeftOut;
  return [
    ...leftOut.slice(0, mostLeftOut).map((it) => clean(`left out: ${it}`, 300)),
    ...(more > 0 ? [`… and ${more} more left out`] : []),
  ];
}

/** The command `phx-sim scenario from-tape`. */
export const scenarioFromTapeCommand = (group: CommandGroup) =>
  command({
    name: "scenario from-tape",
    group,
    describe: "Make an editable scenario from a tape",
    options,
    examples: [
      ["phx-sim scenario from-tape checkout --out world.jsonc", "projects, dashboards, flags …, ids kept"],
      ["phx-sim start --scenario world.jsonc", "the recorded world, live"],
    ],
    run,
  });
