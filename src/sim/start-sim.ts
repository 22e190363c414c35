import { createClient } from "./client/client.ts";
import { runSim } from "./sim.ts";
import type { Sim, SimOptions, SimServer } from "./types.ts";

/** Starts a sim in this process. It installs no signal handlers and keeps no global state. @throws StartError */
export const startSim = async (options: SimOptions = {}): Promise<Sim> =>
  withClient(await runSim(options), options.waitMs);

export function withClient({ send, ...sim }: SimServer, waitMs?: number): Sim {
  return { ...sim, ...createClient({ ...sim, send, waitMs }) };
}
