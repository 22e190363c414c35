import { afterAll, expect } from "@jest/globals";
import type { Project, ProjectOptions, SimClient } from "../client/api.ts";
import { connectSim } from "../client/connect.ts";
import { simMatchers } from "./matchers.ts";
import { projectName } from "./project-name.ts";
import type { SimMatchers } from "./types.ts";

export type { Project, ProjectOptions, SimClient };
export { connectSim };

declare module "expect" {
  interface Matchers<R, T> extends SimMatchers<Promise<void>, T> {}
}

declare global {
  namespace jest {
    interface Matchers<R, T> extends SimMatchers<Promise<void>, T> {}
  }
}

expect.extend(simMatchers);

const noSim =
  "PHX_SIM_URL is not set: which sim is this about? Have jest's configuration start one, with " +
  '`globalSetup: "phx-sim/jest/global"` and `globalTeardown: "phx-sim/jest/teardown"`, or run ' +
  "`phx-sim exec -- jest`";

let connected: Promise<SimClient> | undefined;
const made: Project[] = [];

/**
 * The run's sim: the one that `phx-sim/jest/global` started, or `phx-sim exec`.
 * @throws Error when there is none; ControlError when it does not answer
 */
export function sim(): Promise<SimClient> {
  if (!process.env.PHX_SIM_URL) return Promise.reject(new Error(noSim));
  connected ??= connectSim();
  return connected;
}

async function openProject(options: ProjectOptions | undefined): Promise<Project> {
  // Read before anything else runs: of tests at the same time it names the one that is being started.
  const name = expect.getState().currentTestName ?? "a test of jest";
  return (await sim()).project({ name: projectName(name), ...options });
}

/** A project of the test's own, named after it; it goes when the file's tests are over. @throws ControlError */
export async function project(options?: ProjectOptions): Promise<Project> {
  const opened = await openProject(options);
  made.push(opened);
  return opened;
}

/**
 * A test's body with a project of its own, which goes with it.
 * @example test("tracks the signup", withProject(async (ph) => { … }));
 */
export const withProject =
  (body: (project: Project) => unknown, options?: ProjectOptions): (() => Promise<void>) =>
  async () => {
    const opened = await openProject(options);
    try {
      await body(opened);
    } finally {
      await opened.dispose();
    }
  };

// Not after each: tests of `test.concurrent` are under way at the same time.
afterAll(async () => {
  await Promise.all(made.splice(0).map((it) => it.dispose()));
});
