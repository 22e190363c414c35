import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startSim } from "../../../src/index.ts";
import { rerouteChildren } from "../../../src/lab/egress/reroute-children.ts";
import {
  type Chromium,
  installedChromiums,
  launchChromium,
  thisMachine,
} from "../../../src/tools/check/browser/chromium.ts";
import { checkScenario, runCheck } from "../../../src/tools/check/check.ts";
import type { CheckReport } from "../../../src/tools/check/shapes.ts";
import { packagedCandidate } from "../../support/chromium.ts";
import { bundledSdk, serveApp } from "./serve-app.ts";

/** What several checks share. */
export interface Bench {
  readonly browser: Chromium;
  readonly sdk: Awaited<ReturnType<typeof bundledSdk>>;
  /** The SDK as a module. */
  readonly sdkFile: string;
}

export async function openBench(): Promise<Bench> {
  const machine = thisMachine();
  const packaged = await packagedCandidate(machine);
  const candidates = [...installedChromiums(machine), ...(packaged ? [packaged] : [])];
  const [browser, sdk] = await Promise.all([launchChromium(candidates, process.env), bundledSdk()]);
  const sdkFile = join(mkdtempSync(join(tmpdir(), "phx-sim-planted-")), "posthog.mjs");
  writeFileSync(sdkFile, sdk.module);
  return { browser, sdk, sdkFile };
}

const libraries = [{ name: "posthog-node", version: "5" }];

/** Checks a file of test/tools/check/apps: a page in this process, a program as its own. */
export async function checkApp(app: string, { browser, sdk, sdkFile }: Bench): Promise<CheckReport> {
  await using sim = await startSim({ scenario: checkScenario, adoptTokens: true });
  if (app.endsWith(".mjs")) {
    const command = `"${process.execPath}" "${join(import.meta.dirname, "apps", app)}"`;
    const { env } = rerouteChildren({ url: sim.url, certFile: undefined, env: {} });
    const start = {
      command,
      cwd: import.meta.dirname,
      env: async () => ({ PATH: process.env.PATH, ...sim.env(), ...env, SDK_FILE: sdkFile }),
    };
    return await runCheck({ urls: [], start, sim, browser, libraries });
  }
  await using served = await serveApp(app, sim.url, sdk);
  const { clicks = [] } = served.options;
  return await runCheck({ urls: [served.url], sim, browser, clicks, isRerouted: true });
}
