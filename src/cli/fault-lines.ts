import type { Fault, FaultPreset } from "../index.ts";
import { counted } from "../kernel/counted.ts";
import { clean } from "./clean-text.ts";
import type { Style } from "./style.ts";

const states: Readonly<Record<Fault["state"], string>> = {
  active: "in force",
  used_up: "used up",
  expired: "expired",
};

/** A fault on a line: its name, what it does, how it fared. */
export function faultLine(fault: Fault, style: Style): string {
  const { name, id, text, state, used } = fault;
  const told = `${style.bold(clean(name, 60))}${name === id ? "" : ` ${style.dim(`(${id})`)}`}`;
  return `${told}  ${clean(text)}  ${style.dim(`${states[state]}, ${counted(used, "request")} touched`)}`;
}

/** Every fault, or that there is none. */
export const faultLines = (faults: readonly Fault[], style: Style): string[] =>
  faults.length === 0 ? ["no faults"] : faults.map((fault) => faultLine(fault, style));

/** The presets as a table. */
export function presetLines(presets: readonly FaultPreset[], style: Style): string[] {
  const width = Math.max(...presets.map(({ name }) => name.length));
  return presets.map(({ name, describe }) => `${style.bold(name.padEnd(width))}  ${describe}`);
}
