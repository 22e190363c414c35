import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { afterEach, describe, expect } from "vitest";
import type { RunVerdict } from "../../../src/testing/run-report/shapes.ts";
import { endAll, newFolder, phxSim } from "../../support/phx-sim.ts";
import { test } from "../../support/sim.ts";

afterEach(endAll);

const require = createRequire(import.meta.url);
const app = join(import.meta.dirname, "../../usage/apps/serverless");

async function run(command: readonly string[], options: readonly string[] = [], cwd = app) {
  const args = ["exec", "--json", "--kill-after-response", ...options, "--", ...command];
  const { code, stdout, stderr } = await phxSim(args, { cwd }).ended;
  const verdict = JSON.parse(stdout) as RunVerdict;
  const section = verdict.sections.find(({ name }) => name === "exit");
  if (!section) throw new Error(stderr);
  return { code, stderr, verdict, section };
}

const server = (...paths: string[]) => [process.execPath, "server.mjs", ...paths];

describe("a captured event that is not sent before the response", () => {
  test("is lost, and named with its uuid and its line", async () => {
    const { code, section, stderr, verdict } = await run(server("/health", "/checkout"));
    expect(code).toBe(1);
    expect(verdict.command?.exit_code).toBe(0);
    expect(verdict.failures).toEqual([expect.objectContaining({ code: "exit" })]);
    expect(section).toMatchObject({ failed: true, total: 1 });
    const line =
      readFileSync(join(app, "server.mjs"), "utf8")
        .split("\n")
        .findIndex((it) => it.includes("capture(")) + 1;
    expect(section.items).toEqual([
      expect.objectContaining({
        code: "lost_at_exit",
        what: `checkout_completed server.mjs:${line}:13`,
        sentence: expect.stringMatching(/: [0-9a-f]{8}-[0-9a-f-]{27}$/),
        fix: expect.stringContaining("await posthog.flush()"),
        count: 1,
      }),
    ]);
    expect(stderr).toContain("1 event lost: the app ended after its response to GET /checkout (HTTP 200)");
  });

  test("is lost as well with require(), and every method that queues", async ({ folder: cwd }) => {
    const code = `
      const { PostHog } = require(${JSON.stringify(require.resolve("posthog-node"))});
      const posthog = new PostHog("phc_sim_default", { host: process.env.POSTHOG_HOST });
      const server = require("node:http").createServer((_, response) => {
        posthog.identify({ distinctId: "u", properties: {} });
        posthog.alias({ distinctId: "u", alias: "v" });
        posthog.groupIdentify({ groupType: "team", groupKey: "t" });
        posthog.captureImmediate({ distinctId: "u", event: "immediate" });
        response.end();
      });
      server.listen(0, "127.0.0.1", () => fetch("http://127.0.0.1:" + server.address().port).catch(() => {}));`;
    writeFileSync(join(cwd, "app.cjs"), code);
    const { section } = await run([process.execPath, join(cwd, "app.cjs")]);
    const found = section.items.map(({ what }) => what.split(" ")[0]);
    expect(found).toEqual(expect.arrayContaining(["$identify", "$create_alias", "$groupidentify"]));
  });
});

test.each(["/checkout-flushed", "/checkout-immediate", "/checkout-wait-until"])("%s loses nothing", async (path) => {
  const { code, section, verdict } = await run(server(path));
  expect(section).toMatchObject({ failed: false, total: 0 });
  expect(section.summary).toContain(`nothing lost, 1 event arrived: the app ended after its response to GET ${path}`);
  expect(verdict.events.kept).toBe(1);
  expect(code).toBe(0);
});

test("only the response of --response-path ends the app", async () => {
  const { section } = await run(server("/checkout", "/checkout-flushed"), ["--response-path", "*-flushed"]);
  expect(section).toMatchObject({ failed: false, summary: expect.stringContaining("GET /checkout-flushed") });
});

const untested: [name: string, command: readonly string[], code: string, exit: number][] = [
  ["no Node process", ["true"], "no_node_process", 1],
  ["no response", [process.execPath, "-e", "1"], "no_response", 1],
  ["nothing captured", server("/nowhere"), "nothing_captured", 1],
  ["the command's own failure", [process.execPath, "-e", "process.exit(7)"], "no_response", 7],
];
test.each(untested)("%s is no success", async (_, command, found, exit) => {
  const { code, section } = await run(command);
  expect(section).toMatchObject({ failed: true, items: [{ code: found }] });
  expect(code).toBe(exit);
});

test("an app without posthog-node is no success", async ({ folder: cwd }) => {
  const code = `
    const server = require("node:http").createServer((_, response) => response.end());
    server.listen(0, "127.0.0.1", () => fetch("http://127.0.0.1:" + server.address().port).catch(() => {}));`;
  const { section } = await run([process.execPath, "-e", code], [], cwd);
  expect(section.items).toEqual([expect.objectContaining({ code: "sdk_not_found" })]);
});

