import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { newFolder, post, type Ready, runHere, startReady } from "../../support/phx-sim.ts";

const cwd = newFolder();

let ready: Ready;
const run = (...args: string[]) => runHere(["plan", ...args], { cwd, env: { PHX_SIM_URL: ready.url } });
const read = (name: string) => readFileSync(join(cwd, name), "utf8");
const write = (name: string, text: string | object) =>
  writeFileSync(join(cwd, name), typeof text === "string" ? text : JSON.stringify(text));

beforeAll(async () => {
  ({ ready } = await startReady(["--memory"], { cwd }));
  const batch = [
    { event: "signed_up", distinct_id: "u1", properties: { plan: "pro", seats: 3, $lib: "web" } },
    { event: "signed_up", distinct_id: "u2", properties: { plan: "free" } },
    { event: "opened", distinct_id: "u1", properties: {} },
    { event: "$pageview", distinct_id: "u1", properties: { $current_url: "https://example.com" } },
  ];
  const answer = await post(`${ready.url}/batch/`, { api_key: ready.project_api_key, batch });
  expect(answer.status).toBe(200);
});

const shop = {
  version: 1,
  events: {
    signed_up: { properties: { plan: ["free", "pro"], seats: "string" }, required: ["plan", "seats"] },
    paid: {},
  },
};

const inferredEvents = {
  opened: { additionalProperties: false },
  signed_up: {
    properties: { plan: { type: "string" }, seats: { type: "integer" } },
    required: ["plan"],
    additionalProperties: false,
  },
};

describe("infer", () => {
  test("prints a plan that the events fit", async () => {
    const { code, stdout, stderr } = await run("infer", "--title", "Shop");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(JSON.parse(stdout)).toEqual({
      $schema: "./node_modules/phx-sim/docs/reference/plan.schema.json",
      version: 1,
      title: "Shop",
      events: inferredEvents,
    });
    write("inferred.json", stdout);
    const checked = await run("check", "inferred.json");
    expect(checked).toEqual({ code: 0, stdout: "4 events as planned; 2 of 2 planned events seen\n", stderr: "" });
  });

  test("infer --event prints a plan of one event", async () => {
    expect(Object.keys(JSON.parse((await run("infer", "--event", "opened")).stdout).events)).toEqual(["opened"]);
  });

  test("writes a file, never over one that exists, unless forced", async () => {
    expect(await run("infer", "--out", "new.json")).toEqual({ code: 0, stdout: "", stderr: "new.json is written\n" });
    write("new.json", "mine");
    expect(await run("infer", "--out", "new.json")).toEqual({
      code: 1,
      stdout: "",
      stderr: "phx-sim: new.json already exists; --force replaces it\n",
    });
    expect(read("new.json")).toBe("mine");
    expect((await run("infer", "--out", "new.json", "--force")).code).toBe(0);
    expect(JSON.parse(read("new.json")).events).toEqual(inferredEvents);
  });

  test("adds to a plan what it has not", async () => {
    write("old.json", { ...shop, events: { opened: { properties: { from: "string" } } } });
    const { stdout } = await run("infer", "--merge", "old.json");
    expect(JSON.parse(stdout)).toEqual({
      version: 1,
      events: { opened: { properties: { from: "string" } }, signed_up: inferredEvents.signed_up },
    });
  });

  test("infer without events prints no plan", async () => {
    expect(await run("infer", "--project", "99")).toMatchObject({
      code: 1,
      stdout: "",
      stderr: "phx-sim: there are no events to infer a plan from\n",
    });
  });
});

