import type { SimOptions } from "../sim/types.ts";

/** The options of `startSim()` that can be passed between processes. */
export type VitestSimOptions = Omit<SimOptions, "onNotice">;

declare module "vitest" {
  interface ProvidedContext {
    /** Options of the sim: `test: { provide: { phxSim: { scenario: "shop" } } }` in the config. */
    phxSim?: VitestSimOptions;
    /** The sim's address, of the global setup. */
    phxSimUrl?: string;
    /** Its control token, if the sim was started with one or is open to the network. */
    phxSimToken?: string;
  }
}

interface Setup {
  provide(key: "phxSimUrl" | "phxSimToken", value: string): void;
  readonly config: { readonly provide?: { readonly phxSim?: VitestSimOptions }; readonly watch?: boolean };
}

/** As `globalSetup`: one sim for the run; if PHX_SIM_URL is set (`phx-sim exec -- vitest`), that one. @throws StartError */
export async function setup(project: Setup): Promise<(() => Promise<void>) | undefined> {
  const { PHX_SIM_URL: url } = process.env;
  if (url !== undefined && url !== "") {
    project.provide("phxSimUrl", url);
    return undefined;
  }
  const { startOwnSim } = await import("./own-sim.ts");
  const sim = await startOwnSim({ reportLinks: project.config.watch === true, ...project.config.provide?.phxSim });
  project.provide("phxSimUrl", sim.url);
  if (sim.controlToken !== null) project.provide("phxSimToken", sim.controlToken);
  return () => sim.close();
}
