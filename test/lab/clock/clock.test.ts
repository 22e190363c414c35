import { beforeEach, describe, expect, test } from "vitest";
import { startSim } from "../../../src/index.ts";
import { newFolder } from "../../support/folder.ts";
import { openSim } from "../../support/sim.ts";

const { sim } = await openSim();
beforeEach(() => sim.reset());

const json = { "content-type": "application/json" };

async function call(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
  const init: RequestInit = { method, headers };
  if (body !== undefined) {
    init.body = typeof body === "string" ? body : JSON.stringify(body);
    init.headers = { "content-type": "application/json", ...headers };
  }
  const response = await sim.handle(new Request(sim.url + path, init));
  return { status: response.status, answer: (await response.json()) as Record<string, unknown> };
}

const clock = (method: string, body?: unknown, rest = "") => call(method, `/__sim/clock${rest}`, body);

test.each([
  ["a frozen clock", { now: "2031-05-06T12:00:00Z", frozen: true }],
  ["a shifted clock", { now: "2031-05-06T12:00:00Z", frozen: false }],
  ["the machine's time", { now: "real" }],
])("a restart on the same data folder goes on with %s", async (_, setting) => {
  const data = newFolder();
  const states: Record<string, unknown>[] = [];
  for (const body of [setting, undefined]) {
    await using it = await startSim({ data });
    const init = body && { method: "PUT", headers: json, body: JSON.stringify(body) };
    const answer = await it.handle(new Request(`${it.url}/__sim/clock`, init ?? {}));
    states.push((await answer.json()) as Record<string, unknown>);
  }
  const [before, after] = states;
  const { frozen, real, now } = before ?? {};
  expect(after).toMatchObject({ frozen, real, ...(frozen === true && { now }) });
  const passed = Date.parse(String(after?.now)) - Date.parse(String(now));
  expect(passed).toBeGreaterThanOrEqual(0);
  expect(passed).toBeLessThan(180_000);
});

const noon = "2031-05-06T12:00:00.000Z";

describe("PUT /__sim/clock", () => {
  test("sets the time, and the clock runs on", async () => {
    const { answer } = await clock("PUT", { now: noon });
    expect(answer).toMatchObject({ frozen: false, real: false, hint: null, next_due: null });
    expect(Date.parse(String(answer.now)) - Date.parse(noon)).toBeLessThan(60_000);
  });

  test("freezes where it is, and at a time", async () => {
    await clock("PUT", { frozen: true });
    const first = (await clock("GET")).answer;
    expect((await clock("GET")).answer).toEqual(first);
    expect((await clock("PUT", { now: "2031-05-06T12:00:00Z" })).answer).toMatchObject({ now: noon, frozen: true });
  });

  test("reports that the clock went back", async () => {
    await clock("PUT", { now: noon, frozen: true });
    const { answer } = await clock("PUT", { now: "2031-05-06T11:59:59Z" });
    expect(answer.hint).toMatch(/^the clock went back by 1 s:/);
  });

  test("goes back to the machine's time", async () => {
    await clock("PUT", { now: noon, frozen: true });
    const { answer } = await clock("PUT", { now: "real" });
    expect(answer).toMatchObject({ real: true, frozen: false });
  });

  test("accepts milliseconds since 1970", async () => {
    const { answer } = await clock("PUT", { now: Date.parse(noon), frozen: true });
    expect(answer.now).toBe(noon);
  });

  const bad: [body: unknown, pointer: string | null][] = [
    [{}, ""],
    [{ now: "tomorrow" }, "/now"],
    [{ now: "1969-12-31" }, "/now"],
    [{ now: "+010000-01-01T00:00:00Z" }, "/now"],
    [{ now: -1 }, "/now"],
    [{ now: 1.5 }, "/now"],
    [{ now: null }, "/now"],
    [{ frozen: "yes" }, "/frozen"],
    [{ now: noon, froze: true }, "/froze"],
    [[], ""],
    ["{", null],
  ];
  test.each(bad)("%j is refused, and nothing changes", async (body, pointer) => {
    const { status, answer } = await clock("PUT", body);
    expect([status, answer.pointer]).toEqual([400, pointer]);
    expect((await clock("GET")).answer).toMatchObject({ real: true, frozen: false });
  });
});

describe("POST /__sim/clock/advance", () => {
  test.each([
    ["1h", "2031-05-06T13:00:00.000Z"],
    ["90s", "2031-05-06T12:01:30.000Z"],
    ["1d12h", "2031-05-08T00:00:00.000Z"],
    [250, "2031-05-06T12:00:00.250Z"],
    ["0ms", noon],
  ])("by %j", async (by, now) => {
    await clock("PUT", { now: noon, frozen: true });
    const { status, answer } = await clock("POST", { by }, "/advance");
    expect([status, answer.now, answer.frozen, answer.happened]).toEqual([200, now, true, []]);
  });

  test.each([{}, { by: "soon" }, { by: "-1h" }, { by: -1 }, { by: 0.5 }, { by: null }, { by: "8000y" }])(
    "%j is refused",
    async (body) => {
      const { status, answer } = await clock("POST", body, "/advance");
      expect([status, answer.code, answer.pointer]).toEqual([400, "invalid_input", "/by"]);
    },
  );

  test("not beyond the year 9999", async () => {
    await clock("PUT", { now: "9999-12-31T23:00:00Z", frozen: true });
    const { status, answer } = await clock("POST", { by: "1h" }, "/advance");
    expect([status, answer.pointer]).toEqual([400, "/by"]);
    expect((await clock("POST", { by: "59m" }, "/advance")).status).toBe(200);
  });
});

