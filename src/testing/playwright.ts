import { test as base, expect as baseExpect, type TestInfo } from "@playwright/test";
import type { Project, ProjectOptions, SimClient } from "../client/api.ts";
import { connectSim } from "../client/connect.ts";
import type { SimOptions } from "../index.ts";
import { simMatchers } from "./matchers.ts";
import { type Attachment, type AttachOptions, type AttachTarget, attach } from "./playwright/attach.ts";
import { verifyEscapes } from "./playwright/escape-error.ts";
import { projectName } from "./project-name.ts";

export { type Attachment, type AttachOptions, type AttachTarget, attach } from "./playwright/attach.ts";
export { type Escape, EscapeError } from "./playwright/escape-error.ts";
export type { Project, ProjectOptions, SimClient, SimOptions };

/** A test's project, which pages can be attached to. */
export interface AttachableProject extends Project {
  /** As `attach`; what goes past the sim fails the test at its end. The test's own `context` is attached already. */
  attach(target: AttachTarget, options?: AttachOptions): Promise<Attachment>;
}

/** What a test of `phx-sim/playwright` is given besides. */
export interface SimFixtures {
  /** A project of the test's own, named after it, gone when it is over. */
  ph: AttachableProject;
}

/** Options, for `test.use({ … })` or `use` in the configuration. */
export interface SimTestOptions {
  /** How the test's `context` is attached to `ph`; false: not at all. Default true. */
  phxAttach: boolean | AttachOptions;
  /** What `ph` is made with, e.g. `{ flags: { "new-checkout": "test" } }`. */
  phxProject: ProjectOptions;
}

export interface SimWorkerFixtures {
  /** The sim of `PHX_SIM_URL` (as below `phx-sim exec -- playwright test`), else one in the worker. */
  sim: SimClient;
}

export interface SimWorkerOptions {
  /** How the worker's own sim is started. */
  phxSim: SimOptions;
}

async function openSim(options: SimOptions): Promise<SimClient> {
  if (process.env.PHX_SIM_URL) return connectSim();
  const { startSim } = await import("../index.ts");
  return startSim(options);
}

/** What was captured, among the attachments of a test that failed. */
async function showCaptured(project: Project, info: TestInfo): Promise<void> {
  if (info.status === info.expectedStatus) return;
  const [kept, dropped] = await Promise.all([project.events.list(), project.events.dropped()]);
  const body = JSON.stringify({ kept, dropped }, null, 2);
  await info.attach("phx-sim events", { body, contentType: "application/json" });
}

/**
 * Playwright's `test` with a sim and a project for each test. Pages of the test's `context` are answered by the sim
 * when they turn to PostHog, without a change to the app; a test fails when such a request goes past the sim.
 * @example test("signs up", async ({ page, ph }) => { …; await expect(ph).toHaveCaptured("signed_up"); });
 */
export const test = base.extend<SimFixtures & SimTestOptions, SimWorkerFixtures & SimWorkerOptions>({
  phxSim: [{}, { option: true, scope: "worker" }],
  phxProject: [{}, { option: true }],
  phxAttach: [true, { option: true }],
  sim: [
    async ({ phxSim }, use) => {
      const sim = await openSim(phxSim);
      await use(sim);
      await sim.close();
    },
    { scope: "worker" },
  ],
  ph: async ({ sim, phxProject }, use, info) => {
    const project = await sim.project({
      name: projectName(info.titlePath.slice(1).join(" › ")),
      ...phxProject,
    });
    const attachments: Attachment[] = [];
    const attachTo = async (target: AttachTarget, options?: AttachOptions) => {
      const attachment = await attach(target, project, options);
      attachments.push(attachment);
      return attachment;
    };
    try {
      await use(Object.assign(project, { attach: attachTo }));
      await Promise.all(attachments.map((it) => it.finish()));
      await showCaptured(project, info);
    } finally {
      await project.dispose();
    }
    verifyEscapes(attachments.flatMap((it) => [...it.escapes()]));
  },
  context: async ({ context, ph, phxAttach }, use) => {
    if (phxAttach !== false) await ph.attach(context, phxAttach === true ? {} : phxAttach);
    await use(context);
  },
});

/** Playwright's `expect` with the matchers for `ph` and `sim`. */
export const expect = baseExpect.extend(simMatchers);
