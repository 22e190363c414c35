import { type Sim, type SimOptions, startSim } from "../../index.ts";
import type { Json } from "../../kernel/base/json.ts";
import { maskTargetSecrets } from "../../kernel/base/secrets.ts";
import { AppError, type StartedApp, startApp, untilAnswering } from "./app/start-app.ts";
import {
  type Chromium,
  type ChromiumCandidate,
  installedChromiums,
  launchChromium,
  thisMachine,
} from "./browser/chromium.ts";
import { CheckPage, type DocumentAnswer } from "./browser/page.ts";
import { flushExpression } from "./browser/probe.ts";
import { buildReport, type FailOn } from "./build-report.ts";
import type { AppObservations, Observations, Visit } from "./observations.ts";
import type { CheckReport } from "./shapes.ts";

interface Route {
  readonly urls: readonly string[];
  /** Most pages to open, those that are named included. */
  readonly pages: number;
  /** CSS selectors that are clicked on the first page. */
  readonly clicks: readonly string[];
}

interface Seen extends Pick<Observations, "visits" | "requests" | "missedClicks" | "unopened"> {
  /** The last event at the end of each visit. */
  readonly marks: readonly number[];
}

const nothingSeen: Seen = { visits: [], requests: [], missedClicks: [], unopened: 0, marks: [] };

/** Links that change something by their name are not followed. */
const linksExpression = `[...document.querySelectorAll("a[href]")]
  .filter((it) => it.origin === location.origin && !it.hasAttribute("download") && (it.target === "" || it.target === "_self"))
  .filter((it) => !/log-?out|sign-?out|delete|remove|unsubscribe/i.test(it.pathname + it.textContent))
  .map((it) => it.href.replace(/#(?![!/]).*$/, ""))`;

const clickLink = (url: string): string =>
  `(() => { const link = [...document.querySelectorAll("a[href]")].find((it) => it.href.replace(/#(?![!/]).*$/, "") === ${JSON.stringify(url)}); link?.click(); return link !== undefined; })()`;

const clickOn = (selector: string): string =>
  `(() => { const it = document.querySelector(${JSON.stringify(selector)}); it?.click(); return it !== null; })()`;

const strings = (value: Json | undefined): string[] =>
  Array.isArray(value) ? value.filter((it) => typeof it === "string") : [];

const plainUrl = (url: string): string => (URL.canParse(url) ? new URL(url).href : url);

/** Opens the app's pages: those that are named, then those that they link to; the first one again at the end. */
async function openPages(
  browser: Chromium,
  sim: Sim,
  route: Route,
  isRerouted: boolean,
  onVisit: (url: string) => void,
): Promise<Seen> {
  const [first] = route.urls;
  if (first === undefined) return nothingSeen;
  const visits: Visit[] = [];
  const marks: number[] = [];
  const missedClicks: string[] = [];
  const page = await CheckPage.open(browser, {
    sim: sim.url,
    origins: new Set(route.urls.map((it) => new URL(it).origin)),
    proxies: new Map(),
    projectId: sim.projectId,
    isRerouted,
    visit: () => visits.length,
  });

  async function end(how: Visit["how"], loaded: DocumentAnswer): Promise<void> {
    await page.settle();
    await page.evaluate(flushExpression);
    await page.settle(120, 3_000);
    const [url, title] = strings(await page.evaluate("[location.href, document.title]"));
    const sdk = await page.state();
    visits.push({ url: maskTargetSecrets(url ?? ""), how, title: title ?? "", sdk, ...loaded, ...page.takeNotes() });
    marks.push(await sim.events.mark());
  }

  async function open(url: string, how: "load" | "reload"): Promise<void> {
    onVisit(url);
    await end(how, await page.load(url));
  }

  /** Follows a link as a user does: an app may change the address without a new document. */
  async function follow(url: string): Promise<void> {
    onVisit(url);
    const before = page.moves;
    const isClicked = await page.evaluate(clickLink(url));
    if (isClicked === true) await page.settle(150, 5_000);
    const after = page.moves;
    if (after.loads > before.loads) await end("load", page.document);
    else if (after.history > before.history) await end("history", { status: null, failure: null });
    else await open(url, "load");
  }

  try {
    const opened = new Set(route.urls.map(plainUrl));
    const found = new Set<string>();
    const look = async () => {
      for (const it of strings(await page.evaluate(linksExpression))) if (!opened.has(it)) found.add(it);
    };
    for (const [i, url] of route.urls.entries()) {
      await open(url, "load");
      await look();
      for (const selector of i === 0 ? route.clicks : []) {
        if ((await page.evaluate(clickOn(selector))) === true) await end("click", { status: null, failure: null });
        else missedClicks.push(selector);
        await look();
      }
    }
    for (const url of found) {
      if (opened.size >= route.pages) break;
      if (opened.has(url)) continue;
      opened.add(url);
      await follow(url);
      await look();
    }
    if (visits[0]?.failure === null) await open(first, "reload");
    const unopened = [...found].filter((it) => !opened.has(it)).length;
    await sim.settle({ idleMs: 50, timeoutMs: 2_000 }).catch(() => {});
    return { visits, requests: page.requests, missedClicks, unopened, marks };
  } finally {
    await page.close();
  }
}

