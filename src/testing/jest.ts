import { createRequire } from "node:module";
import { performance } from "node:perf_hooks";
import { afterAll, afterEach, beforeEach, expect } from "@jest/globals";
import { assertionsOf } from "../lab/assert/client-assertions.ts";
import { knowTests, type RunningTest } from "../lab/egress/attempt.ts";
import { type BlockedCall, blockedCauses } from "../lab/egress/blocked-call.ts";
import { guardProcess } from "../lab/egress/guard.ts";
import type { Project, ProjectOptions, SimClient, Tenant } from "../sim/client/api.ts";
import { connectSim } from "../sim/client/connect.ts";
import type { SimMatchers } from "./matchers/matcher.ts";
import { simMatchers } from "./matchers/matchers.ts";
import { addLine, type ReportSetting, reportFailure } from "./report-file.ts";
import { causesInProcess, mockText, sdkNames } from "./sdk-in-process.ts";
import { type GuardSetting, isReroute, optionsOf, projectName, refuse, rerouteTo } from "./test-worker.ts";

export type { GuardSetting, Project, ProjectOptions, ReportSetting, SimClient };
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
  "PHX_SIM_URL is not set, so there is no sim. Start one in jest's configuration, with " +
  '`globalSetup: "phx-sim/jest/global"` and `globalTeardown: "phx-sim/jest/teardown"`, or run ' +
  "`phx-sim exec -- jest`";

const place = Symbol.for("phx-sim.jest.file");
const holder = globalThis as { [place]?: Pick<typeof import("./jest.ts"), "project" | "sim" | "withProject"> };
/** The test file's first copy of this module, which has the hooks; undefined in the first: resetModules() makes more. */
const first = holder[place];
holder[place] ??= { project, sim, withProject };

let connected: Promise<SimClient> | undefined;
const made: Project[] = [];

interface CircusTest {
  concurrent: boolean;
  /** Each an error, or what was thrown with an error of the place. */
  errors: unknown[];
  fn: unknown;
  /** ms since the epoch. */
  startedAt?: number | null;
  /** ms; absent if the test has no limit of its own. */
  timeout?: number;
}

/** The state of jest-circus, which has no public API for a test's limit; undefined with another runner. */
function circus(): { currentlyRunningTest: CircusTest | null; testTimeout: number } | undefined {
  const key = Object.getOwnPropertySymbols(globalThis).find(({ description }) => description === "JEST_STATE_SYMBOL");
  return key === undefined ? undefined : Reflect.get(globalThis, key);
}

const currentName = (): string | undefined => expect.getState().currentTestName;

/** The test whose code runs; jest 29 knows that of concurrent tests only. */
function nameOfCode(): string | undefined {
  const { currentConcurrentTestName: nameNow } = expect.getState() as {
    currentConcurrentTestName?: () => string | undefined;
  };
  return nameNow?.();
}

let running: { name: string | undefined; deadline: { at: number; limit: number } } | undefined;
const watched = new Map<Tenant, string | undefined>();

/** Mocks of SDKs that are in force for the test's file: jest keeps mocks apart from what `require.cache` has. */
function mocksOfJest(file: string): string[] {
  const require = createRequire(file);
  return sdkNames.flatMap((name) => {
    try {
      const loaded: unknown = require(name);
      const real: unknown = require.cache[require.resolve(name)]?.exports;
      return loaded === real ? [] : [mockText("jest", name)];
    } catch {
      // it is not installed where the test is, or is an ES module
      return [];
    }
  });
}

async function known() {
  const { testPath: file = "" } = expect.getState();
  const name = currentName();
  const calls = guard?.calls().filter(({ test }) => test === undefined || test === name) ?? [];
  return causesInProcess(file, blockedCauses(calls, process.env.PHX_SIM_URL ?? "the sim"), mocksOfJest(file));
}

/** Assertions on this handle end before the test's own limit, and fail the test if they are not awaited. */
function watch(tenant: Tenant, name: string | undefined): void {
  watched.set(tenant, name);
  const isRunning = () => name === undefined || name === running?.name;
  assertionsOf(tenant).learn(known);
  assertionsOf(tenant).deadline = () => (isRunning() ? running?.deadline : undefined);
}

