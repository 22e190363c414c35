import { afterEach, describe, expect, test } from "vitest";
import { startSim } from "../../../src/index.ts";
import { presets } from "../../../src/lab/faults/presets.ts";
import { presetNames } from "../../../src/lab/faults/shapes.ts";
import { control as controlOf } from "../../support/control.ts";
import { openSim } from "../../support/sim.ts";

const notices: string[] = [];
const { sim } = await openSim({ onNotice: (text) => notices.push(text) });
afterEach(async () => {
  await sim.reset();
  notices.length = 0;
});

const control = (method: string, path: string, body?: unknown) =>
  controlOf<Record<string, unknown>>(sim, method, path, body);

describe("over HTTP", () => {
  test("a preset is applied, listed, used and cleared", async () => {
    const { status, answer } = await control("POST", "faults", { preset: "capture-503", times: 2 });
    expect(status).toBe(200);
    expect(answer).toEqual({
      id: expect.stringMatching(/^fault-\d+$/),
      name: "capture-503",
      preset: "capture-503",
      match: { route: "capture" },
      effect: { status: 503 },
      rate: 1,
      seed: 1,
      times: 2,
      duration: null,
      state: "active",
      used: 0,
      since: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      text: "status 503 on capture, 2 times",
    });
    expect((await fetch(`${sim.url}/e/`, { method: "POST" })).status).toBe(503);
    expect((await control("GET", "faults")).answer).toEqual({ faults: [{ ...answer, used: 1 }] });
    expect(await control("DELETE", "faults/capture-503")).toEqual({ status: 200, answer: { removed: 1 } });
    expect((await control("GET", "faults")).answer).toEqual({ faults: [] });
  });

  test("a rule keeps what was asked for, with times in ms", async () => {
    const { answer } = await control("POST", "faults", {
      name: "mine",
      match: { route: "POST /flags", project: 1 },
      effect: { latency: "1.5s", jitter: 20, status: 500 },
      rate: 0.5,
      seed: 7,
      duration: "5m",
    });
    expect(answer).toMatchObject({
      name: "mine",
      preset: null,
      match: { route: "POST /flags", project: 1 },
      effect: { latency: 1_500, jitter: 20, status: 500 },
      rate: 0.5,
      seed: 7,
      duration: 300_000,
    });
  });

  test("all are cleared; one that does not exist is 404 with the nearest", async () => {
    await control("POST", "faults", { preset: "flags-down" });
    await control("POST", "faults", { preset: "flags-slow" });
    expect(await control("DELETE", "faults/flags-donw")).toEqual({
      status: 404,
      answer: {
        code: "not_found",
        detail: 'there is no fault "flags-donw"',
        hint: "did you mean flags-down?",
        pointer: null,
      },
    });
    expect((await control("DELETE", "faults")).answer).toEqual({ removed: 2 });
    expect((await control("DELETE", "faults")).answer).toEqual({ removed: 0 });
  });

  test("the presets are reported, each with what it does", async () => {
    const { answer } = await control("GET", "faults/presets");
    expect(answer).toEqual({ presets: presetNames.map((name) => ({ name, ...presets[name] })) });
  });

  test("each preset can be applied", async () => {
    for (const preset of presetNames) {
      expect((await control("POST", "faults", { preset })).answer).toMatchObject({ name: preset });
    }
  });
});

