import { beforeEach, describe, expect, test } from "vitest";
import { newFolder, phxSim, post, runHere, startReady } from "../../support/phx-sim.ts";

const cwd = newFolder();
const { ready } = await startReady(["--clock", "2031-05-06T12:00:00Z"], { cwd });

const run = (...args: string[]) => runHere(["clock", ...args], { cwd });

const noon = "2031-05-06T12:00:00.000Z";

test("start --clock: the sim begins then, and runs on", async () => {
  const info = (await (await fetch(`${ready.url}/__sim/info`)).json()) as {
    clock: { now: string; frozen: boolean; starts: unknown };
  };
  expect(info.clock.starts).toEqual({ now: noon, frozen: false });
  expect(info.clock.now.slice(0, 10)).toBe("2031-05-06");
});

describe("with the clock standing at noon", () => {
  beforeEach(async () => {
    await run("freeze", "--at", noon);
  });

  const rows: [args: string[], said: string][] = [
    [["now"], noon],
    [["freeze"], `the clock shows ${noon}: frozen`],
    [["set", "2031-05-06T13:00"], "the clock shows 2031-05-06T13:00:00.000Z: frozen"],
    [["advance", "1d12h"], "the clock shows 2031-05-08T00:00:00.000Z: frozen"],
    [["advance", "250ms"], "the clock shows 2031-05-06T12:00:00.250Z: frozen"],
  ];
  test.each(rows)("clock %j", async (args, said) => {
    expect(await run(...args)).toEqual({ code: 0, stdout: `${said}\n`, stderr: "" });
  });

  test("what is captured carries the time", async () => {
    await post(`${ready.url}/capture/`, { api_key: ready.project_api_key, event: "a", distinct_id: "u" });
    const answer = await (await fetch(`${ready.url}/__sim/events?order=desc&limit=1`)).json();
    expect(answer).toMatchObject({ events: [{ timestamp: noon, received_at: noon }] });
  });

  test("reports a clock that went back", async () => {
    const { code, stderr } = await run("set", "2031-05-06T11:00:00Z");
    expect(code).toBe(0);
    expect(stderr).toMatch(/^phx-sim: the clock went back by 1 h: /);
  });

  test("--json prints the answer", async () => {
    const { stdout } = await run("advance", "1h", "--json");
    expect(JSON.parse(stdout)).toMatchObject({ now: "2031-05-06T13:00:00.000Z", happened: [] });
  });

  test("resume, and back to the machine's time", async () => {
    expect((await run("resume")).stdout).toMatch(/^the clock shows 2031-05-06T12:0\S+: running\n$/);
    expect((await run("set", "real")).stdout).toMatch(/: the machine's time\n$/);
  });
});

const mistakes: [args: string[], said: RegExp][] = [
  [["set", "noon"], /TIME: expected a time from 1970 to 9999 such as \S+, ms since 1970, or "real"/],
  [["freeze", "--at", "1969-01-01"], /--at: expected a time/],
  [["advance", "soon"], /BY: expected a duration of 0 or more/],
  [["advance"], /BY|by/],
  [["stop"], /stop/],
];
test.each(mistakes)("clock %j is a mistake", async (args, said) => {
  const { code, stdout, stderr } = await run(...args);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toMatch(said);
});

test("start --clock with what is no time", async () => {
  const { code, stderr } = await phxSim(["start", "--memory", "--port", "0", "--clock", "noon"], { cwd }).ended;
  expect(code).toBe(2);
  expect(stderr).toMatch(/^phx-sim: the clock cannot start at "noon"; give "real", a time such as/);
});
