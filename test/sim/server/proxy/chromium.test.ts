import { join } from "node:path";
import { type Browser, chromium } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type CertificateAuthority, certificateAuthority, type Sim, startSim } from "../../../../src/index.ts";
import { chromiumEnv } from "../../../support/chromium.ts";
import { newFolder } from "../../../support/folder.ts";

const folder = newFolder();
const notices: string[] = [];
let authority: CertificateAuthority;
let sim: Sim;
let browser: Browser | undefined;

const launch = async (...args: string[]) => {
  const { CHROMIUM_PATH, ...env } = await chromiumEnv();
  browser = await chromium.launch({
    ...(CHROMIUM_PATH && { executablePath: CHROMIUM_PATH }),
    env: { ...process.env, ...env } as Record<string, string>,
    args: ["--disable-quic", "--disable-background-networking", `--proxy-server=${sim.url}`, ...args],
  });
  return browser.newPage();
};

beforeAll(async () => {
  authority = await certificateAuthority(join(folder, "ca"));
  sim = await startSim({ proxy: { caFolder: join(folder, "ca") }, onNotice: (text) => notices.push(text) });
});

afterAll(async () => {
  await browser?.close();
  await sim.close();
});

test("Chromium through the proxy: a page of the real host captures, over HTTP/2", async () => {
  const page = await launch(`--ignore-certificate-errors-spki-list=${authority.spki}`);
  await page.goto("https://us.i.posthog.com/no/such/page");
  const seen = await page.evaluate(async (api_key) => {
    const body = JSON.stringify({ api_key, event: "chromium", distinct_id: "u" });
    const headers = { "content-type": "application/json" };
    const { status } = await fetch("https://us.i.posthog.com/capture/", { method: "POST", headers, body });
    const entry = performance.getEntries().find(({ name }) => name.endsWith("/no/such/page"));
    const control = await fetch("https://us.i.posthog.com/__sim/info");
    return { status, protocol: entry?.toJSON().nextHopProtocol, control: control.status };
  }, sim.apiKey);
  expect(seen).toEqual({ status: 200, protocol: "h2", control: 403 });
  expect(await sim.events.list({ event: "chromium" })).toHaveLength(1);
  await browser?.close();
});

test("without the flag it says no, and the sim says why", async () => {
  const page = await launch();
  await expect(page.goto("https://eu.i.posthog.com/")).rejects.toThrow(/ERR_CERT_AUTHORITY_INVALID/);
  await expect.poll(() => notices.filter((it) => it.includes("eu.i.posthog.com"))).toHaveLength(1);
  expect(notices.join()).toContain(`--ignore-certificate-errors-spki-list=${authority.spki}`);
});
