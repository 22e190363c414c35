import { isObject, type JsonObject } from "../base/json.ts";
import { counted } from "../base/text.ts";
import { clean } from "../cli/clean-text.ts";
import { type Command, type CommandGroup, command, type Shell } from "../cli/command.ts";
import { Failure } from "../cli/failure.ts";
import { whereOptions } from "../cli/running-sim.ts";
import type { Settings } from "../cli/settings.ts";
import type { Style } from "../cli/style.ts";
import { ask, print } from "../cli/thin-command.ts";
import type { Fault, FaultPreset } from "../index.ts";

const states: Readonly<Record<Fault["state"], string>> = {
  active: "active",
  used_up: "used up",
  expired: "expired",
};

/** A fault in one line. */
function faultLine(fault: Fault, style: Style): string {
  const { name, id, text, state, used } = fault;
  const title = `${style.bold(clean(name, 60))}${name === id ? "" : ` ${style.dim(`(${id})`)}`}`;
  return `${title}  ${clean(text)}  ${style.dim(`${states[state]}, ${counted(used, "request")} affected`)}`;
}

const faultLines = (faults: readonly Fault[], style: Style): string[] =>
  faults.length === 0 ? ["no faults"] : faults.map((fault) => faultLine(fault, style));

function presetLines(presets: readonly FaultPreset[], style: Style): string[] {
  const width = Math.max(...presets.map(({ name }) => name.length));
  return presets.map(({ name, describe }) => `${style.bold(name.padEnd(width))}  ${describe}`);
}

const group: CommandGroup = { name: "faults", describe: "Make requests fail on purpose" };

const json = { kind: "switch", describe: "Print the control API's response", flagOnly: true } as const;

const common = { ...whereOptions, json } as const;

const applyOptions = {
  fault: {
    kind: "text",
    describe: "A preset's name, or a rule as a JSON object",
    suggests: "presets",
    flagOnly: true,
    place: 1,
  },
  name: { kind: "text", describe: "The fault's name; default: the preset's", flagOnly: true },
  route: {
    kind: "text",
    describe: "capture, flags, service, sdk, management, or a path such as '/flags' or 'POST /api/*'",
    flagOnly: true,
  },
  method: { kind: "text", describe: "Only requests with this method", flagOnly: true },
  project: { kind: "count", describe: "Only requests of the project with this number", flagOnly: true },
  rate: { kind: "json", describe: "Share of the requests, above 0 and up to 1", flagOnly: true },
  seed: { kind: "count", describe: "Decides which requests a rate hits", flagOnly: true },
  times: { kind: "count", describe: "Ends after N requests", flagOnly: true },
  for: { kind: "duration", describe: "Ends after this time by the sim's clock, e.g. 30s", flagOnly: true },
  latency: {
    kind: "duration",
    describe: "Delay responses by this time, instead of the preset's effect",
    flagOnly: true,
  },
  ...common,
} as const;

const clearOptions = {
  which: {
    kind: "text",
    describe: "Only the faults with this id or name",
    flagOnly: true,
    suggests: "faults",
  },
  ...common,
} as const;

async function list(settings: Settings<typeof common>, shell: Shell) {
  const answer = await ask<{ faults: Fault[] }>(settings, shell, "GET", "faults");
  return print(shell, settings.values.json, answer, faultLines(answer.faults, shell.outStyle));
}

async function presets(settings: Settings<typeof common>, shell: Shell) {
  const answer = await ask<{ presets: FaultPreset[] }>(settings, shell, "GET", "faults/presets");
  return print(shell, settings.values.json, answer, presetLines(answer.presets, shell.outStyle));
}

/** A rule, or a preset's name. */
function orderIn(text: string): JsonObject {
  if (!text.trimStart().startsWith("{")) return { preset: text };
  try {
    const rule: unknown = JSON.parse(text);
    if (isObject(rule)) return rule;
  } catch {
    // reported below
  }
  throw new Failure("usage", "FAULT must be a preset's name or a rule as a JSON object");
}

/** The rule from the options; `undefined` is left out when it is sent. */
function ruleFromOptions({ values }: Settings<typeof applyOptions>) {
  const { route, method, project, latency } = values;
  const match = { route, method: method?.toUpperCase(), project };
  return {
    name: values.name,
    match: Object.values(match).some((it) => it !== undefined) ? match : undefined,
    effect: latency === undefined ? undefined : { latency },
    rate: values.rate,
    seed: values.seed,
    times: values.times,
    duration: values.for,
  };
}

async function apply(settings: Settings<typeof applyOptions>, shell: Shell) {
  const given = Object.entries(ruleFromOptions(settings)).filter(([, value]) => value !== undefined);
  const body = { ...orderIn(settings.values.fault), ...Object.fromEntries(given) };
  const answer = await ask<Fault>(settings, shell, "POST", "faults", body);
  return print(shell, settings.values.json, answer, [faultLine(answer, shell.outStyle)]);
}

async function clear(settings: Settings<typeof clearOptions>, shell: Shell) {
  const { which } = settings.values;
  const path = which === undefined ? "faults" : `faults/${encodeURIComponent(which)}`;
  const answer = await ask<{ removed: number }>(settings, shell, "DELETE", path);
  return print(shell, settings.values.json, answer, [`cleared ${counted(answer.removed, "fault")}`]);
}

/** The commands `phx-sim faults …`. */
export const faultCommands: readonly Command[] = [
  command({
    name: "faults list",
    group,
    describe: "List faults, including ended ones",
    options: common,
    examples: [["phx-sim faults list", "with how many requests each affected"]],
    run: list,
  }),
  command({
    name: "faults presets",
    group,
    describe: "List the presets",
    options: common,
    examples: [["phx-sim faults presets", "their names, and what they do"]],
    run: presets,
  }),
  command({
    name: "faults apply",
    group,
    describe: "Apply a preset or a rule",
    options: applyOptions,
    examples: [
      ["phx-sim faults apply flags-down --for 30s", "then the flags come back"],
      ["phx-sim faults apply capture-503 --rate 0.2 --seed 7", "one request in five, always the same ones"],
      [`phx-sim faults apply '{"effect":{"status":500}}' --route management`, "a rule of your own"],
    ],
    confirms: true,
    run: apply,
  }),
  command({
    name: "faults clear",
    group,
    describe: "Remove all faults, or one",
    options: clearOptions,
    examples: [["phx-sim faults clear --which flags-down", "only this one"]],
    confirms: true,
    run: clear,
  }),
];
