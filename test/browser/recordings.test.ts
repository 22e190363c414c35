import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { PostHog } from "posthog-js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { chromiumOfFile } from "../support/chromium.ts";
import { type Loader, loaders, openPageServer, type PageServer } from "./page-server.ts";
import "../../src/testing/vitest-matchers.ts";
import { openSim } from "../support/sim.ts";

/** What is used of an element of the page. */
interface PageElement {
  id: string;
  className: string;
  textContent: string;
  value: string;
  append(node: PageElement): void;
  setAttribute(name: string, value: string): void;
  dispatchEvent(event: unknown): void;
}

declare const window: { posthog: PostHog };
declare const Event: new (type: string, options: { bubbles: boolean }) => unknown;
declare const document: {
  body: PageElement;
  createElement(tag: string): PageElement;
  getElementById(id: string): PageElement;
};

/** `npm run measure:recordings` plants 200 values with each way to load the SDK. */
const count = Number(process.env.PLANTED_VALUES ?? 3);
const ways: [string, Loader][] = Object.entries(loaders).slice(0, count > 3 ? 3 : 1);

const places = ["text", "input", "attribute", "title", "style", "added", "changed", "network", "console"] as const;
type Place = (typeof places)[number];

/** One value for each place, so that a find names the place. */
const plantedAt = (place: Place, i: number): string => `${place}.${i}.jane@acme.test`;
const numbers = Array.from({ length: count }, (_, i) => i);
const planted = places.flatMap((place) => numbers.map((i) => plantedAt(place, i)));

