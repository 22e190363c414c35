import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { BrowserContext, Page, Request } from "playwright-core";
import { afterAll, expect } from "vitest";
import { type Sim, type SimOptions, startSim } from "../../../src/index.ts";
import { chromiumOfFile } from "../../support/chromium.ts";

/** What a page is opened with. */
interface Opening {
  /** How the sim is started. */
  sim?: SimOptions;
  theme?: "dark" | "light";
  width?: number;
  height?: number;
  /** Console messages that are expected, e.g. of refused requests. */
  allow?: RegExp;
}

/** A sim, and the inspector in a real browser. */
export interface Inspector extends AsyncDisposable {
  readonly sim: Sim;
  readonly page: Page;
  readonly context: BrowserContext;
  /** Goes to a place in the page, e.g. `#/events`. */
  go(hash: string): Promise<void>;
  /** The same page in another size and other colours. */
  dress(width: number, theme: "dark" | "light"): Promise<void>;
  /** With SHOTS=1, saves what is seen: `.bench/shots/NAME.png`. */
  look(name: string): Promise<void>;
  /** Fails when axe-core finds something serious; `colours`: only by what the theme and the width decide. */
  axe(what?: "all" | "colours"): Promise<void>;
}

/** Keeps the page's latest socket as `window.lastSocket`, so that a test can break it. */
export const socketsInReach =
  "const Real = WebSocket; window.WebSocket = class extends Real { constructor(...it) { super(...it); window.lastSocket = this; } };";

const shots = join(import.meta.dirname, "../../../.bench/shots");
const axeSource = readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

interface Found {
  id: string;
  impact: string | null;
  nodes: { html: string; failureSummary?: string }[];
}

/** What is found by the colours and the room that there is; all else is the same in each theme. */
const rules = {
  all: {},
  colours: { runOnly: ["color-contrast", "link-in-text-block", "scrollable-region-focusable"] },
} as const;

declare const axe: { run(options: object): Promise<{ violations: Found[] }> };

/** Waits until what the page asked for is there, and drawn: its load was over long before. */
export function settling(page: Page): () => Promise<void> {
  const asked = new Set<Request>();
  page.on("request", (it) => asked.add(it));
  page.on("requestfinished", (it) => asked.delete(it));
  page.on("requestfailed", (it) => asked.delete(it));
  const drawn = () => page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))");
  return async () => {
    do {
      await drawn();
      await expect.poll(() => asked.size, { interval: 5 }).toBe(0);
      await drawn();
    } while (asked.size > 0);
  };
}

interface Tab {
  readonly context: BrowserContext;
  readonly page: Page;
}

/** As a new one is, but for the program of the page, which Chromium need not compile again. */
async function clean({ context, page }: Tab): Promise<true> {
  for (const it of context.pages()) if (it !== page) await it.close();
  page.removeAllListeners();
  await context.clearCookies();
  await context.clearPermissions();
  await page.evaluate("localStorage.clear(); sessionStorage.clear()");
  await page.emulateMedia({ reducedMotion: null });
  return true;
}

/**
 * Each test has a sim of its own and a tab of its own; with `sharesTab`, the tab of the file, without what the test before
 * left in it. Scripts, routes and clocks of a tab cannot be removed: a file that sets them does not share it.
 */
export function inspectorStage({ sharesTab = false } = {}) {
  const browser = chromiumOfFile();
  /** One at most, with the sim that it shows: without it, it would complain. */
  const free: { tab: Tab; sim: Sim }[] = [];
  afterAll(async () => {
    for (const it of free.splice(0)) await it.sim.close();
  });

  async function newTab(): Promise<Tab> {
    const context = await browser().newContext();
    const page = await context.newPage();
    page.setDefaultTimeout(60_000);
    return { context, page };
  }

  async function open(hash: string, opening: Opening = {}): Promise<Inspector> {
    const { theme = "dark", width = 1280, height = 800, allow } = opening;
    const sim = await startSim(opening.sim);
    const before = free.pop();
    const tab = before?.tab ?? (await newTab());
    const { context, page } = tab;
    await page.setViewportSize({ width, height });
    await page.emulateMedia({ colorScheme: theme });
    const complaints: string[] = [];
    const complain = (text: string) => {
      if (!allow?.test(text)) complaints.push(text);
    };
    page.on("pageerror", (error) => complain(String(error.stack ?? error)));
    page.on("console", (message) => {
      if (message.type() === "error") complain(message.text());
    });
    await page.goto(`${sim.inspectorUrl}${hash}`);
    await page.locator("[data-connection=live]").waitFor();
    await before?.sim.close();
    return {
      sim,
      page,
      context,
      async go(to) {
        await page.evaluate((it) => {
          location.hash = it;
        }, to);
      },
      async dress(to, colorScheme) {
        await page.setViewportSize({ width: to, height: to === 400 ? 800 : 1200 });
        await page.emulateMedia({ colorScheme });
        // colours that are on their way are looked at when they are there
        // the dot of "Live" has no end
        await page.evaluate(
          "for (const it of document.getAnimations()) it.effect.getComputedTiming().endTime === Infinity ? it.cancel() : it.finish()",
        );
      },
      async look(name) {
        if (process.env.SHOTS) await page.screenshot({ path: join(shots, `${name}.png`) });
      },
      async axe(what = "all") {
        // the page keeps it until it is loaded anew
        if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(await axeSource);
        const options = { resultTypes: ["violations"], ...rules[what] };
        const { violations } = await page.evaluate((it) => axe.run(it), options);
        const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
        expect(serious.map(({ id, nodes }) => [id, nodes.slice(0, 3).map((it) => it.html)])).toEqual([]);
      },
      async [Symbol.asyncDispose]() {
        const isFree = sharesTab && free.length === 0 && (await clean(tab).catch(() => false));
        if (isFree) free.push({ tab, sim });
        else {
          await context.close();
          await sim.close();
        }
        if (complaints.length > 0) throw new Error(`the page complained: ${complaints.join("\n")}`);
      },
    };
  }
  return { open, browser };
}

declare const location: { hash: string };
