import type { HandleScope } from "../../kernel/call/call.ts";
import { ControlError } from "../../kernel/call/errors.ts";
import type { Fault, FaultOrder, FaultPreset, PresetName } from "./shapes.ts";

/** What is to differ from a preset, and for how many requests, how long, which of them. */
export type FaultOptions = Omit<FaultOrder, "preset">;
export type FaultRule = FaultOptions & { effect: NonNullable<FaultOrder["effect"]> };
export type { Fault, FaultPreset, PresetName as FaultPresetName };

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

function orderOf(what: PresetName | FaultRule, options: FaultOptions, project: number | undefined) {
  const order: FaultOrder = typeof what === "string" ? { ...options, preset: what } : what;
  return project === undefined ? order : { ...order, match: { ...order.match, project } };
}

export function faultsBy({ call, project }: HandleScope): Faults {
  const list = async () => {
    const { faults } = await call<{ faults: Fault[] }>("GET", "faults");
    return project === undefined ? faults : faults.filter(({ match }) => match.project === project);
  };
  const remove = async (rest: string) => (await call<{ removed: number }>("DELETE", `faults${rest}`)).removed;
  const removeOne = (which: string) => remove(`/${encodeURIComponent(which)}`);
  const clearOwn = async (which: string | undefined) => {
    const mine = (await list()).filter(({ id, name }) => which === undefined || which === id || which === name);
    if (mine.length === 0 && which !== undefined) throw noFault(which);
    const counts = await Promise.all(mine.map(({ id }) => removeOne(id)));
    return counts.reduce((sum, count) => sum + count, 0);
  };
  return {
    list,
    presets: async () => (await call<{ presets: FaultPreset[] }>("GET", "faults/presets")).presets,
    apply: (what: PresetName | FaultRule, options: FaultOptions = {}) =>
      call<Fault>("POST", "faults", orderOf(what, options, project)),
    clear: (which) => {
      if (project !== undefined) return clearOwn(which);
      return which === undefined ? remove("") : removeOne(which);
    },
  };
}

const noFault = (which: string): ControlError =>
  new ControlError(404, { code: "not_found", detail: `the project has no fault "${which}"` });
