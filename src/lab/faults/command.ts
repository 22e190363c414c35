import { isObject, type Json, type JsonObject } from "../../kernel/base/json.ts";
import { counted } from "../../kernel/base/text.ts";
import { clean } from "../../kernel/command/clean-text.ts";
import type { Command } from "../../kernel/command/command.ts";
import { Failure } from "../../kernel/command/failure.ts";
import type { Settings } from "../../kernel/command/settings.ts";
import { optionsOf } from "../../kernel/command/shape-options.ts";
import type { Style } from "../../kernel/command/style.ts";
import { thinCommand } from "../../kernel/command/thin-command.ts";
import { type Fault, FaultMatch, FaultOrder, type FaultPreset } from "./shapes.ts";

const states: Readonly<Record<Fault["state"], string>> = { active: "active", used_up: "used up", expired: "expired" };

function faultLine(fault: Fault, style: Style): string {
  const { name, id, text, state, used } = fault;
  const title = `${style.bold(clean(name, 60))}${name === id ? "" : ` ${style.dim(`(${id})`)}`}`;
  return `${title}  ${clean(text)}  ${style.dim(`${states[state]}, ${counted(used, "request")} affected`)}`;
}

function presetLines({ presets }: { presets: FaultPreset[] }, style: Style): string[] {
  const width = Math.max(...presets.map(({ name }) => name.length));
  return presets.map(({ name, describe }) => `${style.bold(name.padEnd(width))}  ${describe}`);
}

const { preset, match, effect, duration, ...others } = optionsOf(FaultOrder);

const applyOptions = {
  fault: { describe: "A preset's name, or a rule as a JSON object", parameter: "preset", place: 1 },
  ...optionsOf(FaultMatch),
  ...others,
  for: { ...duration, kind: "duration", parameter: "duration" },
  latency: { kind: "duration", describe: "Delay responses by this time, instead of the preset's effect" },
} as const;

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

function orderOf(values: Settings<typeof applyOptions>["values"]) {
  const { fault, route, method, project, latency, name, rate, seed, times, for: duration } = values;
  const match = given({ route, method: method?.toUpperCase(), project });
  const effect = latency === undefined ? undefined : { latency };
  return {
    ...{ preset: undefined, route: undefined, method: undefined, project: undefined, latency: undefined },
    ...orderIn(fault),
    ...given({ name, match: Object.keys(match).length > 0 ? match : undefined, effect, rate, seed, times, duration }),
  };
}

const given = (members: Readonly<Record<string, Json | undefined>>): JsonObject =>
  Object.fromEntries(Object.entries(members).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));

export const faultCommands: readonly Command[] = [
  thinCommand({
    name: "faults list",
    describe: "List faults, including ended ones",
    examples: [["phx-sim faults list", "with how many requests each affected"]],
    call: "GET faults",
    lines: ({ faults }: { faults: Fault[] }, style) =>
      faults.length === 0 ? ["no faults"] : faults.map((it) => faultLine(it, style)),
  }),
  thinCommand({
    name: "faults presets",
    describe: "List the presets",
    examples: [["phx-sim faults presets", "their names, and what they do"]],
    call: "GET faults/presets",
    lines: presetLines,
  }),
  thinCommand({
    name: "faults apply",
    describe: "Apply a preset or a rule",
    options: applyOptions,
    examples: [
      ["phx-sim faults apply flags-down --for 30s", "then the flags come back"],
      ["phx-sim faults apply capture-503 --rate 0.2 --seed 7", "one request in five, always the same ones"],
      [`phx-sim faults apply '{"effect":{"status":500}}' --route management`, "a rule of your own"],
    ],
    call: "POST faults",
    sends: orderOf,
    lines: (fault: Fault, style) => [faultLine(fault, style)],
  }),
  thinCommand({
    name: "faults clear",
    describe: "Remove all faults, or one",
    options: { which: { describe: "Only the faults with this id or name" } },
    examples: [["phx-sim faults clear --which flags-down", "only this one"]],
    call: "DELETE faults/:which",
    lines: ({ removed }: { removed: number }) => [`cleared ${counted(removed, "fault")}`],
  }),
];
