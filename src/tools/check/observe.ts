import type { Sim } from "../../index.ts";
import type { Json } from "../../kernel/base/json.ts";
import { maskTargetSecrets } from "../../kernel/base/secrets.ts";
import type { Chromium } from "./browser/chromium.ts";
import { CheckPage, type DocumentAnswer } from "./browser/page.ts";
import { flushExpression } from "./browser/probe.ts";
import type { AppObservations, Observations, Visit } from "./observations.ts";

export interface Route {
  readonly urls: readonly string[];
  /** Most pages to open, those that are named included. */
  readonly pages: number;
  /** CSS selectors that are clicked on the first page. */
  readonly clicks: readonly string[];
}

export interface Seen extends Pick<Observations, "visits" | "requests" | "missedClicks" | "unopened"> {
  /** The last event at the end of each visit. */
  readonly marks: readonly number[];
}

export const nothingSeen: Seen = { visits: [], requests: [], missedClicks: [], unopened: 0, marks: [] };

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
export async function openPages(
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
export async function observed(sim: Sim, app: AppObservations, seen: Seen): Promise<Observations> {
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
