import type { FaultOrder, PresetName, ShownFault, ShownPreset } from "../model/fault.ts";
import type { ControlCall } from "./call.ts";

/** What is to differ from a preset, and for how many requests, how long, which of them. */
export type FaultOptions = Omit<FaultOrder, "preset">;
/** A rule: which requests, what happens to them, how often. */
export type FaultRule = FaultOptions & { effect: NonNullable<FaultOrder["effect"]> };
export type { PresetName as FaultPresetName };
/** A rule, and how often it was used. */
export type Fault = ShownFault;
export type FaultPreset = ShownPreset;

/** What goes wrong on purpose. Never touches the control API; ends with `clear`, or `reset`. */
export interface Faults {
  /** The faults in force, and those that are over, in the order they were applied. */
  list(): Promise<Fault[]>;
  /** The presets, and what they do. */
  presets(): Promise<FaultPreset[]>;
  /** Puts a preset in force, e.g. `apply("flags-partial", { times: 2 })`, or a rule. @throws ControlError */
  apply(preset: PresetName, options?: FaultOptions): Promise<Fault>;
  apply(rule: FaultRule): Promise<Fault>;
  /** Ends and forgets the faults of an id or name, or all; returns how many there were. @throws ControlError not_found */
  clear(which?: string): Promise<number>;
}

/** The faults' part of the client. */
export const faultsBy = (call: ControlCall): Faults => ({
  list: async () => (await call<{ faults: Fault[] }>("GET", "faults")).faults,
  presets: async () => (await call<{ presets: FaultPreset[] }>("GET", "faults/presets")).presets,
  apply: (what: PresetName | FaultRule, options: FaultOptions = {}) =>
    call<Fault>("POST", "faults", typeof what === "string" ? { ...options, preset: what } : what),
  clear: async (which) => {
    const path = which === undefined ? "faults" : `faults/${encodeURIComponent(which)}`;
    return (await call<{ removed: number }>("DELETE", path)).removed;
  },
});
