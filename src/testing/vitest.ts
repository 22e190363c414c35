import { performance } from "node:perf_hooks";
import { test as base, expect, inject, type TestContext } from "vitest";
import { assertionsOf } from "../lab/assert/client-assertions.ts";
import { checkedWait } from "../lab/assert/limits.ts";
import type { Project, ProjectOptions, SimClient, Tenant } from "../sim/client/api.ts";
import { connectSim } from "../sim/client/connect.ts";
import { addLine, type ReportSetting, reportFailure } from "./report-file.ts";
import { causesInProcess, isSdkName, mockText } from "./sdk-in-process.ts";
import { createWorkerGuard, type GuardSetting, isReroute, projectName } from "./test-worker.ts";
import type { VitestSimOptions } from "./vitest-global.ts";
import "./vitest-matchers.ts";

export { type FlagCombination, type FlagMatrix, flagCombinations } from "./flag-combinations.ts";
export type { GuardSetting, Project, ProjectOptions, ReportSetting, SimClient, VitestSimOptions };
export { expect };

/** The fixtures of `phx-sim/vitest`. */
export interface SimFixtures {
  /** The sim of the run, or the worker's own if there is no global setup. */
  sim: SimClient;
  /** The test's own project, named after it and deleted at its end: tests may run at the same time. */
  ph: Project;
  /** Options of `ph`: `test.extend({ phxProject: { flags: { beta: true } } })`. */
  phxProject: ProjectOptions;
  /**
   * Calls of this process to PostHog's real hosts are blocked and fail the test. `test.extend({ phxGuard: "reroute" })`
   * sends them to `ph` instead, false allows them; options (`{ hosts, allow, reroute }`) name hosts. Default true.
   */
  phxGuard: GuardSetting;
  /**
   * The folder for the reports of failed tests, one HTML file each, named in the failure; false: none.
   * `PHX_SIM_TEST_REPORTS` comes first: a folder, or `off`. Default true: `phx-report`.
   */
  phxReport: ReportSetting;
  /** How long assertions of `ph` wait by default, ms. Default: of the sim, `PHX_SIM_WAIT`, else 4,000. */
  phxWait: number | undefined;
  /** Checks each test at its end; not for use in tests. */
  phxCheck: Check;
}

type Task = TestContext["task"];

interface Check {
  /** The test's project, if calls to the real service go there. */
  readonly project: Project | undefined;
  /** Assertions on this handle end before the test's own limit, and fail the test if they are not awaited. */
  watch(tenant: Tenant): void;
}

/** The start of the test's body and of its timeout: hooks have their own limits. */
function startOf({ result }: Task): () => number | undefined {
  const hooks = result?.hooks;
  let start: number | undefined = performance.now();
  if (hooks?.beforeEach !== "run") return () => start;
  let state: typeof hooks.beforeEach = "run";
  start = undefined;
  Object.defineProperty(hooks, "beforeEach", {
    configurable: true,
    enumerable: true,
    get: () => state,
    set(next: typeof state) {
      state = next;
      start = next === "run" ? undefined : performance.now();
    },
  });
  return () => start;
}

/** Vitest settles a test's `promises` right after its body: before hooks, and before fixtures end. */
function atBodyEnd(task: Task, check: () => void): void {
  const promises: unknown[] = (task as { promises?: unknown[] }).promises ?? [];
  (task as { promises?: unknown[] }).promises = promises;
  promises.push({
    // biome-ignore lint/suspicious/noThenProperty: it is called at that moment
    then(resolve: () => void, reject: (error: unknown) => void) {
      try {
        check();
        resolve();
      } catch (error) {
        reject(error);
      }
    },
  });
}

function checkOf(task: Task, blocked: () => readonly string[]): Pick<Check, "watch"> {
  const start = startOf(task);
  const known = async () => causesInProcess(task.file.filepath, blocked(), mocksOfVitest());
  return {
    watch(tenant) {
      const assertions = assertionsOf(tenant);
      assertions.learn(known);
      assertions.deadline = () => {
        const began = start();
        const { timeout: limit } = task;
        return began === undefined || limit <= 0 ? undefined : { at: began + limit, limit };
      };
      atBodyEnd(task, () => {
        const notAwaited = assertions.end();
        if (notAwaited) throw notAwaited;
      });
    },
  };
}

