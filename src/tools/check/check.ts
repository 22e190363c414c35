import { type Sim, type SimOptions, startSim } from "../../index.ts";
import { AppError, type StartedApp, startApp, untilAnswering } from "./app/start-app.ts";
import { type Chromium, launchChromium } from "./browser/chromium.ts";
import { type ChromiumCandidate, installedChromiums, thisMachine } from "./browser/find-chromium.ts";
import { buildReport, type FailOn } from "./build-report.ts";
import type { AppObservations } from "./observations.ts";
import { nothingSeen, observed, openPages } from "./observe.ts";
import type { CheckReport } from "./shapes.ts";

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