describe("bad rules", () => {
  const effect = { status: 500 };
  const quoted = presetNames.map((name) => `"${name}"`);
  const anyPreset = `expected ${quoted.slice(0, -1).join(", ")} or ${quoted.at(-1)}`;
  const rows: [body: unknown, pointer: string, detail: string, hint: string | null][] = [
    [{}, "", "expected a preset or an effect in it", null],
    [{ preset: "flags-donw" }, "/preset", anyPreset, 'did you mean "flags-down"?'],
    [{ preset: 3 }, "/preset", anyPreset, null],
    [{ efect: effect }, "/efect", 'unknown key "efect"', "did you mean effect?"],
    [
      { preset: "flags-down", zzz: 1 },
      "/zzz",
      'unknown key "zzz"',
      "known keys: preset, name, match, effect, rate, seed, times, duration",
    ],
    [{ effect: { statuss: 500 } }, "/effect/statuss", 'unknown key "statuss"', "did you mean status?"],
    [{ effect, match: { rout: "flags" } }, "/match/rout", 'unknown key "rout"', "did you mean route?"],
    [{ effect: {} }, "/effect", "expected latency, status, socket, body, flags, quota or results in it", null],
    [{ effect: { status: 500, socket: "reset" } }, "/effect", "expected only one of status, socket", null],
    [{ effect: { status: 99 } }, "/effect/status", "expected a number of at least 200", null],
    [{ effect: { status: "503" } }, "/effect/status", "expected a number", "leave the quotes out"],
    [{ effect: { body: "shred" } }, "/effect/body", 'expected "truncate" or "garbage" (or a status with it)', null],
    [{ effect: { latency: 5, headers: { a: "b" } } }, "/effect/headers", "expected status with it", null],
    [{ effect: { status: 500, jitter: 5 } }, "/effect/jitter", "expected latency with it", null],
    [{ effect: { status: 500, after: true } }, "/effect/after", "expected socket with it", null],
    [
      { effect: { latency: "soon" } },
      "/effect/latency",
      "expected ms up to 600000, or a string such as 800ms or 2s",
      null,
    ],
    [
      { effect: { latency: 1e9 } },
      "/effect/latency",
      "expected ms up to 600000, or a string such as 800ms or 2s",
      null,
    ],
    [{ effect: { socket: "explode" } }, "/effect/socket", 'expected "reset" or "hang"', null],
    [{ effect: { flags: "all" } }, "/effect/flags", `expected "partial" or a list of flag keys`, null],
    [{ effect: { flags: [] } }, "/effect/flags", "expected at least one entry", null],
    [
      { effect: { quota: ["event"] } },
      "/effect/quota/0",
      'expected "events", "recordings" or "feature_flags"',
      'did you mean "events"?',
    ],
    [
      { effect: { status: 500, headers: { "a b": "c" } } },
      "/effect/headers/a b",
      "expected the name of a header",
      null,
    ],
    [{ effect: { status: 500, headers: { a: "b\r\nc: d" } } }, "/effect/headers/a", "expected printable ASCII", null],
    [
      { effect, match: { route: "flag" } },
      "/match/route",
      "expected capture, flags, service, sdk, management, or a path such as /flags or POST /flags",
      null,
    ],
    [{ effect, match: { route: "/__sim/info" } }, "/match/route", "expected a path outside of the control API", null],
    [{ effect, match: { route: "/flags?v=2" } }, "/match/route", "expected a path without a query", null],
    [
      { effect, match: { route: "/static/*.js" } },
      "/match/route",
      "expected a * for a whole segment of the path, or at its end for the rest",
      null,
    ],
    [{ effect, match: { method: "post" } }, "/match/method", "expected a method in capitals", null],
    [{ effect, match: { project: "1" } }, "/match/project", "expected a number", "leave the quotes out"],
    [{ effect, rate: 0 }, "/rate", "expected a number above 0", null],
    [{ effect, rate: 20 }, "/rate", "expected a number of at most 1", null],
    [{ effect, times: 0 }, "/times", "expected a number of at least 1", null],
    [{ effect, times: 1.5 }, "/times", "expected a whole number", null],
    [{ effect, duration: 0 }, "/duration", "expected ms, or a string such as 30s or 5m", null],
    [{ effect, name: "" }, "/name", "expected a non-empty string", null],
  ];
  test.each(rows)("%j", async (body, pointer, detail, hint) => {
    const { status, answer } = await control("POST", "faults", body);
    expect(status).toBe(400);
    const reported = String(answer.detail).replace(/, got [^,]*$/s, "");
    expect({ ...answer, detail: reported }).toEqual({ code: "invalid_input", detail, hint, pointer });
    expect((await control("GET", "faults")).answer).toEqual({ faults: [] });
  });

  test("a body that is no JSON object", async () => {
    expect((await control("POST", "faults", ["flags-down"])).status).toBe(400);
  });

  test("keys like __proto__ are unknown keys, and inert", async () => {
    const response = await fetch(`${sim.url}/__sim/faults`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: '{"effect":{"status":500,"headers":{"__proto__":"x"}},"__proto__":{"times":1}}',
    });
    expect(response.status).toBeLessThan(500);
    expect(({} as Record<string, unknown>).times).toBeUndefined();
  });
});