/** @throws NotAwaitedError if a test leaves an assertion without a result */
function verifyAwaited(): void {
  const name = currentName();
  const own = [...watched].filter(([, opener]) => opener === undefined || opener === name);
  const [first] = own.flatMap(([tenant]) => assertionsOf(tenant).end() ?? []);
  // A test that failed leaves assertions behind, and reports why it failed.
  if (first && (circus()?.currentlyRunningTest?.errors.length ?? 0) === 0) throw first;
}

/** False for functions that take `done` and for generators, which jest runs in other ways. */
const returnsPromise = (fn: unknown): fn is () => unknown =>
  typeof fn === "function" && fn.length === 0 && Object.prototype.toString.call(fn) !== "[object GeneratorFunction]";

/** Tests of `test.concurrent` that still run keep theirs. */
async function deleteEnded(): Promise<void> {
  const over = made.filter((it) => ended.has(watched.get(it) ?? ""));
  for (const it of over) {
    made.splice(made.indexOf(it), 1);
    watched.delete(it);
  }
  await Promise.all(over.map((it) => it.dispose()));
}

/** Runs before the hooks of the suite; the body, which has the limit, begins after them. */
async function beforeBody(): Promise<void> {
  // Not after the test: its other hooks may still flush an SDK.
  await deleteEnded();
  const state = circus();
  const test = state?.currentlyRunningTest;
  if (!state || !test || test.concurrent || !returnsPromise(test.fn)) return;
  const { fn } = test;
  test.fn = async function body(this: unknown) {
    test.fn = fn;
    const limit = test.timeout || state.testTimeout;
    running = { name: currentName(), deadline: { at: performance.now() + limit, limit } };
    try {
      await Reflect.apply(fn, this, []);
    } finally {
      running = undefined;
    }
    verifyAwaited();
  };
}

/** `globals: { phxGuard: … }` of the configuration. */
const { phxGuard = true } = globalThis as { phxGuard?: GuardSetting };
/** For the whole file from here on: tests of `test.concurrent` begin before any hook. */
const guard =
  first !== undefined || phxGuard === false
    ? undefined
    : guardProcess({ ...optionsOf(phxGuard), url: process.env.PHX_SIM_URL || "the sim" });
const tests = new Map<string, RunningTest>();
const ended = new Set<string>();

function testOf(name: string): RunningTest {
  const test = tests.get(name) ?? { name };
  tests.set(name, test);
  return test;
}

function testOfCode(): RunningTest | undefined {
  const name = nameOfCode();
  return name === undefined ? undefined : testOf(name);
}

if (!first) knowTests({ current: testOfCode, isRunning: ({ name }) => !ended.has(name) });

const reported = new Set<BlockedCall>();
const reroutes = new Map<() => void, string | undefined>();

function refuseCalls(isCounted: (call: BlockedCall) => boolean, by: string): void {
  const calls = guard?.calls().filter((it) => !reported.has(it) && isCounted(it)) ?? [];
  for (const it of calls) reported.add(it);
  if (guard?.calls().every((it) => reported.has(it))) guard.clear();
  refuse(calls, process.env.PHX_SIM_URL || "the sim", by);
}

/** @throws EgressError if calls were blocked: of this test's code, of a test that has ended, or of an unknown one */
function verifyGuard(name = ""): void {
  refuseCalls(({ test }) => test === undefined || test === name || ended.has(test), name);
}

/** Ends what is sent to projects of this test; undefined: of all. */
function endReroutes(name?: string): void {
  for (const [end, opener] of reroutes) {
    if (name !== undefined && opener !== name) continue;
    reroutes.delete(end);
    end();
  }
}

async function afterTest(): Promise<void> {
  const name = currentName();
  await reportFailed();
  endReroutes(name);
  try {
    verifyAwaited();
  } finally {
    verifyGuard(name);
    if (name !== undefined) ended.add(name);
  }
}

/**
 * The run's sim: the one that `phx-sim/jest/global` started, or `phx-sim exec`.
 * @throws Error if there is none; ControlError if it does not answer
 */
