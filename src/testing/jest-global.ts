import type { SimOptions } from "../index.ts";
import { type Held, held } from "./jest-held.ts";

/** What jest hands to a global setup, as far as it is needed here. */
interface ProjectConfig {
  readonly globals?: { readonly phxSim?: Omit<SimOptions, "onNotice"> };
}

/**
 * As `globalSetup`: one sim for the run, started with `globals: { phxSim: { … } }` of the config. Its address is in
 * PHX_SIM_URL, which the workers inherit; where that is set (`phx-sim exec -- jest`) it is that one.
 * `phx-sim/jest/teardown` closes it.
 * @throws StartError
 */
export default async function setup(_: unknown, project?: ProjectConfig): Promise<void> {
  const { PHX_SIM_URL: url } = process.env;
  if (url !== undefined && url !== "") return;
  const { startSim } = await import("../index.ts");
  const sim = await startSim(project?.globals?.phxSim ?? {});
  process.env.PHX_SIM_URL = sim.url;
  const { PHX_SIM_TOKEN: token } = process.env;
  if (sim.controlToken !== null) process.env.PHX_SIM_TOKEN = sim.controlToken;
  const mine: Held = {
    async close() {
      Reflect.deleteProperty(process.env, "PHX_SIM_URL");
      if (token === undefined) Reflect.deleteProperty(process.env, "PHX_SIM_TOKEN");
      else process.env.PHX_SIM_TOKEN = token;
      await sim.close();
    },
  };
  held.current = mine;
}
