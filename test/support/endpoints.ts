import { type Sim, startSim } from "../../src/index.ts";

/** Every endpoint row of a sim. */
export async function allEndpoints(): ReturnType<Sim["endpoints"]> {
  await using sim = await startSim();
  return await sim.endpoints();
}