export function sim(): Promise<SimClient> {
  if (first) return first.sim();
  if (!process.env.PHX_SIM_URL) return Promise.reject(new Error(noSim));
  connected ??= connectSim(undefined, phxWait === undefined ? {} : { waitMs: phxWait }).then((it) => {
    watch(it, undefined);
    return it;
  });
  return connected;
}

/** `globals: { phxReport: …, phxWait: … }` of the configuration. */
const { phxReport = true, phxWait } = globalThis as { phxReport?: ReportSetting; phxWait?: number };

/** A limit that was hit is a string, and the error of its place: lines can only be added to an error. */
function makeErrors({ errors }: CircusTest): void {
  for (const [i, it] of errors.entries()) {
    const [thrown, place]: unknown[] = Array.isArray(it) ? it : [];
    if (typeof thrown !== "string" || !(place instanceof Error)) continue;
    const error = new Error(thrown);
    error.stack = `Error: ${thrown}\n${place.stack?.replace(/^(?!\s+at ).*\n/gm, "") ?? ""}`;
    errors[i] = [error, place];
  }
}

async function showPending(errors: readonly unknown[]): Promise<void> {
  const name = currentName();
  for (const [tenant, opener] of watched) {
    if (opener !== undefined && opener !== name) continue;
    for (const text of await assertionsOf(tenant).reports()) for (const error of errors) addLine(error, text);
  }
}

const errorsOf = ({ errors }: CircusTest): unknown[] => errors.map((it) => (Array.isArray(it) ? it[0] : it));

async function reportFailed(): Promise<void> {
  const test = circus()?.currentlyRunningTest;
  if (!test || test.errors.length === 0) return;
  makeErrors(test);
  const errors = errorsOf(test);
  await showPending(errors);
  const { currentTestName: title = "", testPath: file = "" } = expect.getState();
  const messages = errors.map((it) => (it instanceof Error ? it.message : String(it)));
  const facts = { title, errors: messages, started: test.startedAt ?? Date.now(), ended: Date.now() };
  for (const project of made.filter((it) => watched.get(it) === title)) {
    const line = await reportFailure(project, facts, { file, setting: phxReport });
    if (line !== undefined) for (const error of errors) addLine(error, line);
  }
}

async function openProject(options: ProjectOptions | undefined): Promise<Project> {
  // Read first: the current name can be that of a test that has just been started.
  const name = nameOfCode() ?? currentName();
  const opened = await (await sim()).project({ name: projectName(name ?? "a test of jest"), ...options });
  watch(opened, name);
  if (isReroute(phxGuard)) {
    const test = name === undefined ? undefined : testOf(name);
    reroutes.set(rerouteTo({ url: opened.url, projectId: opened.projectId }, phxGuard, test), name);
  }
  return opened;
}

/** The test's own project, named after it; deleted before the next test begins. @throws ControlError */
export async function project(options?: ProjectOptions): Promise<Project> {
  if (first) return first.project(options);
  const opened = await openProject(options);
  made.push(opened);
  return opened;
}

const inTest =
  'withProject(…) makes the body of a test and does not run it: write test("…", withProject(async (ph) => { … })), or `const ph = await project()` inside of the test';

/**
 * A test's body with its own project, which is deleted at its end.
 * @example test("tracks the signup", withProject(async (ph) => { … }));
 */
export function withProject(body: (project: Project) => unknown, options?: ProjectOptions): () => Promise<void> {
  if (first) return first.withProject(body, options);
  if (circus()?.currentlyRunningTest || running !== undefined) throw new TypeError(inTest);
  return async () => {
    const opened = await openProject(options);
    try {
      await body(opened);
    } catch (error) {
      assertionsOf(opened).end();
      // its report is written after the test, which has a limit
      made.push(opened);
      throw error;
    }
    const name = watched.get(opened);
    watched.delete(opened);
    await opened.dispose();
    // jest 30 runs no hooks of concurrent tests
    verifyGuard(name);
  };
}

async function afterFile(): Promise<void> {
  try {
    await Promise.all(made.splice(0).map((it) => it.dispose()));
  } finally {
    endReroutes();
    guard?.close();
    refuseCalls(() => true, "");
  }
}

if (!first) {
  beforeEach(beforeBody);
  afterEach(afterTest);
  afterAll(afterFile);
}
