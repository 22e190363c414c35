import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import type { SimOptions } from "../../../../src/index.ts";
import { answer, asked, exchange, started, tapeOf } from "./tapes.ts";

const dashboards = "GET /api/projects/1/dashboards/?limit=10";

const tape = () =>
  tapeOf([
    exchange(dashboards, answer({ results: [] })),
    exchange("POST /api/projects/1/dashboards/", answer({ id: 7, name: "Sales" }, { status: 201 }), {
      body: { name: "Sales", pinned: true },
    }),
  ]);

const sales = { body: { name: "Revenue", pinned: true } };

describe("what is not on the tape", () => {
  test("is no miss where browsers request it by themselves", async () => {
    const favicon = exchange("GET /favicon.ico", answer("icon"));
    const empty = await started({ tape: await tape() });
    expect(await asked(empty, "GET /favicon.ico")).toMatchObject({ status: 404 });
    expect((await empty.tapes.get())?.ledger).toMatchObject({ hits: 0, miss_count: 0 });
    const known = await started({ tape: await tapeOf([favicon]) });
    expect(await asked(known, "GET /favicon.ico")).toMatchObject({ status: 200, text: '"icon"' });
  });

  test("is an error that names the nearest and what differs", async () => {
    const sim = await started({ tape: await tape() });
    const missed = await asked(sim, "POST /api/projects/1/dashboards/", sales);
    expect(missed).toMatchObject({ status: 599, source: "tape:checkout" });
    expect(missed.headers.get("x-phx-miss")).toBe("POST /api/projects/:id/dashboards");
    expect(JSON.parse(missed.text)).toEqual({
      type: "server_error",
      code: "tape_miss",
      attr: null,
      detail:
        "the tape checkout has no response for POST /api/projects/1/dashboards/ " +
        "(route POST /api/projects/:id/dashboards); nearest: " +
        "#2 POST /api/projects/1/dashboards/: req.body.name is Sales on the tape, Revenue here",
      route: "POST /api/projects/:id/dashboards",
      nearest: [
        {
          i: 2,
          method: "POST",
          url: "https://us.i.posthog.com/api/projects/1/dashboards/",
          differing: [{ path: "req.body.name", recorded: "Sales", asked: "Revenue" }],
        },
      ],
    });
  });

  test("is rejected in the journal, and counted", async () => {
    const sim = await started({ tape: await tape() });
    for (const _ of [1, 2]) await asked(sim, "POST /api/projects/1/dashboards/", sales);
    await asked(sim, dashboards);
    const [, last] = await sim.requests.list();
    expect(last).toMatchObject({ status: 599, source: "tape:checkout", rejected: { reason: "tape_miss" } });
    expect((await sim.tapes.get())?.ledger).toMatchObject({
      total: 2,
      hits: 1,
      miss_count: 2,
      unused_count: 1,
      unused: [{ i: 2 }],
      misses: [{ method: "POST", target: "/api/projects/1/dashboards/", times: 2 }],
    });
  });

  test.each([
    "/api/a/?personal_api_key=phx_mysecretkey&password=mysecretword",
    "/api/a/?personal%5Fapi%5Fkey=phx%5Fmysecretkey",
    "/api/a/phx_mysecretkey/",
    "/api/a/phx%5Fmysecretkey/",
  ])("shows no keys: %s", async (target) => {
    const notices: string[] = [];
    const tape = await tapeOf([exchange("GET /api/a/", answer({}))]);
    const sim = await started({ tape, onNotice: (text) => notices.push(text) });
    const reported: unknown[] = [];
    sim.onRequest((summary) => reported.push(summary));
    const { text, headers } = await asked(sim, `GET ${target}`);
    expect(text).toContain("tape_miss");
    const shown = await (await fetch(`${sim.url}/__sim/tapes`)).json();
    expect(shown).toMatchObject({ tape: { ledger: { miss_count: 1 } } });
    const [n] = await sim.requests.list();
    const all = { text, headers: [...headers], shown, notices, reported, request: await sim.requests.get(n?.n ?? 0) };
    expect(JSON.stringify(all)).not.toContain("mysecret");
  });

  const json = (it: object) => ({ body: JSON.stringify(it), headers: { "content-type": "application/json" } });
  const encodings: readonly (readonly [
    string,
    (it: object) => { body: string | Buffer<ArrayBuffer>; headers: Record<string, string> },
  ])[] = [
    ["JSON", json],
    ["gzip", (it) => ({ ...json(it), body: Buffer.from(gzipSync(JSON.stringify(it))) })],
    ["base64", (it) => ({ body: btoa(JSON.stringify(it)), headers: { "content-type": "text/plain" } })],
    [
      "a form",
      (it) => ({
        body: new URLSearchParams({ data: btoa(JSON.stringify(it)) }).toString(),
        headers: { "content-type": "application/x-www-form-urlencoded" },
      }),
    ],
  ];
  const persons = [
    [{ distinct_id: "anna" }, { distinct_id: "ben" }],
    [{ $distinct_id: "anna" }, { $distinct_id: "ben" }],
    [
      { distinct_id: "u", $groups: { company: "a" } },
      { distinct_id: "u", $groups: { company: "b" } },
    ],
    [{ distinct_id: "1b4e28ba-2fa1-4d2e-883f-000000000001" }, { distinct_id: "1b4e28ba-2fa1-4d2e-883f-000000000002" }],
    [
      { distinct_id: "u", person_properties: { plan: "pro" } },
      { distinct_id: "u", person_properties: { plan: "free" } },
    ],
    [
      { distinct_id: "u", flag_keys_to_evaluate: ["a"] },
      { distinct_id: "u", flag_keys_to_evaluate: ["b"] },
    ],
  ] as const;

  test.each(encodings)("is every other person, group, property and list of flags: %s", async (_, encoded) => {
    const token = "phc_recordedRecordedRecorded";
    const target = "POST /flags/?v=2";
    const file = await tapeOf(
      persons.map(([recorded], i) => {
        const { body, headers } = encoded({ token, ...recorded });
        const flat = Object.entries(headers).flat();
        return { ...exchange(target, answer({ i }), { headers: flat }), body: Buffer.from(body) };
      }),
    );
    const sim = await started({ tape: file });
    const ask = async (it: object) =>
      (await fetch(`${sim.url}/flags/?v=2`, { method: "POST", ...encoded({ token, ...it }) })).headers.get(
        "x-phx-source",
      );
    for (const [i, [recorded, other]] of persons.entries())
      expect([await ask(other), await ask(recorded)]).toEqual(["tape:checkout", `tape:checkout#${i + 1}`]);
  });

  test.each<[string, SimOptions]>([
    ["on miss: emulate", { onMiss: "emulate" }],
    ["replay, on miss: emulate", { mode: "replay", onMiss: "emulate" }],
  ])("is the emulator's: %s", async (_, options) => {
    const sim = await started({ tape: await tape(), ...options });
    const headers = { authorization: `Bearer ${sim.personalApiKey}` };
    const made = await asked(sim, "POST /api/projects/1/dashboards/", { ...sales, headers });
    expect(made).toMatchObject({ status: 201, source: "emulator" });
    expect(await asked(sim, dashboards)).toMatchObject({ status: 200, source: "tape:checkout#1" });
  });

  test("a body that was not kept is reported", async () => {
    const file = await tapeOf([
      exchange("GET /static/a.js", answer(null, { body: { omitted: "too_large", bytes: 9 } })),
    ]);
    const strict = await started({ tape: file });
    expect(await asked(strict, "GET /static/a.js")).toMatchObject({ status: 599, source: "tape:checkout#1" });
    const lenient = await started({ tape: file, onMiss: "emulate" });
    expect((await asked(lenient, "GET /static/a.js")).source).toBe("emulator");
  });

  test("faults and scripted answers come first, and touch what the tape answers", async () => {
    const sim = await started({ tape: await tape() });
    await sim.answers.queue({ status: 418, body: { a: 1 } }, { partition: "t1" });
    const scripted = await asked(sim, dashboards, { headers: { "x-test-id": "t1" } });
    expect(scripted).toMatchObject({ status: 418, source: "script" });
    await sim.faults.apply({ match: { route: "management" }, effect: { body: "garbage" }, times: 1 });
    const garbled = await asked(sim, dashboards);
    expect([garbled.source, garbled.text.startsWith('{"results"')]).toEqual(["fault", false]);
    expect(await asked(sim, dashboards)).toMatchObject({ source: "tape:checkout#1", text: '{"results":[]}' });
  });
});
