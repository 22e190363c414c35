import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { exportHar } from "../../../../src/lab/tapes/har/export.ts";
import { launchChromium } from "../../../support/chromium.ts";
import { newFolder } from "../../../support/folder.ts";
import { rawWith, tapeOf } from "./tapes.ts";

let browser: Browser;
beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(async () => {
  await browser?.close();
});

const origin = "https://us.posthog.com";
const html = "<!doctype html><title>From a tape</title><body>hello</body>";
const body = '{"distinct_id":"u1"}';
const type = (it: string): string[] => ["Content-Type", it];

test("a page in Chromium gets its answers from an exported tape", async () => {
  const tape = await tapeOf([
    rawWith({ url: `${origin}/page` }, { body: Buffer.from(html), headers: type("text/html") }),
    rawWith(
      { url: `${origin}/api/projects/1/dashboards/?limit=2` },
      {
        body: gzipSync('{"count":7}'),
        headers: [...type("application/json"), "Content-Encoding", "gzip", "Content-Length", "31", "Set-Cookie", "a=1"],
      },
    ),
    rawWith(
      { method: "POST", url: `${origin}/flags/?v=2`, headers: type("application/json"), body: Buffer.from(body) },
      { status: 202, reason: "Accepted", body: Buffer.from('{"flags":{}}') },
    ),
    rawWith({ url: `${origin}/static/x.bin` }, { body: Buffer.from([0, 255, 1]), headers: type("image/png") }),
  ]);
  const har = join(newFolder(), "tape.har");
  let text = "";
  for await (const chunk of exportHar(tape)) text += chunk;
  writeFileSync(har, text);

  const context = await browser.newContext();
  await context.routeFromHAR(har, { notFound: "abort" });
  const page = await context.newPage();
  await page.goto(`${origin}/page`);
  expect(await page.title()).toBe("From a tape");
  const got = await page.evaluate(async (sent) => {
    const dashboards = await fetch("/api/projects/1/dashboards/?limit=2");
    const flags = await fetch("/flags/?v=2", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: sent,
    });
    const bytes = await (await fetch("/static/x.bin")).arrayBuffer();
    const missing = await fetch("/elsewhere").catch(() => "aborted");
    return {
      dashboards: await dashboards.json(),
      flags: [flags.status, await flags.json()],
      bytes: [...new Uint8Array(bytes)],
      missing,
    };
  }, body);
  expect(got).toEqual({
    dashboards: { count: 7 },
    flags: [202, { flags: {} }],
    bytes: [0, 255, 1],
    missing: "aborted",
  });
  await context.close();
});