/** An app in a folder of its own that requests itself once, with the SDK of this repository. */
function appOf(body: string, { head = "", options = "" } = {}): string {
  const file = join(newFolder(), "app.cjs");
  const code = `
    const { PostHog } = require(${JSON.stringify(require.resolve("posthog-node"))});
    const posthog = new PostHog("phc_sim_default", { host: process.env.POSTHOG_HOST, ${options} });
    ${head}
    const server = require("node:http").createServer(async (_, response) => {
      ${body}
      response.end();
    });
    server.listen(0, "127.0.0.1", () => fetch("http://127.0.0.1:" + server.address().port).catch(() => {}));`;
  writeFileSync(file, code);
  return file;
}

const found = ({ items }: { items: readonly { what: string; code: string }[] }) =>
  items.map(({ what, code }) => [what.replace(/ \S+:\d+:\d+$/, ""), code]).toSorted();

describe("everything that the SDK sends", () => {
  const all = `
    posthog.capture({ distinctId: "u", event: "seen" });
    posthog.captureException(new Error("boom"), "u");
    posthog.captureLog({ body: "slow query", level: "warn" });
    posthog.metrics.count("orders");
    posthog.startSpan("charge").end();`;
  const options = "traces: { serviceName: 'shop' }";

  test("is named when it is lost, with its line", async () => {
    const { section, code } = await run([process.execPath, appOf(all, { options })]);
    expect(found(section)).toEqual([
      ["$exception", expect.stringMatching(/^(not_queued|lost_at_exit)$/)],
      ["log slow query", "lost_at_exit"],
      ["metric orders", "lost_at_exit"],
      ["seen", "lost_at_exit"],
      ["span charge", "lost_at_exit"],
    ]);
    expect(section.items.map(({ what }) => what)).toEqual(
      Array.from({ length: 5 }, () => expect.stringMatching(/app\.cjs:\d+:\d+$/)),
    );
    expect(section.summary).toContain("2 events, 1 log, 1 metric, 1 span lost");
    expect(code).toBe(1);
  });

  test("is not lost when it is flushed", async () => {
    const flush = "await posthog.flush(); await posthog.metrics.flush();";
    const { section, stderr } = await run([process.execPath, appOf(all + flush, { options })]);
    expect(found(section), stderr).toEqual([]);
    expect(section).toMatchObject({ failed: false, total: 0 });
  });

  /** No request of the SDK gets an answer. */
  const hanging = { options: "fetch: () => new Promise(() => {})" };

  test("an event that waits for flags is lost, too", async () => {
    const event = 'posthog.capture({ distinctId: "u", event: "seen", sendFeatureFlags: true });';
    const { section } = await run([process.execPath, appOf(event, hanging)]);
    expect(found(section)).toEqual([["seen", "not_queued"]]);
  });

  test.each([
    ["captureExceptionImmediate(new Error('x'), 'u')", "$exception"],
    ["identifyImmediate({ distinctId: 'u' })", "$identify"],
    ["captureAiImmediate({ distinctId: 'u', event: '$ai_generation' })", "$ai_generation"],
  ])("%s without await", async (call, event) => {
    const { section } = await run([process.execPath, appOf(`posthog.${call};`, hanging)]);
    expect(found(section)).toEqual([[event, "not_awaited"]]);
  });
});

describe("what is not watched is named", () => {
  test("a server of HTTP/2", async () => {
    const file = appOf("");
    const code = `
      const http2 = require("node:http2");
      const server = http2.createServer((_, response) => response.end());
      server.listen(0, "127.0.0.1", () => {
        const client = http2.connect("http://127.0.0.1:" + server.address().port);
        client.request().resume().on("end", () => process.exit(0)).end();
      });`;
    writeFileSync(file, code);
    const { section } = await run([process.execPath, file]);
    expect(section.items).toEqual([
      expect.objectContaining({ code: "no_response", sentence: expect.stringContaining("servers of HTTP/2") }),
    ]);
  });

  test("a worker thread", async () => {
    const head = 'const { Worker } = require("node:worker_threads");';
    const body = `
      await new Promise((end) => new Worker("", { eval: true }).on("exit", end));
      posthog.capture({ distinctId: "u", event: "seen" });
      await posthog.flush();`;
    const { section } = await run([process.execPath, appOf(body, { head })]);
    expect(section).toMatchObject({ failed: false, summary: expect.stringMatching(/not watched: worker threads/) });
  });

  test("a copy of the SDK in a bundle", async () => {
    const bundled = JSON.stringify(require.resolve("posthog-node"));
    // a class of another file, as in a bundle
    const head = `
      const files = Object.keys(require.cache).filter((it) => it.includes("posthog"));
      for (const it of files) delete require.cache[it];
      const copy = new (require(${bundled}).PostHog)("phc_sim_default", { host: process.env.POSTHOG_HOST });
      for (const it of files) delete require.cache[it];`;
    const body = `copy.capture({ distinctId: "u", event: "seen" }); await copy.flush();`;
    const { section, code } = await run([process.execPath, appOf(body, { head })]);
    expect(section.items).toEqual([
      expect.objectContaining({ code: "sdk_not_watched", sentence: expect.stringContaining("1 event arrived") }),
    ]);
    expect(code).toBe(1);
  });
});

test.each([[["--response-path", "/a"], /--response-path needs --kill-after-response/]])(
  "%j is refused",
  async (options, message) => {
    const { code, stderr } = await phxSim(["exec", ...options, "--", "true"], { cwd: newFolder() }).ended;
    expect(code).toBe(2);
    expect(stderr).toMatch(message);
  },
);