/** Joins what the browser saw with what arrived at the sim. */
async function observed(sim: Sim, app: AppObservations, seen: Seen): Promise<Observations> {
  const { marks, ...inBrowser } = seen;
  const events = await sim.events.list();
  const { findings } = await sim.lint();
  return {
    app,
    ...inBrowser,
    events: events.map((event) => {
      const visit = marks.findIndex((mark) => event.seq <= mark);
      return { ...event, visit: visit === -1 ? null : visit };
    }),
    rejected: (await sim.events.rejected()).reverse(),
    lint: findings,
    ownKeys: [sim.apiKey],
  };
}

interface CheckStart {
  readonly command: string;
  readonly cwd: string;
  /** The environment of the command, once the sim runs. */
  env(sim: Sim): Promise<NodeJS.ProcessEnv>;
}

export interface CheckOptions {
  /** Addresses to open; without any, the first one that the started app prints. */
  readonly urls: readonly string[];
  readonly start?: CheckStart;
  /** Most pages to open. Default 5. */
  readonly pages?: number;
  /** CSS selectors to click on the first page, in order. */
  readonly clicks?: readonly string[];
  readonly scenario?: SimOptions["scenario"];
  /** Longest wait for the app to answer, ms. Default 60,000. */
  readonly timeoutMs?: number;
  readonly failOn?: FailOn;
  /** PostHog's libraries of the app. */
  readonly libraries?: AppObservations["libraries"];
  /** A browser to use, which stays open. Default: an installed one. */
  readonly browser?: Chromium;
  /** Variables that name a browser, and its environment. Default: of this process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** True if the app's server sends to `sim` already. Default: true for an app that the check starts. */
  readonly isRerouted?: boolean;
  /** A sim to use, which stays open; it must have seen no traffic. Default: one of its own. */
  readonly sim?: Sim;
  /** Ends the check, the app and the browser. */
  readonly signal?: AbortSignal;
  /** Receives what happens, in a few words. */
  readonly onProgress?: (text: string) => void;
}

/** A project with session recording and a flag, so that the SDK requests both. */
export const checkScenario: SimOptions["scenario"] = {
  version: 1,
  organizations: [
    {
      name: "Check",
      projects: [
        {
          id: 1,
          name: "App",
          api_key: "phc_9kQ2mVbT7xWc4LpRz8NdYf3HsJg6AeUvKiOoBtCq1Zw",
          flags: { "phx-sim-check": { rollout: 0 } },
          remote_config: { sessionRecording: true },
        },
      ],
    },
  ],
};

const defaultPages = 5;
const defaultTimeout = 60_000;

async function startedApp(options: CheckOptions, sim: Sim, timeoutMs: number): Promise<StartedApp | undefined> {
  const { start, urls, onProgress } = options;
  if (start === undefined) {
    for (const url of urls) await untilAnswering(url, Math.min(timeoutMs, runningMs));
    return undefined;
  }
  onProgress?.(`starting ${start.command}`);
  const { command, cwd } = start;
  return startApp({
    command,
    cwd,
    env: await start.env(sim),
    url: urls[0],
    except: sim.url,
    timeoutMs,
    signal: options.signal,
  });
}

/** Time for an app that is to be running already, ms. */
const runningMs = 3_000;

/** Opens the browser only if there is a page to open. */
const browserFor = (options: CheckOptions): Promise<Chromium> => {
  const env = options.env ?? process.env;
  const candidates: readonly ChromiumCandidate[] = installedChromiums(thisMachine(env));
  return launchChromium(candidates, env);
};

/**
 * Starts a sim, starts the app or finds it running, opens its pages in a browser, and reports what a reviewer of
 * instrumentation would. No request reaches the real service.
 * @throws AppError, NoBrowserError, StartError
 */
export async function runCheck(options: CheckOptions): Promise<CheckReport> {
  const { urls, start, pages = defaultPages, clicks = [], timeoutMs = defaultTimeout, onProgress } = options;
  if (start === undefined && urls.length === 0)
    throw new AppError("nothing to check: name an address, or a command with --start");
  const sim =
    options.sim ??
    (await startSim({ scenario: options.scenario ?? checkScenario, adoptTokens: true, onNotice: () => {} }));
  try {
    const app = await startedApp(options, sim, timeoutMs);
    const isRerouted = options.isRerouted ?? start !== undefined;
    let browser = options.browser;
    try {
      const addresses = urls.length > 0 ? urls : app?.url === undefined ? [] : [app.url];
      const isOpened = addresses.length > 0 && (app === undefined || app.exitCode === null);
      if (isOpened) browser ??= await browserFor(options);
      options.signal?.addEventListener("abort", () => void browser?.close());
      options.signal?.throwIfAborted();
      const seen =
        isOpened && browser
          ? await openPages(browser, sim, { urls: addresses, pages, clicks }, isRerouted, (url) =>
              onProgress?.(`opening ${url}`),
            )
          : nothingSeen;
      await sim.settle({ idleMs: 100, timeoutMs: 2_000 }).catch(() => {});
      const facts = {
        command: start?.command ?? null,
        exitCode: app?.exitCode ?? null,
        output: app?.output() ?? [],
        libraries: options.libraries ?? [],
      };
      return buildReport(
        await observed(sim, facts, seen),
        isOpened ? (browser?.version ?? null) : null,
        options.failOn,
      );
    } finally {
      if (browser !== options.browser) await browser?.close();
      await app?.[Symbol.asyncDispose]();
    }
  } finally {
    if (sim !== options.sim) await sim.close();
  }
}
