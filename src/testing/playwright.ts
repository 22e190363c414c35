import { performance } from "node:perf_hooks";
import {
  type Browser,
  type BrowserContext,
  test as base,
  expect as baseExpect,
  type Expect,
  type TestInfo,
} from "@playwright/test";
import { counted } from "../kernel/base/text.ts";
import { writeWhole } from "../kernel/base/whole-file.ts";
import { type Assertions, assertionsOf, type Knowledge } from "../lab/assert/client-assertions.ts";
import { checkedWait } from "../lab/assert/limits.ts";
import type { KnownCauses } from "../lab/assert/match/causes.ts";
import { type Escape, escapeCauses, verifyEscapes } from "../lab/egress/browser-traffic.ts";
import type { Project, ProjectOptions, SimClient, Tenant } from "../sim/client/api.ts";
import { connectSim } from "../sim/client/connect.ts";
import type { SimOptions } from "../sim/types.ts";
import type { SimMatchers } from "./matchers/matcher.ts";
import { simMatchers } from "./matchers/matchers.ts";
import {
  type Attachment,
  type AttachOptions,
  type AttachTarget,
  answerUnrouted,
  attach,
  attachForTest,
  blockService,
  noteOffline,
  withStandIn,
} from "./playwright/attach.ts";
import { type StandIn, startStandIn, usesStandIn } from "./playwright/stand-in.ts";
import { type StorageMatchers, type StorageOwner, storageMatchers } from "./playwright/stored.ts";
import { causesInPages, isTimeStopped, readSdk, stoppedTime } from "./sdk-in-page.ts";
import { createWorkerGuard, type GuardSetting, isReroute, projectName } from "./test-worker.ts";

export { type Escape, EscapeError } from "../lab/egress/browser-traffic.ts";
export { type FlagCombination, type FlagMatrix, flagCombinations } from "./flag-combinations.ts";
export {
  type Attachment,
  type AttachOptions,
  type AttachTarget,
  attach,
  type BlockedRequest,
} from "./playwright/attach.ts";
export type { GuardSetting, Project, ProjectOptions, SimClient, SimOptions };

/** A test's project, which pages can be attached to. */
export interface AttachableProject extends Project {
  /**
   * As `attach`; requests that bypass the sim fail the test at its end. The contexts of the test's `browser`, including
   * its `context`, are attached already.
   */
  attach(target: AttachTarget, options?: AttachOptions): Promise<Attachment>;
}

export interface PlaywrightFixtures {
  /** The test's own project, named after it and deleted at its end. */
  ph: AttachableProject;
  /** Checks each test at its end; not for use in tests. */
  phxCheck: Check;
}

/** Options, for `test.use({ … })` or `use` in the configuration. */
export interface SimTestOptions {
  /** How the contexts of the test's `browser` are attached to `ph`; false: not at all. Default true. */
  phxAttach: boolean | AttachOptions;
  /**
   * Calls of the test's own process to PostHog's real hosts are blocked and fail the test; `"reroute"` sends them to
   * `ph`, false allows them, options (`{ hosts, allow, reroute }`) name hosts. Default true.
   */
  phxGuard: GuardSetting;
  /** Options of `ph`, e.g. `{ flags: { "new-checkout": "test" } }`. */
  phxProject: ProjectOptions;
  /** Attaches a report of its traffic to a failed test: HTML, and the verdict as JSON. Default true. */
  phxReport: boolean;
  /** How long assertions of `ph` wait by default, ms. Default: of the sim, `PHX_SIM_WAIT`, else 4,000. */
  phxWait: number | undefined;
}

export interface SimWorkerFixtures {
  /** The sim of `PHX_SIM_URL` (set by `phx-sim exec -- playwright test`), else one in the worker. */
  sim: SimClient;
  /** Answers what no route of Playwright sees; not for use in tests. */
  phxStandIn: StandIn;
}

export interface SimWorkerOptions {
  /** Options of the worker's own sim. */
  phxSim: SimOptions;
}

async function openSim(options: SimOptions): Promise<SimClient> {
  if (process.env.PHX_SIM_URL) return connectSim();
  const { startOwnSim } = await import("./own-sim.ts");
  return startOwnSim(options);
}

const blockedCauses = (attachments: readonly Attachment[]): string[] => {
  const requests = attachments.flatMap((it) => it.blocked());
  // events first
  const sorted = requests.sort((a, b) => Number(b.method === "POST") - Number(a.method === "POST"));
  const lines = sorted.map(({ method, url }) => `${method} ${url}`);
  const [first, ...others] = new Set(lines);
  const more = others.length === 0 ? "" : ` and ${counted(others.length, "other request")}`;
  return first === undefined ? [] : [`blocked by \`adBlocked\`: ${first}${more}`];
};

