export { ControlError, type Events, type EventQuery, type WaitOptions } from "./client.ts";
export type { Dialect } from "./model/dialect.ts";
export type { StoredEvent } from "./model/event.ts";
export { type RequestSummary, type Sim, type SimOptions, StartError, startSim } from "./sim.ts";
export { version } from "./kernel/version.ts";
