import { spawn } from "node:child_process";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { startSim } from "../../src/index.ts";
import { chromiumEnv } from "../support/chromium.ts";
import { newFolder } from "../support/folder.ts";

const root = join(import.meta.dirname, "../..");
const out = newFolder();

let browser: Record<string, string>;
beforeAll(async () => {
  browser = await chromiumEnv();
});

const settings = "the app should use the host";
const queue = "in its queue";

interface Ran {
  code: number | null;
  text: string;
}

/** Runs the real Playwright in an app's folder. */
function run(app: string, args: readonly string[] = [], env: Record<string, string> = {}): Promise<Ran> {
  const { VITEST: _1, NODE_OPTIONS: _2, PHX_SIM_URL: _3, FORCE_COLOR: _4, ...rest } = process.env;
  const cli = join(root, "node_modules/@playwright/test/cli.js");
  return new Promise((resolve, reject) => {
    const child = spawn(
      process.execPath,
      [cli, "test", "--workers=2", `--output=${join(out, app)}`, ...args],
      {
        cwd: join(root, "test/usage/apps", app),
        env: { ...rest, ...browser, NO_COLOR: "1", CI: "1", ...env },
        stdio: ["ignore", "pipe", "pipe"],
      },
    );
    let text = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (text += chunk));
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, text }));
  });
}

describe("Playwright", () => {
  test("a suite for an app that has the cloud's host and key in it", async () => {
    const { code, text } = await run("playwright");
    expect(text).toMatch(/\d+ passed/);
    expect(text).not.toMatch(/failed|flaky/);
    expect(code).toBe(0);
  });

  test("on a sim that runs already, which is left as it was", async () => {
    await using sim = await startSim();
    const paths = new Set<string>();
    sim.onRequest(({ target }) => paths.add(target.replace(/\?.*/, "")));
    const { code, text } = await run("playwright", ["checkout"], { PHX_SIM_URL: sim.url });
    expect(text).toMatch(/\d+ passed/);
    expect(code).toBe(0);
    expect([...paths]).toEqual(expect.arrayContaining(["/flags/", "/e/"]));
    expect((await sim.info()).projects).toHaveLength(1);
  });

  test("mistakes of tests fail", async () => {
    const { code, text } = await run("strict/playwright");
    expect(code).toBe(1);
    for (const part of [
      'assertion not awaited: toHaveCaptured("nope")',
      'assertion not awaited: expectNone("nothing")',
      'toHaveCaptured("missing at the limit", {}, {timeoutMs: 60000}) — not captured within ',
      'toHaveCaptured("missing on a busy machine", {}, {timeoutMs: 60000}) — not captured within ',
      "POST https://eu.i.posthog.com/batch/",
      "/past/e/?ver=1",
      "POST https://eu.i.posthog.com/e/?route",
      "1 request for eu.i.posthog.com: answered by another route of the page or the context",
      "POST https://eu.i.posthog.com/e/?early",
      "1 request for eu.i.posthog.com: sent before a test began",
    ])
      expect(text).toContain(part);
    expect(text.match(/Test timeout of/g)).toHaveLength(1);
    expect(text).toContain("8 failed");
  });

  test("what pages send while they are left arrives, and nothing reaches the service", async () => {
    let connections = 0;
    const standIn = createServer((socket) => {
      connections++;
      socket.destroy();
    });
    await new Promise<void>((resolve) => standIn.listen(0, "127.0.0.1", resolve));
    const port = (standIn.address() as AddressInfo).port;
    const { code, text } = await run("leaving", [], { STAND_IN_PORT: String(port) });
    standIn.close();
    expect(text).toContain("19 passed");
    expect([code, connections]).toEqual([0, 0]);
  });

  test("a report names what the pages know, and what bypassed the sim before guesses", async () => {
    const { code, text } = await run("silent/playwright");
    const parts = text.split(/^(?= +\d+\) )/m);
    const known: [title: string, has: string[], hasNot: string[]][] = [
      [
        "an event bypasses the sim",
        ["causes:\n      - bypassed the sim: POST http://127.0.0.1:"],
        [settings, queue],
      ],
      [
        "an event is blocked",
        ["- blocked by `adBlocked`: POST https://us.i.posthog.com/"],
        [settings, queue],
      ],
      [
        "no page is opened",
        ["reached the sim: the app should use", "- no page is open in an attached context"],
        [queue],
      ],
      ["posthog-js waits for consent", ["- posthog-js was not initialised in http://127"], [queue]],
      [
        "the visitor has opted out",
        ["has opted out of capturing", "phc_TheKeyOfTheReal"],
        [queue, "automated"],
      ],
      [
        "posthog-js sends nothing",
        ["is initialised in http://127.0.0.1:", "phc_TheKeyOfTheReal", "the host https://us.i.posthog.com"],
        ["check the client's host"],
      ],
      ["the snippet's script does not come", ["with the key phc_stub and the host https://eu.i"], [queue]],
      [
        "the page's time is stopped",
        ["- page.clock has stopped the time of the page"],
        ["may still be in the SDK's queue"],
      ],
      ["the page's time goes on", ["may still be in the SDK's queue"], ["page.clock has"]],
    ];
    const wrong = known.flatMap(([title, has, hasNot]) => {
      const part = parts.find((it) => it.split("\n", 1)[0]?.includes(title)) ?? text;
      return [
        ...has.flatMap((it) => (part.includes(it) ? [] : [`${it} is missing in ${part}`])),
        ...hasNot.flatMap((it) => (part.includes(it) ? [`${it} is not expected in ${part}`] : [])),
      ];
    });
    expect(wrong).toEqual([]);
    expect(code).toBe(1);
  });

  test("a suite that fails shows why", async () => {
    const { code, text } = await run("failing/playwright", ["--reporter=line,json"]);
    expect(code).toBe(1);
    expect(text).toContain('toHaveCaptured("checkout_completed", {amount: 94}');
    expect(text).toMatch(/properties\.amount +- 94/);
    for (const name of ["phx-sim events", "phx-sim verdict", "phx-sim report"])
      expect(text).toContain(`"name": "${name}"`);
    expect(text).toMatch(
      /EscapeError: 1 request looks like PostHog's, but bypassed the sim:\s+POST http:\/\/127\.0\.0\.1:\d+\/ingest\/e\/\?ver=1 \(from http/,
    );
    expect(text).toMatch(/Reroute them with \{ hosts: \["127\.0\.0\.1:\d+\/ingest"\] \}/);
    expect(text).toContain("2 failed");
  });
});