describe("how faults show", () => {
  test("in info and in notices, until they are cleared", async () => {
    expect((await sim.info()).faults).toEqual([]);
    await sim.faults.apply("flags-down");
    await sim.faults.apply({ name: "<b>mine</b>", effect: { status: 500 } });
    expect((await sim.info()).faults).toEqual(["flags-down", "<b>mine</b>"]);
    expect(await sim.faults.clear()).toBe(2);
    expect((await sim.info()).faults).toEqual([]);
    expect(notices).toEqual([
      "fault flags-down is on: status 503 on flags",
      "fault <b>mine</b> is on: status 500 on all requests",
      "fault flags-down is cleared",
      "fault <b>mine</b> is cleared",
    ]);
  });

  test("requests are marked, in the list and alone", async () => {
    await sim.faults.apply("garbage-json");
    await sim.handle(new Request(`${sim.url}/e/`, { method: "POST" }));
    const [line] = await sim.requests.list();
    expect(line).toMatchObject({ fault: "garbage-json" });
    expect((await control("GET", `requests/${line?.n}`)).answer).toMatchObject({ fault: "garbage-json" });
  });

  test("summaries of requests name them", async () => {
    const reported: unknown[] = [];
    const stop = sim.onRequest(({ fault, status }) => reported.push([fault, status]));
    await sim.faults.apply("capture-503", { times: 1 });
    for (let n = 0; n < 2; n++) await sim.handle(new Request(`${sim.url}/e/`, { method: "POST" }));
    stop();
    expect(reported).toEqual([
      ["capture-503", 503],
      [undefined, 400],
    ]);
  });
});

describe("in TypeScript", () => {
  test("apply, list, presets, clear", async () => {
    const applied = await sim.faults.apply("flags-slow", { effect: { latency: "5ms" }, times: 2 });
    expect(applied).toMatchObject({ name: "flags-slow", effect: { latency: 5 }, times: 2 });
    expect(await sim.faults.list()).toEqual([applied]);
    expect((await sim.faults.presets()).map(({ name }) => name)).toEqual([...presetNames]);
    expect(await sim.faults.clear(applied.id)).toBe(1);
    await expect(sim.faults.clear("nothing")).rejects.toThrow('there is no fault "nothing"');
    await expect(sim.faults.apply("flags-slow", { rate: 3 })).rejects.toThrow("a number of at most 1, got 3");
  });
});

describe("in a scenario", () => {
  const world = {
    version: 1 as const,
    organizations: [{ name: "O", projects: [{ name: "P", api_key: "phc_p" }] }],
    personal_api_keys: [{ key: "phx_p", scopes: ["*"] }],
  };

  test("they are in force from the start, and again after a reset", async () => {
    const faults = [
      "flags-down" as const,
      { preset: "rate-limited" as const, times: 1 },
      { name: "slow", effect: { latency: "1ms" } },
    ];
    const reported: string[] = [];
    await using own = await startSim({ scenario: { ...world, faults }, onNotice: (text) => reported.push(text) });
    const state = async () => (await own.faults.list()).map(({ name, used }) => [name, used]);
    const fresh = [
      ["flags-down", 0],
      ["rate-limited", 0],
      ["slow", 0],
    ];
    expect(await state()).toEqual(fresh);
    expect(reported[0]).toBe("fault flags-down is on: status 503 on flags");
    await own.handle(new Request(`${own.url}/e/`, { method: "POST" }));
    await own.faults.apply("capture-503");
    expect(await state()).toEqual([
      ["flags-down", 0],
      ["rate-limited", 1],
      ["slow", 1],
      ["capture-503", 0],
    ]);
    await own.reset();
    expect(await state()).toEqual(fresh);
  });

  test("bad ones are reported with their place", async () => {
    const faults = ["flags-donw", { effect: { status: 5 } }] as never;
    await expect(startSim({ scenario: { ...world, faults } })).rejects.toThrow(/\/faults\/0[\s\S]*\/faults\/1/);
  });
});