describe("every timestamp comes from it", () => {
  beforeEach(() => sim.clock.freeze(noon));

  const bearer = () => ({ authorization: `Bearer ${sim.personalApiKey}` });
  const project = (path: string) => `/api/projects/${sim.projectId}/${path}`;
  const millisOf = (uuid: unknown) => Number.parseInt(String(uuid).replace("-", "").slice(0, 12), 16);

  test("events, the journal, persons and uuids", async () => {
    await call("POST", "/capture/", {
      api_key: sim.apiKey,
      event: "$identify",
      distinct_id: "u",
      properties: { $set: { plan: "pro" } },
    });
    const [event] = await sim.events.list();
    expect(event).toMatchObject({ timestamp: noon, received_at: noon });
    expect(millisOf(event?.uuid)).toBe(Date.parse(noon));
    expect((await sim.requests.list())[0]).toMatchObject({ at: noon });
    expect((await sim.persons.list())[0]).toMatchObject({ created_at: noon });
  });

  test("a new document has the time of the clock", async () => {
    const made = await call("POST", project("dashboards/"), { name: "New" }, bearer());
    expect(made.answer.created_at).toBe("2031-05-06T12:00:00Z");
  });

  test("an answer of /flags has the time of the clock", async () => {
    const { answer } = await call("POST", "/flags/?v=2", { api_key: sim.apiKey, distinct_id: "u" });
    expect(answer.evaluatedAt).toBe(Date.parse(noon));
  });

  test("the order of events is that of their arrival, whatever the clock says", async () => {
    for (const [event, time] of [
      ["a", "2031-01-01"],
      ["b", "2030-01-01"],
    ] as const) {
      await sim.clock.set(time);
      await call("POST", "/capture/", { api_key: sim.apiKey, event, distinct_id: "u" });
    }
    expect((await sim.events.list()).map((it) => it.event)).toEqual(["a", "b"]);
  });
});

test("rate limits count by it, also when it goes back", async () => {
  await using limited = await startSim({ rateLimits: true, clock: { now: noon, frozen: true } });
  const ask = async () => {
    const headers = { authorization: `Bearer ${limited.personalApiKey}` };
    const url = `${limited.url}/api/projects/${limited.projectId}/dashboards/`;
    return (await limited.handle(new Request(url, { headers }))).status;
  };
  const untilRefused = async () => {
    for (let i = 0; i < 2_000; i++) if ((await ask()) === 429) return;
    throw new Error("never refused");
  };
  await untilRefused();
  await limited.clock.advance("1h");
  expect(await ask()).toBe(200);
  await limited.clock.set("2030-01-01");
  expect(await ask()).toBe(200);
});

describe("the clock's start", () => {
  test("an option counts before the scenario, and reset goes back to it", async () => {
    await using frozen = await startSim({ clock: { now: noon, frozen: true } });
    await frozen.clock.advance("1d");
    await frozen.clock.resume();
    await frozen.reset();
    expect(await frozen.clock.get()).toEqual({
      now: noon,
      frozen: true,
      real: false,
      next_due: null,
      starts: { now: noon, frozen: true },
    });
    expect((await frozen.info()).clock).toEqual(await frozen.clock.get());
  });

  const scenario = {
    version: 1 as const,
    organizations: [{ name: "Org", projects: [{ name: "Shop", api_key: "phc_shop" }] }],
    personal_api_keys: [{ key: "phx_key", user: "dev@phx-sim.test", scopes: ["*"] }],
  };

  test("a scenario says it, unless an option does", async () => {
    const authored = { ...scenario, clock: { now: "2031-05-06T12:00:00Z", frozen: true } };
    await using said = await startSim({ scenario: authored });
    expect((await said.clock.get()).starts).toEqual({ now: noon, frozen: true });
    await using real = await startSim({ scenario: authored, clock: "real" });
    expect((await real.clock.get()).real).toBe(true);
  });

  test.each([{ clock: "noon" }, { clock: 7 }, { clock: { now: "noon" } }, { clock: { froze: true } }])(
    "%j in a scenario is refused",
    async (clockKey) => {
      const wrong = { ...scenario, ...clockKey } as unknown as typeof scenario;
      const starting = startSim({ scenario: wrong });
      await expect(starting).rejects.toMatchObject({ code: "scenario", message: expect.stringContaining("/clock") });
    },
  );

  test("a reset sets the clock back only where it names the clock", async () => {
    await sim.clock.freeze(noon);
    await sim.reset({ what: ["events"] });
    expect((await sim.clock.get()).frozen).toBe(true);
    await sim.reset({ what: ["clock"] });
    expect(await sim.clock.get()).toMatchObject({ real: true, starts: { now: "real", frozen: false } });
  });

  test.each(["soon", "1960-01-01", { now: "soon" }])("%j is refused", async (setting) => {
    await expect(startSim({ clock: setting })).rejects.toMatchObject({ code: "clock" });
  });
});

test("sim.clock sets, reads and advances the clock", async () => {
  await sim.clock.set(new Date(noon), { frozen: true });
  expect(await sim.clock.now()).toEqual(new Date(noon));
  expect(await sim.clock.advance("1h")).toEqual([]);
  expect((await sim.clock.resume()).frozen).toBe(false);
  expect((await sim.clock.freeze("2040-01-01")).now).toBe("2040-01-01T00:00:00.000Z");
  await expect(sim.clock.advance("soon")).rejects.toMatchObject({ status: 400 });
});
