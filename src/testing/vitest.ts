import { test as base, expect, inject } from "vitest";
import type { Project, ProjectOptions, SimClient } from "../client/api.ts";
import { connectSim } from "../client/connect.ts";
import { projectName } from "./project-name.ts";
import type { VitestSimOptions } from "./vitest-global.ts";
import "./vitest-matchers.ts";

export type { Project, ProjectOptions, SimClient, VitestSimOptions };
export { expect };

/** What a test of `phx-sim/vitest` is given besides. */
export interface SimFixtures {
  /** The sim of the run, or one of the worker's own where there is no global setup. */
  sim: SimClient;
  /** A project of the test's own, named after it, gone when it is over: tests may run at the same time. */
  ph: Project;
  /** What `ph` is made with: `test.extend({ phxProject: { flags: { beta: true } } })`. */
  phxProject: ProjectOptions;
}

/** The run's sim: of the global setup, of `phx-sim exec`, else one in this process. */
async function openSim(): Promise<SimClient> {
  const url = inject("phxSimUrl") ?? process.env.PHX_SIM_URL;
  if (url !== undefined && url !== "") return connectSim(url);
  const { startSim } = await import("../index.ts");
  return startSim(inject("phxSim") ?? {});
}

/**
 * Vitest's `test` with a sim and a project for each test.
 * @example test("tracks the signup", async ({ ph }) => { … await expect(ph).toHaveCaptured("signed_up"); });
 */
export const test = base.extend<SimFixtures>({
  sim: [
    // biome-ignore lint/correctness/noEmptyPattern: Vitest reads from the pattern which fixtures are needed
    async ({}, use) => {
      const sim = await openSim();
      await use(sim);
      await sim.close();
    },
    { scope: "worker" },
  ],
  phxProject: {},
  ph: async ({ sim, phxProject, task }, use) => {
    const project = await sim.project({ name: projectName(task.name), ...phxProject });
    await use(project);
    await project.dispose();
  },
});