describe("check", () => {
  const text = [
    "3 violations of the tracking plan in 3 of 4 events; 1 of 2 planned events seen",
    "signed_up",
    "  properties.seats: expected a string, got 3 (number instead of a string)  #1 of u1",
    "  properties.seats is missing: expected a string  #2 of u2",
    "opened",
    "  is not in the plan  #3 of u1",
    "never seen: paid",
    "",
  ].join("\n");

  test("finds the plan in the folders above, reports each violation, ends with 1", async () => {
    write("events.plan.json", shop);
    const below = join(cwd, "a/b");
    mkdirSync(below, { recursive: true });
    const ended = runHere(["plan", "check"], { cwd: below, env: { PHX_SIM_URL: ready.url } });
    const plan = join(cwd, "events.plan.json");
    expect(await ended).toEqual({ code: 1, stdout: text, stderr: `phx-sim: 3 violations (${plan})\n` });
  });

  test("only after a cursor, only of a project", async () => {
    write("shop.json", shop);
    expect((await run("check", "shop.json", "--since", "3")).code).toBe(0);
    expect((await run("check", "shop.json", "--project", "99")).stdout).toBe(
      "0 events as planned; 0 of 2 planned events seen\nnever seen: signed_up, paid\n",
    );
  });

  test("--complete wants every planned event", async () => {
    write("some.json", { version: 1, unplanned: "ignore", events: { paid: {} } });
    expect((await run("check", "some.json")).code).toBe(0);
    expect(await run("check", "some.json", "--complete")).toMatchObject({
      code: 1,
      stderr: "phx-sim: 1 planned event never seen (some.json)\n",
    });
  });

  test("for programs, as JSON and as JUnit XML", async () => {
    write("shop.json", shop);
    const { code, stdout } = await run("check", "shop.json", "--json", "--junit", "plan.xml");
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      ok: false,
      plan: join(cwd, "shop.json"),
      checked: 4,
      total: 3,
      violations: [
        { seq: 1, event: "signed_up", distinct_id: "u1", kind: "wrong_type", pointer: "/properties/seats" },
        { seq: 2, kind: "missing_property" },
        { seq: 3, kind: "unplanned_event", pointer: "/event" },
      ],
      seen: ["signed_up"],
      unseen: ["paid"],
    });
    expect(read("plan.xml")).toBe(`<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="tracking plan" tests="3" failures="2" skipped="1" errors="0">
  <testsuite name="tracking plan" tests="3" failures="2" skipped="1" errors="0">
    <testcase classname="tracking plan" name="signed_up"><failure type="wrong_type" message="properties.seats: expected a string, got 3 (number instead of a string)">properties.seats: expected a string, got 3 (number instead of a string)  #1&#10;properties.seats is missing: expected a string  #2</failure></testcase>
    <testcase classname="tracking plan" name="paid"><skipped message="never seen"/></testcase>
    <testcase classname="tracking plan" name="opened"><failure type="unplanned_event" message="is not in the plan">is not in the plan  #3</failure></testcase>
  </testsuite>
</testsuites>
`);
  });

  test("events of a file, without a sim; hostile names do no harm", async () => {
    write("shop.json", shop);
    const lines = [
      { seq: 7, event: "signed_up", distinct_id: "u", properties: { plan: "pro", seats: "1" } },
      { seq: 8, event: "lost", distinct_id: "u", outcome: "dropped", properties: {} },
      { seq: 9, event: '\u001b[2J<&"\u0000', distinct_id: "u", properties: {} },
    ];
    write("events.ndjson", `${lines.map((it) => JSON.stringify(it)).join("\n")}\n\n`);
    const args = ["plan", "check", "shop.json", "--events", "events.ndjson", "--junit", "hostile.xml"];
    const { code, stdout } = await runHere(args, { cwd });
    expect(code).toBe(1);
    expect(stdout).toContain("1 violation of the tracking plan in 1 of 2 events");
    expect(stdout.replaceAll("\n", "")).not.toMatch(/\p{Cc}/u);
    expect(read("hostile.xml")).toContain('name="\ufffd[2J&lt;&amp;&quot;\ufffd"');
  });
});

