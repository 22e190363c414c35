import type { SimOptions } from "../sim/types.ts";

interface ProjectConfig {
  readonly globals?: { readonly phxSim?: Omit<SimOptions, "onNotice"> };
}

/**
 * As `globalSetup`: one sim for the run, started with `globals: { phxSim: { … } }` of the config. Its address is in
 * PHX_SIM_URL, which the workers inherit; if that is already set (`phx-sim exec -- jest`), that sim is used.
 * `phx-sim/jest/teardown` closes it.
 * @throws StartError
 */
export default async function setup(_: unknown, project?: ProjectConfig): Promise<void> {
  const { PHX_SIM_URL: url } = process.env;
  if (url !== undefined && url !== "") return;
  const { startOwnSim } = await import("./own-sim.ts");
  const sim = await startOwnSim(project?.globals?.phxSim ?? {});
  process.env.PHX_SIM_URL = sim.url;
  const { PHX_SIM_TOKEN: token } = process.env;
  if (sim.controlToken !== null) process.env.PHX_SIM_TOKEN = sim.controlToken;
  const mine: HeldSim = {
    async close() {
      Reflect.deleteProperty(process.env, "PHX_SIM_URL");
      if (token === undefined) Reflect.deleteProperty(process.env, "PHX_SIM_TOKEN");
      else process.env.PHX_SIM_TOKEN = token;
      await sim.close();
    },
  };
  held.current = mine;
}

/** What the setup leaves to the teardown; jest loads the two in separate module registries. */
export interface HeldSim {
  close(): Promise<void>;
}

const place = Symbol.for("phx-sim.jest");
const holder: { [place]?: HeldSim | undefined } = globalThis as { [place]?: HeldSim | undefined };

/** In this process there is one run at a time. */
export const held = {
  get current(): HeldSim | undefined {
    return holder[place];
  },
  set current(it: HeldSim | undefined) {
    holder[place] = it;
  },
};