/** Takes what the pages send: another origin than theirs. */
async function openApi() {
  const server = createServer((_, response) => {
    response.writeHead(200, { "access-control-allow-origin": "*", "access-control-allow-headers": "*" }).end("{}");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server };
}

const browser = chromiumOfFile();
let pages: PageServer;
let api: Awaited<ReturnType<typeof openApi>>;

const { sim } = await openSim({
  scenario: {
    version: 1,
    organizations: [
      {
        name: "Org",
        projects: [
          {
            id: 3,
            name: "Shop",
            api_key: "phc_planted",
            remote_config: {
              sessionRecording: {
                consoleLogRecordingEnabled: true,
                networkPayloadCapture: { recordBody: true, recordHeaders: true },
              },
              capturePerformance: { network_timing: true, web_vitals: false },
            },
          },
          {
            id: 4,
            name: "Masked",
            api_key: "phc_masked",
            // the recorder captures no requests and no console
            remote_config: { sessionRecording: true, capturePerformance: false },
          },
        ],
      },
    ],
  },
});
beforeAll(async () => {
  pages = await openPageServer();
  api = await openApi();
});
afterAll(async () => {
  await pages[Symbol.asyncDispose]();
  api.server.closeAllConnections();
  api.server.close();
});

/** Opens a page with the values in every place, and returns the id of its session once all of it is recorded. */
async function recordPage(load: Loader, apiKey: string, settings: object): Promise<string> {
  const context = await browser().newContext();
  const page = await context.newPage();
  page.setDefaultTimeout(15_000);
  const config = {
    api_host: sim.url,
    opt_out_useragent_filter: true,
    capture_pageview: false,
    autocapture: false,
    session_recording: { maskAllInputs: false, recordBody: true, recordHeaders: true },
    capture_performance: { network_timing: true, web_vitals: false },
    ...settings,
  };
  pages.show(load({ url: sim.url, apiKey }, config));
  // the recorder leaves out the requests of pages at 127.0.0.1 and localhost
  await page.goto(pages.url.replace("127.0.0.1", "shop.localhost"));
  await page.evaluate(
    ({ text, attribute, title, style, inputs }) => {
      const add = (tag: string, set: (it: PageElement) => void) => {
        const node = document.createElement(tag);
        set(node);
        node.className = "private";
        document.body.append(node);
      };
      for (const it of text) add("p", (node) => (node.textContent = `Hello ${it}`));
      for (const it of attribute) add("a", (node) => node.setAttribute("data-user", it));
      for (const it of title) add("img", (node) => Object.assign(node, { title: it, alt: it }));
      add("style", (node) => {
        node.textContent = style.map((it: string, i: number) => `.s${i}::after { content: "${it}" }`).join("\n");
      });
      for (let i = 0; i < inputs; i++) add("input", (node) => (node.id = `input-${i}`));
      add("div", (node) => (node.id = "later"));
    },
    {
      text: numbers.map((i) => plantedAt("text", i)),
      attribute: numbers.map((i) => plantedAt("attribute", i)),
      title: numbers.map((i) => plantedAt("title", i)),
      style: numbers.map((i) => plantedAt("style", i)),
      inputs: count,
    },
  );
  await page.waitForFunction(() => window.posthog?.sessionRecordingStarted?.());
  await page.waitForFunction(() => window.posthog.sessionRecording?.status === "active");
  await page.evaluate(
    async ({ input, added, changed, network, logged, url }) => {
      for (const [i, it] of input.entries()) {
        const node = document.getElementById(`input-${i}`);
        node.value = it;
        node.dispatchEvent(new Event("input", { bubbles: true }));
      }
      const later = document.getElementById("later");
      for (const it of added) {
        const node = document.createElement("p");
        node.textContent = it;
        later.append(node);
      }
      later.setAttribute("data-user", changed.join(" "));
      for (const it of network)
        await fetch(`${url}/pay?m=${encodeURIComponent(it)}`, { method: "POST", body: JSON.stringify({ to: it }) });
      for (const it of logged) console.log("paid by", { who: it });
    },
    {
      input: numbers.map((i) => plantedAt("input", i)),
      added: numbers.map((i) => plantedAt("added", i)),
      changed: numbers.map((i) => plantedAt("changed", i)),
      network: numbers.map((i) => plantedAt("network", i)),
      logged: numbers.map((i) => plantedAt("console", i)),
      url: api.url,
    },
  );
  // the recorder sends nothing before the first click or move; those on blocked elements do not count
  await page.mouse.move(5, 5);
  await page.mouse.click(6, 6);
  await page.mouse.move(300, 300, { steps: 5 });
  const session = await page.evaluate(() => window.posthog.get_session_id());
  await expect(sim).toHaveRecorded({ session, timeoutMs: 30_000 });
  for (let turn = 0; turn < 8 && (await sim.recordings.grows(await sim.events.mark(), 2_500)); turn++);
  await context.close();
  return session;
}

/** The values that a recording holds, by place. */
async function foundIn(session: string): Promise<Record<string, number>> {
  const found: Record<string, number> = {};
  for (let at = 0; at < planted.length; at += 200) {
    const values = planted.slice(at, at + 200);
    const { finds, missing } = await sim.recordings.search(values, { session });
    expect(missing).toEqual([]);
    for (const value of new Set(finds.map((it) => it.value))) {
      const place = String(values[value - 1]?.split(".")[0]);
      found[place] = (found[place] ?? 0) + 1;
    }
  }
  return found;
}

describe.each(ways)("a page with posthog-js as %s", (_, load) => {
  test("every planted value is found where nothing is masked", async () => {
    const session = await recordPage(load, "phc_planted", {});
    expect(await foundIn(session)).toEqual(Object.fromEntries(places.map((it) => [it, count])));
  }, 180_000);

  test("none is found where everything is masked", async () => {
    const session = await recordPage(load, "phc_masked", {
      session_recording: { maskAllInputs: true, maskTextSelector: "*", blockSelector: ".private" },
      enable_recording_console_log: false,
      capture_performance: false,
    });
    expect(await foundIn(session)).toEqual({});
    await expect(sim).toHaveRecordedNoneOf(planted.slice(0, 200), { session, quietMs: 0 });
  }, 180_000);
});