test("more events than a page holds are all looked at", async () => {
  const { ready: other } = await startReady(["--memory"], { cwd });
  const batch = Array.from({ length: 10_001 }, () => ({ event: "paid", distinct_id: "u", properties: {} }));
  const answer = await post(`${other.url}/batch/`, { api_key: other.project_api_key, batch });
  expect(answer.status).toBe(200);
  write("paid.json", { version: 1, events: { paid: {} } });
  const { stdout } = await runHere(["plan", "check", "paid.json", "--url", other.url], { cwd });
  expect(stdout).toBe("10001 events as planned; 1 of 1 planned event seen\n");
});

describe("types", () => {
  test("are printed, or written", async () => {
    write("shop.json", shop);
    const { code, stdout } = await run("types", "shop.json");
    expect(code).toBe(0);
    expect(stdout).toContain('  "signed_up": {\n    "plan": "free" | "pro";\n    "seats": string;\n');
    expect((await run("types", "shop.json", "--out", "events.ts")).code).toBe(0);
    expect(read("events.ts")).toBe(stdout);
    expect((await run("types", "shop.json", "--out", "events.ts")).code).toBe(1);
  });
});

test("plan schema prints the file that a plan's $schema names in the package", async () => {
  const { $schema } = JSON.parse((await run("infer")).stdout);
  const [, file = "", folder] = /^\.\/node_modules\/phx-sim\/((\w+)\/.*)$/.exec($schema) ?? [];
  const root = join(import.meta.dirname, "../../..");
  const published = JSON.parse(readFileSync(join(root, file), "utf8"));
  expect(JSON.parse(readFileSync(join(root, "package.json"), "utf8")).files).toContain(folder);
  expect(JSON.parse((await run("schema")).stdout)).toEqual(published);
});

describe("what cannot be done is reported", () => {
  beforeAll(() => {
    write("bad.json", '{\n  "version": 1,\n  "events": { "a": { "propertys": {} } }\n}');
    write("good.json", { version: 1, events: {} });
    write("bad.ndjson", '{"event":"a","properties":{}}\n{"event":1}\n');
    write("worse.ndjson", "event a\n");
  });

  const stray = 'bad.json:3:22 /events/a/propertys: unknown key "propertys"; did you mean "properties"?\n';

  test.each<[string[], number, string]>([
    [["check", "bad.json"], 2, `${stray}phx-sim: 1 problem in the plan\n`],
    [["types", "bad.json"], 2, `${stray}phx-sim: 1 problem in the plan\n`],
    [["infer", "--merge", "bad.json"], 2, `${stray}phx-sim: 1 problem in the plan\n`],
    [["check", "no.json"], 2, "no.json: cannot be read: there is no such file\nphx-sim: 1 problem in the plan\n"],
    [
      ["check", "good.json", "--events", "bad.ndjson"],
      2,
      `phx-sim: ${cwd}/bad.ndjson:2: expected an event as JSON, with "event" and "properties"\n`,
    ],
    [
      ["infer", "--events", "worse.ndjson"],
      2,
      `phx-sim: ${cwd}/worse.ndjson:1: expected an event as JSON, with "event" and "properties"\n`,
    ],
    [["infer", "--events", "none.ndjson"], 2, `phx-sim: ${cwd}/none.ndjson cannot be read: there is no such file\n`],
    [
      ["check", "good.json", "--junit", "no/folder.xml"],
      1,
      "phx-sim: no/folder.xml cannot be written: there is no such file or folder\n",
    ],
  ])("%j", async (args, code, stderr) => {
    expect(await run(...args)).toMatchObject({ code, stderr });
  });

  test("plan check without a plan file", async () => {
    const elsewhere = newFolder();
    const { code, stderr } = await runHere(["plan", "check"], { cwd: elsewhere, env: { PHX_SIM_URL: ready.url } });
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: `phx-sim: there is no events.plan.json in ${elsewhere} or above; give a file, or make one: phx-sim plan infer --out events.plan.json\n`,
    });
  });

  test("plan check without a running sim", async () => {
    const { code } = await runHere(["plan", "check", "good.json"], { cwd, env: { PHX_SIM_URL: "127.0.0.1:1" } });
    expect(code).toBe(5);
  });
});