async function causesIn(targets: Iterable<AttachTarget>): Promise<Partial<KnownCauses>> {
  const frames = [...targets].flatMap((it) => [
    ...(it.pages?.().map((page) => page.mainFrame()) ?? []),
    ...(it.frames?.().slice(0, 1) ?? []),
  ]);
  if (frames.length === 0) return { absent: ["no page is open in an attached context"] };
  const sdks = await Promise.all([...new Set(frames)].map((frame) => frame.evaluate(readSdk, undefined)));
  const stopped = await Promise.all([...new Set(frames)].map((frame) => frame.evaluate(isTimeStopped)));
  return { ...causesInPages(sdks), ...(stopped.includes(true) && { queue: [stoppedTime] }) };
}

async function showCaptured(project: Project, info: TestInfo, isReported: boolean): Promise<void> {
  if (info.status === info.expectedStatus) return;
  const [kept, dropped] = await Promise.all([project.events.list(), project.events.dropped()]);
  const body = JSON.stringify({ kept, dropped }, null, 2);
  await info.attach("phx-sim events", { body, contentType: "application/json" });
  if (!isReported) return;
  const { testReport } = await import("./run-report/test-report-client.ts");
  const { verdict, html } = await testReport(project, {
    title: info.titlePath.slice(1).join(" › "),
    errors: info.errors.map(({ message = "" }) => message.replace(colours, "")),
    started: Date.now() - info.duration,
    ended: Date.now(),
  });
  await info.attach("phx-sim verdict", { body: JSON.stringify(verdict, null, 2), contentType: "application/json" });
  // by its path: reporters print the bodies of attachments
  const path = info.outputPath("phx-sim-report.html");
  await writeWhole(path, [html], 0o666);
  await info.attach("phx-sim report", { path, contentType: "text/html" });
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: Playwright colours its messages
const colours = /\u001b\[[\d;]*m/g;

interface Check {
  /** Sends the process' calls to the real service to this project, if the test's options say so. */
  reroute(project: Project): void;
  /** Assertions on this handle end before the test's own limit, and fail the test if they are not awaited. */
  watch(tenant: Tenant, ...known: readonly Knowledge[]): void;
  /** Looks for assertions without a result: before what the test opened is closed, and again after it. */
  look(): Promise<void>;
  /** @throws NotAwaitedError, or an Error with the reports of what the test's limit has left without a result */
  verify(): Promise<void>;
}

function checkOf(info: TestInfo, blocked: () => readonly string[]): Omit<Check, "reroute"> {
  const start = performance.now();
  const watched: Assertions[] = [];
  const found: Error[] = [];
  const look = async () => {
    if (info.status === "timedOut") {
      const reports = (await Promise.all(watched.map((it) => it.reports()))).flat();
      if (reports.length > 0) found.push(new Error(reports.join("\n\n")));
    }
    const errors = watched.flatMap((it) => it.end() ?? []);
    // A test that failed leaves assertions behind, and reports why it failed.
    if (info.errors.length === 0) found.push(...errors);
  };
  return {
    watch(tenant, ...known) {
      const assertions = assertionsOf(tenant);
      assertions.learn(async () => ({ certain: blocked() }));
      for (const it of known) assertions.learn(it);
      assertions.deadline = () => (info.timeout <= 0 ? undefined : { at: start + info.timeout, limit: info.timeout });
      watched.push(assertions);
    },
    look,
    async verify() {
      await look();
      const [first] = found;
      if (first) throw first;
    },
  };
}

type AttachContext = (context: BrowserContext) => Promise<void>;

function createContexts() {
  const browsers = new Set<Browser>();
  const attached = new Set<BrowserContext>();
  const held = new Map<BrowserContext, (context: BrowserContext) => Promise<Escape[]>>();
  let attachTo: AttachContext | undefined;
  const hold = async (context: BrowserContext) => void held.set(context, await blockService(context));
  const attach: AttachContext = async (context) => {
    if (attachTo === undefined || attached.has(context)) return;
    attached.add(context);
    await attachTo(context);
  };
  return {
    attach,
    follow(browser: Browser): () => void {
      const { newContext } = browser;
      browser.newContext = async (options) => {
        const context = await newContext.call(browser, options);
        noteOffline(context, options);
        if (attachTo === undefined) await hold(context);
        else await attach(context);
        return context;
      };
      browsers.add(browser);
      return () => {
        browsers.delete(browser);
        browser.newContext = newContext;
      };
    },
    /** Begins a test. Contexts may be open already: tests can share a page. @returns what they sent before */
    async begin(to: AttachContext): Promise<readonly Escape[]> {
      attachTo = to;
      const early = await Promise.all([...held].map(([context, end]) => end(context)));
      held.clear();
      for (const browser of browsers) for (const context of browser.contexts()) await attach(context);
      return early.flat();
    },
    end(): void {
      attachTo = undefined;
      attached.clear();
    },
  };
}

const contexts = createContexts();
const guard = createWorkerGuard();

/**
 * Playwright's `test` with a sim and a project for each test. The sim answers the requests of the test's `browser` for
 * PostHog, without a change to the app; a test fails if such a request bypasses the sim.
 * @example test("signs up", async ({ page, ph }) => { …; await expect(ph).toHaveCaptured("signed_up"); });
 */
export const test = base.extend<PlaywrightFixtures & SimTestOptions, SimWorkerFixtures & SimWorkerOptions>({
  phxSim: [{}, { option: true, scope: "worker" }],
  phxProject: [{}, { option: true }],
  phxAttach: [true, { option: true }],
  phxGuard: [true, { option: true }],
  phxReport: [true, { option: true }],
  phxWait: [undefined, { option: true }],
  sim: [
    async ({ phxSim }, use) => {
      const sim = await openSim(phxSim);
      await use(sim);
      await sim.close();
      guard.close();
    },
    { scope: "worker" },
  ],
  phxStandIn: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads from the pattern which fixtures are needed
    async ({}, use) => {
      const standIn = await startStandIn();
      await use(standIn);
      standIn.close();
    },
    { scope: "worker" },
  ],
  launchOptions: [
    async ({ launchOptions, browserName, sim, phxStandIn }, use) =>
      use(browserName === "chromium" ? phxStandIn.launchOptions(launchOptions, sim.url) : launchOptions),
    { scope: "worker" },
  ],
  browser: [
    async ({ browser, launchOptions, connectOptions }, use) => {
      const leave = contexts.follow(browser);
      if (!connectOptions && usesStandIn(launchOptions)) withStandIn.add(browser);
      await use(browser);
      leave();
    },
    { scope: "worker" },
  ],
  phxCheck: [
    async ({ sim, phxGuard }, use, info) => {
      const guarded = guard.begin(sim.url, phxGuard, info.titlePath.slice(1).join(" › "));
      const check = checkOf(info, guarded.causes);
      check.watch(sim);
      const reroute = ({ projectId }: Project) => isReroute(phxGuard) && guarded.reroute(projectId);
      await use({ ...check, reroute });
      try {
        await check.verify();
      } finally {
        guarded.end();
      }
    },
    { auto: true },
  ],
  ph: [
    async ({ sim, phxProject, phxAttach, phxReport, phxWait, phxCheck, phxStandIn }, use, info) => {
      const project = await sim.project({ name: projectName(info.titlePath.slice(1).join(" › ")), ...phxProject });
      if (phxWait !== undefined) assertionsOf(project).waitMs = checkedWait(phxWait, `phxWait: ${phxWait}`);
      phxCheck.reroute(project);
      const attachments: Attachment[] = [];
      const early: Escape[] = [];
      const escapes = () => [...early, ...attachments.flatMap((it) => [...it.escapes()])];
      const targets = new Set<AttachTarget>();
      phxCheck.watch(
        project,
        async () => ({ certain: [...escapeCauses(escapes()), ...blockedCauses(attachments)] }),
        () => causesIn(targets),
      );
      const keep = (target: AttachTarget, attachment: Attachment) => {
        targets.add(target);
        attachments.push(attachment);
        return attachment;
      };
      const attachTo = async (target: AttachTarget, options?: AttachOptions) =>
        keep(target, await attach(target, project, options));
      const options = typeof phxAttach === "object" ? phxAttach : {};
      if (phxAttach !== false) phxStandIn.answer = answerUnrouted(project, options);
      try {
        if (phxAttach !== false)
          early.push(...(await contexts.begin(async (it) => void keep(it, await attachForTest(it, project, options)))));
        await use(Object.assign(project, { attach: attachTo }));
        await phxCheck.look();
        await Promise.all(attachments.map((it) => it.finish()));
        await showCaptured(project, info, phxReport);
      } finally {
        contexts.end();
        phxStandIn.answer = undefined;
        await project.dispose();
      }
      verifyEscapes(escapes());
    },
    { auto: true },
  ],
  context: async ({ context, phxCheck }, use) => {
    await contexts.attach(context);
    await use(context);
    await phxCheck.look();
  },
});

type Message = Parameters<typeof baseExpect>[1];
type OfTenant = SimMatchers<Promise<void>>;

/** Playwright's type of an added matcher is not generic, so that it accepts operators that do not exist. */
type ExpectTenant = <T extends Tenant>(
  actual: T,
  messageOrOptions?: Message,
) => OfTenant & { not: OfTenant } & ReturnType<typeof baseExpect<T>>;

type OfStorage = StorageMatchers<Promise<void>>;

type ExpectStored = <T extends StorageOwner>(
  actual: T,
  messageOrOptions?: Message,
) => OfStorage & { not: OfStorage } & ReturnType<typeof baseExpect<T>>;

const withStorage = baseExpect.extend(storageMatchers) as typeof baseExpect;

/** Playwright's `expect` with the matchers for `ph` and `sim`, and `toHaveStored` for pages and contexts. */
export const expect = withStorage.extend(simMatchers) as ExpectTenant &
  ExpectStored & { soft: ExpectTenant & ExpectStored } & Expect<typeof simMatchers>;
