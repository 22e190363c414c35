import type { SimOptions } from "../index.ts";

/** What `startSim()` takes, as far as it can be handed from process to process. */
export type VitestSimOptions = Omit<SimOptions, "onNotice">;

declare module "vitest" {
  interface ProvidedContext {
    /** How the sim is started: `test: { provide: { phxSim: { scenario: "shop" } } }` in the config. */
    phxSim?: VitestSimOptions;
    /** The sim's address, of the global setup. */
    phxSimUrl?: string;
    /** Its control token, where the sim was started with one or is open to the network. */
    phxSimToken?: string;
  }
}

/** What Vitest hands to a global setup, as far as it is needed here. */
interface Setup {
  provide(key: "phxSimUrl" | "phxSimToken", value: string): void;
  readonly config: { readonly provide?: { readonly phxSim?: VitestSimOptions }; readonly watch?: boolean };
}

/**
 * As `globalSetup`: one sim for the run. Where PHX_SIM_URL is set (`phx-sim exec -- vitest`) it is that one.
 * @throws StartError
 */
export async function setup(project: Setup): Promise<(() => Promise<void>) | undefined> {
  const { PHX_SIM_URL: url } = process.env;
  if (url !== undefined && url !== "") {
    project.provide("phxSimUrl", url);
    return undefined;
  }
  const { startSim } = await import("../index.ts");
  const sim = await startSim({
    reportLinks: project.config.watch === true,
    ...project.config.provide?.phxSim,
  });
  project.provide("phxSimUrl", sim.url);
  if (sim.controlToken !== null) project.provide("phxSimToken", sim.controlToken);
  return () => sim.close();
}
