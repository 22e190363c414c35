import { clean } from "../../kernel/command/clean-text.ts";
import { type CommandEnd, command, type Shell } from "../../kernel/command/command.ts";
import { Failure } from "../../kernel/command/failure.ts";
import { findRunning, type Running, whereOptions } from "../../kernel/command/running-sim.ts";
import type { Settings } from "../../kernel/command/settings.ts";
import type { Style } from "../../kernel/command/style.ts";
import { print } from "../../kernel/command/thin-command.ts";
import { diagnose } from "./doctor-checks.ts";
import {
  type CheckLevel,
  type DoctorFacts,
  type DoctorFinding,
  readApp,
  readPreflight,
  readSim,
  readVariables,
} from "./doctor-facts.ts";
import { checkThrough } from "./doctor-through.ts";

const options = {
  origin: { kind: "url", describe: "Check that pages of this origin may send to the sim, e.g. http://localhost:3000" },
  through: {
    kind: "word",
    describe:
      "Send what SDKs send through this reverse proxy, whose upstream is the sim, and compare what arrives: http://localhost:3000/ingest",
  },
  timeout: {
    kind: "duration",
    parameter: "timeout_ms",
    describe: "With --through: longest time for each answer (default: 5s)",
  },
  ...whereOptions,
  data: { ...whereOptions.data, describe: "The sim's data folder; if given here, it is checked for damage" },
  json: { kind: "switch", describe: "Print the findings as JSON" },
} as const;

export const doctor = command({
  name: "doctor",
  describe: "Find out why events do not arrive: variables, keys, host, CORS, what was refused",
  options,
  examples: [
    ["phx-sim doctor", "in the app's folder, with the app's variables"],
    ["phx-sim doctor --origin http://localhost:3000", "also whether its pages may send"],
    ["phx-sim doctor --through http://localhost:3000/ingest", "what the app's reverse proxy loses or changes"],
    ["phx-sim doctor --data .phx-sim", "also whether files of the data folder are damaged"],
  ],
  confirms: true,
  run,
});

async function run(settings: Settings<typeof options>, shell: Shell): Promise<CommandEnd> {
  const { through, origin, timeout, json } = settings.values;
  if (through !== undefined) return checkThrough({ through, origin, timeout, json }, settings, shell);
  const found = await findings(settings, shell);
  const passed = found.every(({ level }) => level !== "problem");
  const lines = found.map((finding) => findingLine(finding, shell.outStyle));
  print(shell, settings.values.json, { passed, findings: found }, lines);
  return passed ? "ok" : 1;
}

/** The findings in the app and the sim, and in a data folder that was given; only in that folder if no sim runs. */
async function findings(settings: Settings<typeof options>, shell: Shell) {
  if (settings.origins.data.source !== "flag") return diagnose(await gather(settings, shell));
  const damage = await checkedData(settings.values.data);
  const facts = await gather(settings, shell);
  return "missing" in facts.sim ? damage : [...diagnose(facts), ...damage];
}

async function checkedData(folder: string): Promise<(DoctorFinding & { check: string })[]> {
  const { checkData } = await import("../../index.ts");
  const found = await checkData(folder);
  if (found.length === 0) return [{ check: "data", level: "ok", text: `${folder} is intact` }];
  return found.map(({ file, line, detail }) => ({
    check: "data",
    level: "problem",
    text: `${file}${line === null ? "" : `:${line}`}: ${detail}`,
  }));
}

async function gather(settings: Settings<typeof options>, shell: Shell): Promise<DoctorFacts> {
  const variables = readVariables(shell.env, shell.cwd);
  const app = readApp(shell.cwd);
  const running = await findOrExplain(settings, shell);
  if (running instanceof Failure) return { sim: { missing: running.message }, variables, ...app, preflight: null };
  const { origin } = settings.values;
  const sim = await readSim(running, shell.cwd);
  const preflight = origin === undefined ? null : await readPreflight(running.url, origin);
  return { sim, variables, ...app, preflight };
}

async function findOrExplain(settings: Settings<typeof options>, shell: Shell): Promise<Running | Failure> {
  try {
    return await findRunning(settings, shell);
  } catch (error) {
    if (error instanceof Failure && error.kind === "no_sim") return error;
    throw error;
  }
}

const marks: Readonly<Record<CheckLevel, (style: Style) => string>> = {
  ok: (style) => style.good("✓"),
  warning: (style) => style.bold("!"),
  problem: (style) => style.bad("✗"),
};

const findingLine = ({ level, text, fix }: DoctorFinding, style: Style): string =>
  `${marks[level](style)} ${clean(text, 600)}${fix === undefined ? "" : ` → ${clean(fix, 300)}`}`;