/** Calls `used` when the test's body takes `ph` from its context: a hook may have prepared the fixtures, elsewhere. */
function whenUsed({ context }: Task, used: () => void): void {
  let value: unknown;
  Object.defineProperty(context, "ph", {
    configurable: true,
    enumerable: true,
    get() {
      used();
      return value;
    },
    set(it: unknown) {
      value = it;
    },
  });
}

async function report(project: Project, task: Task, started: number, setting: ReportSetting): Promise<void> {
  const errors = task.result?.errors ?? [];
  const test = { title: task.fullTestName, errors: errors.map(({ message }) => message), started, ended: Date.now() };
  const line = await reportFailure(project, test, { file: task.file.name, setting });
  if (line !== undefined) for (const error of errors) addLine(error, line);
}

/** Adds the reports of assertions that the runner's own limit has left without a result. */
async function showPending(tenant: Tenant, task: Task): Promise<void> {
  const reports = await assertionsOf(tenant).reports();
  const [error] = task.result?.errors ?? [];
  for (const text of reports) addLine(error, text);
}

interface MockedModule {
  readonly raw: string;
  readonly type: string;
}

/** The mocker of vitest, which has no public API for the mocks in force. */
interface Mocker {
  getMockerRegistry?(): { readonly registryById?: ReadonlyMap<string, MockedModule> };
}

function mocksOfVitest(): string[] {
  const { __vitest_mocker__: mocker } = globalThis as { __vitest_mocker__?: Mocker };
  const mocked = [...(mocker?.getMockerRegistry?.().registryById?.values() ?? [])];
  return mocked.filter(({ raw, type }) => type !== "autospy" && isSdkName(raw)).map(({ raw }) => mockText("vi", raw));
}

const guard = createWorkerGuard();

/** The sim of the global setup or of `phx-sim exec`, else one in this process. */
async function openSim(): Promise<SimClient> {
  const url = inject("phxSimUrl") ?? process.env.PHX_SIM_URL;
  const token = inject("phxSimToken");
  if (url !== undefined && url !== "") {
    const { waitMs } = inject("phxSim") ?? {};
    return connectSim(url, { ...(token !== undefined && { token }), ...(waitMs !== undefined && { waitMs }) });
  }
  const { startOwnSim } = await import("./own-sim.ts");
  return startOwnSim(inject("phxSim") ?? {});
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
      guard.close();
    },
    { scope: "worker" },
  ],
  phxProject: {},
  phxGuard: true,
  phxReport: true,
  phxWait: undefined,
  phxCheck: [
    async ({ sim, phxGuard, phxProject, task, onTestFinished }, use) => {
      const name = task.fullTestName ?? task.name;
      const guarded = guard.begin(sim.url, phxGuard, name);
      const check = checkOf(task, guarded.causes);
      // Tests that run at the same time share the sim's handle.
      if (task.concurrent) whenUsed(task, guarded.enter);
      else check.watch(sim);
      // Vitest reports an error of a fixture twice.
      onTestFinished(() => guarded.end());
      const project = isReroute(phxGuard) ? await sim.project({ name: projectName(name), ...phxProject }) : undefined;
      if (project) {
        guarded.reroute(project.projectId);
        onTestFinished(() => project.dispose());
      }
      await use({ ...check, project });
    },
    { auto: true },
  ],
  ph: async ({ sim, phxProject, phxReport, phxWait, phxCheck, task }, use) => {
    const project =
      phxCheck.project ?? (await sim.project({ name: projectName(task.fullTestName ?? task.name), ...phxProject }));
    if (phxWait !== undefined) assertionsOf(project).waitMs = checkedWait(phxWait, `phxWait: ${phxWait}`);
    phxCheck.watch(project);
    const started = Date.now();
    await use(project);
    // The test reports why it failed.
    if (task.result?.state === "fail") {
      await showPending(project, task);
      await showPending(sim, task);
      assertionsOf(project).end();
      await report(project, task, started, phxReport);
    }
    if (!phxCheck.project) await project.dispose();
  },
});
