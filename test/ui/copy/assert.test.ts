import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, test } from "vitest";
import type { Project } from "../../../src/index.ts";
import type { Json } from "../../../src/kernel/base/json.ts";
import type { StoredEvent } from "../../../src/state/journal/stored-event.ts";
import { expect as playwrightExpect } from "../../../src/testing/playwright.ts";
import { expect as vitestExpect } from "../../../src/testing/vitest.ts";
import { jestTest, playwrightTest, pytestTest, vitestTest } from "../../../ui/copy/assert.ts";
import { copyRows } from "../../../ui/copy/rows.ts";
import { newFolder } from "../../support/folder.ts";
import { programs, testWith } from "../../support/programs.ts";
import { hostileItems } from "./hostile.ts";
import { contextOf, sent, simOfFile } from "./sim.ts";

const run = promisify(execFile);
const simNow = simOfFile();

let folder = "";
beforeAll(() => {
  folder = newFolder();
});

type Body = (fixtures: unknown) => Promise<void>;
const noPage = { goto: async () => {} };

/** Compiles a test's file and runs what it hands to `test`. */
async function runTest(text: string, ph: Project, expecting: unknown): Promise<string> {
  const code = text.replace(/^import .*;$/gm, "");
  let title = "";
  let body: Body | undefined;
  const collect = (name: string, given: Body) => {
    title = name;
    body = given;
  };
  new Function("test", "expect", "project", code)(collect, expecting, async () => ph);
  await body?.({ ph, page: noPage });
  return title;
}

/** `expect(ph).not…` waits until it is quiet and looks once: what must fail, fails at once. */
const denied = (text: string): string => text.replace("expect(ph).to", "expect(ph).not.to");

const runners = [
  ["vitest", vitestTest, vitestExpect],
  // Its matchers and asymmetric ones are the same; the runner itself is tested in test/usage.
  ["jest", jestTest, vitestExpect],
  ["Playwright", playwrightTest, playwrightExpect],
] as const;

describe.each(hostileItems)("%s", (_, item) => {
  test.each(runners)("%s's assertion holds for it", async (_, textOf, expecting) => {
    const sim = simNow();
    await using ph = await sim.project();
    const event = await sent(sim, ph, item);
    expect(await runTest(textOf(event), ph, expecting)).toMatch(/^captures /);
  });
});

test.each(runners)("%s's assertion fails where something else came", async (_, textOf, expecting) => {
  const sim = simNow();
  await using ph = await sim.project();
  const event = await sent(sim, ph, { event: "bought", distinct_id: "u1", properties: { plan: "pro" } });
  await expect(runTest(denied(textOf(event)), ph, expecting)).rejects.toThrow(/bought/);
  const other = { ...event, properties: { plan: "free" } };
  await runTest(denied(textOf(other)), ph, expecting);
});

const wrong: [string, Json][] = [
  ["no name", { distinct_id: "u1", properties: { a: 1 } }],
  ["no distinct_id", { event: "it's `lost`" }],
];

describe.each(wrong)("dropped: %s", (_, item) => {
  test.each(runners)("%s's assertion holds for it", async (_, textOf, expecting) => {
    const sim = simNow();
    await using ph = await sim.project();
    const event = await sent(sim, ph, item);
    expect(await runTest(textOf(event), ph, expecting)).toMatch(/^does not lose /);
    await using empty = await sim.project();
    await expect(runTest(textOf(event), empty, expecting)).rejects.toThrow();
  });
});

testWith(programs.python, "the tests in Python hold, and fail for what did not come", async (python) => {
  const sim = simNow();
  await using ph = await sim.project();
  const events: StoredEvent[] = [];
  for (const [, item] of [...hostileItems, ...wrong]) events.push(await sent(sim, ph, item));
  const missing = (events[0] as StoredEvent).properties;
  events.push({ ...(events[0] as StoredEvent), properties: { ...missing, plan: "none" } });
  for (const [i, event] of events.entries())
    writeFileSync(join(folder, `t${i}.py`), pytestTest(event, contextOf(sim, ph)).replace("4000", "50"));
  const driver = `
import importlib
for i in range(${events.length}):
    module = importlib.import_module(f"t{i}")
    try:
        [getattr(module, name)() for name in dir(module) if name.startswith("test_")]
        print("passed")
    except Exception as error:
        print("failed", error)
`;
  const { stdout } = await run(python, ["-c", driver], { cwd: folder });
  const results = stdout.trim().split("\n");
  expect(results.slice(0, -1)).toEqual(events.slice(0, -1).map(() => "passed"));
  expect(results.at(-1)).toBe("failed HTTP Error 409: Conflict");
});

describe("what is left out", () => {
  test("what differs from run to run, and what is the SDK's", async () => {
    const sim = simNow();
    await using ph = await sim.project();
    const event = await sent(sim, ph, {
      event: "$pageview",
      distinct_id: "018f3c5e-7d3a-7b2c-9d1e-1234567890ab",
      properties: {
        $current_url: "http://localhost/",
        $browser: "Chrome",
        $session_id: "s",
        $window_id: "w",
        $insert_id: "i",
        $lib: "web",
        $lib_version: "1.2.3",
        $set: { plan: "pro", $browser: "Chrome" },
        title: "Home",
        order: "018f3c5e-7d3a-7b2c-9d1e-1234567890ac",
        long: "x".repeat(1000),
        huge: Array.from({ length: 3000 }, (_, i) => i),
      },
    });
    expect(vitestTest(event)).toBe(`import { expect, test } from "phx-sim/vitest";

test("captures $pageview", async ({ ph }) => {
  // Make your app send the event here.
  await expect(ph).toHaveCaptured("$pageview", {
    $current_url: "http://localhost/",
    $set: { plan: "pro" },
    title: "Home",
    order: expect.any(String),
    long: expect.any(String),
  });
});`);
  });
});

test("every row has a text, and they are distinguished", () => {
  const event: StoredEvent = {
    seq: 7,
    outcome: "kept",
    reason: null,
    detail: null,
    warnings: [],
    project: 1,
    uuid: null,
    event: "x",
    distinct_id: "u",
    timestamp: "2026-01-01T00:00:00.000Z",
    received_at: "2026-01-01T00:00:00.000Z",
    person_id: null,
    person_mode: "none",
    properties: {},
    request: 1,
  };
  const context = { url: "http://127.0.0.1:1", apiKey: "phc_x", item: undefined };
  expect(new Set(copyRows.map((it) => it.id)).size).toBe(copyRows.length);
  for (const { text } of copyRows) expect(text(event, context)).not.toMatch(/undefined|\[object/);
  expect(copyRows.find((it) => it.id === "link")?.text(event, context)).toBe("http://127.0.0.1:1/__sim/#/events/7");
});
