import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect } from "vitest";
import { endAll, newFolder, phxSim, post, type Ready, runHere, startReady } from "../support/phx-sim.ts";
import { test } from "../support/sim.ts";

afterEach(endAll);

const capture = (ready: Ready, event: string, key = ready.project_api_key) =>
  post(`${ready.url}/capture/`, { api_key: key, event, distinct_id: "u" });

const eventsOf = async ({ url }: Ready) =>
  ((await (await fetch(`${url}/__sim/events`)).json()) as { events: { event: string }[] }).events.map(
    ({ event }) => event,
  );

test("start, init, start: the scenario of init is served, and the events stay", async ({ folder: cwd }) => {
  const first = await startReady([], { cwd });
  await capture(first.ready, "before");
  await first.sim.signal("SIGINT");
  await runHere(["init"], { cwd });
  const second = await startReady([], { cwd });
  const key = /POSTHOG_API_KEY=(\S+)/.exec(readFileSync(join(cwd, ".env.phx-sim.example"), "utf8"))?.[1];
  expect(second.ready.project_api_key).toBe(key);
  expect((await capture(second.ready, "after", key)).status).toBe(200);
  expect(await eventsOf(second.ready)).toEqual(["before", "after"]);
  const { stderr } = await second.sim.signal("SIGINT");
  expect(stderr).toContain("the scenario is not the one of the last start and is now in force: ");
});

test("the banner's scenario is the one in force, also on a folder of another one", async () => {
  const cwd = newFolder();
  const first = await startReady([], { cwd });
  await first.sim.signal("SIGINT");
  const sim = phxSim(["--port", "0", "--scenario", "shop"], { cwd });
  await sim.says("stdout", /scenario +shop\n/);
  const [, key] = await sim.says("stdout", /project key +(\S+)\n/);
  expect(key).not.toBe(first.ready.project_api_key);
});

test("--fresh begins anew; it needs a data folder", async ({ folder: cwd }) => {
  const first = await startReady([], { cwd });
  await capture(first.ready, "before");
  await first.sim.signal("SIGINT");
  const second = await startReady(["--fresh"], { cwd });
  expect(await eventsOf(second.ready)).toEqual([]);
  expect((await runHere(["start", "--fresh", "--memory"], { cwd })).code).toBe(2);
});

test("a start whose port is taken changes nothing in its folder", async ({ folder: cwd }) => {
  const first = await startReady([], { cwd });
  await capture(first.ready, "before");
  await first.sim.signal("SIGINT");
  await runHere(["init"], { cwd });
  const other = await startReady(["--memory"], { cwd: newFolder() });
  const { port } = new URL(other.ready.url);
  for (const options of [["--fresh"], []]) {
    const failed = await runHere(["start", "--port", port, ...options], { cwd });
    expect(failed.code).not.toBe(0);
    expect(failed.stderr).toMatch(/^phx-sim: port \d+ is in use by [^\n]+\n$/);
  }
  const second = await startReady([], { cwd });
  expect(await eventsOf(second.ready)).toEqual(["before"]);
  const { stderr } = await second.sim.signal("SIGINT");
  expect(stderr).toContain("the scenario is not the one of the last start and is now in force: ");
});

test("state reset --keep-events", async ({ folder: cwd }) => {
  writeFileSync(join(cwd, "s.json"), JSON.stringify({ api_key: "phc_app", flags: { beta: true } }));
  const { ready } = await startReady(["--scenario", "s.json"], { cwd });
  await capture(ready, "kept");
  await post(`${ready.url}/__sim/faults`, { preset: "flags-down" });
  expect(await runHere(["state", "reset", "--keep-events"], { cwd })).toEqual({
    code: 0,
    stdout: "back to the scenario: world, faults, answers, clock\n",
    stderr: "",
  });
  expect(await eventsOf(ready)).toEqual(["kept"]);
  expect(await (await fetch(`${ready.url}/__sim/faults`)).json()).toMatchObject({ faults: [] });
  expect((await runHere(["state", "reset", "--keep-events", "--what", "world"], { cwd })).code).toBe(2);
});
