export {
  ControlError,
  type EventQuery,
  type Events,
  type ExplainOptions,
  type FlagDistribution,
  type FlagExplanation,
  type FlagOverride,
  type FlagOverrideSet,
  type FlagSubject,
  type FlagSummary,
  type Flags,
  type OfProject,
  type OverrideOptions,
  type WaitOptions,
} from "./client.ts";
export { version } from "./kernel/version.ts";
export type { Dialect } from "./model/dialect.ts";
export type { StoredEvent } from "./model/event.ts";
export { type Finding, type RequestSummary, type Sim, type SimOptions, StartError, startSim } from "./sim.ts";
