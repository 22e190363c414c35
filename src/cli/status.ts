import type { Json, JsonObject } from "../kernel/base/json.ts";
import { clean } from "../kernel/command/clean-text.ts";
import { command, type Shell } from "../kernel/command/command.ts";
import { findRunning, type Running, scenarioMistakes, whereOptions } from "../kernel/command/running-sim.ts";
import type { Settings } from "../kernel/command/settings.ts";
import { print } from "../kernel/command/thin-command.ts";

const options = {
  ...whereOptions,
  wait: { kind: "duration", describe: "Wait this long for the sim to be ready, e.g. 10s" },
  json: { kind: "switch", describe: "Print all that the sim reports of itself as JSON" },
} as const;

export const status = command({
  name: "status",
  describe: "Show whether a sim runs, where, and what it has",
  options,
  examples: [["phx-sim status --wait 10s", "in scripts: go on once the sim is ready"]],
  confirms: true,
  run,
});

async function run(settings: Settings<typeof options>, shell: Shell) {
  const running = await findRunning(settings, shell, settings.values.wait);
  const { info, foundBy } = running;
  const result = { ...info, found_by: foundBy };
  return print(shell, settings.values.json, result, statusLines(running, shell));
}

/** Shown in this order, if the sim reports them. */
const rows = [
  "pid",
  "scenario",
  "dialect",
  "data",
  "inspector_url",
  "project_api_key",
  "personal_api_key",
  "project_id",
];

function statusLines(running: Running, { outStyle: style, cwd }: Shell): string[] {
  const { info, foundBy } = running;
  const mistakes = scenarioMistakes(running, cwd);
  const row = (name: string, text: string) => `  ${style.dim(name.padEnd(17))} ${clean(text)}`;
  // An object that a program gave has no name.
  const named = info.scenario === null ? rows.filter((name) => name !== "scenario") : rows;
  const shown = named.filter((name) => Object.hasOwn(info, name)).map((name) => row(name, show(info[name])));
  return [
    `phx-sim ${clean(show(info.version), 20)} is running at ${style.bold(clean(show(info.url)))}`,
    ...shown,
    ...mistakes.slice(0, 1).map((it) => row("scenario edit", `not valid, the last good one is in force: ${it}`)),
    ...countLines(info, row),
    row("found by", foundBy),
  ];
}

function countLines(info: JsonObject, row: (name: string, text: string) => string): string[] {
  const { counts } = info;
  if (typeof counts !== "object" || counts === null || Array.isArray(counts)) return [];
  const shown = Object.entries(counts).filter(([, value]) => typeof value === "number");
  return shown.length === 0 ? [] : [row("counts", shown.map(([name, value]) => `${name} ${show(value)}`).join(", "))];
}

const show = (value: Json | undefined): string => {
  if (value === null) return "none (in memory)";
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
};
