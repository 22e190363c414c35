import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { generateTraffic, type ScenarioLayer, type Sim, type SimOptions, startSim } from "../../../src/index.ts";
import { folderOf } from "../scenario/files.ts";

const clock = "2025-06-04T15:20:30Z";
const traffic = [{ persona: "shopper", users: 30, days: 20, seed: 7 }] as const;
const world: ScenarioLayer = { clock, timezone: "Europe/Berlin", traffic: [...traffic] };

const countsOf = async (sim: Sim) => (await sim.info()).counts as Record<string, number>;
const uuidsOf = async (sim: Sim, project?: number) =>
  (await sim.events.list({ limit: 10_000, outcome: "kept", ...(project !== undefined && { project }) })).map(
    (it) => it.uuid,
  );

/** What the scenario's traffic must be, computed without a sim. */
async function expected() {
  const end = { until: "2025-06-04T15:20:00Z", timeZone: "Europe/Berlin" };
  const generated = await generateTraffic({ ...traffic[0], ...end });
  const events = [...generated];
  return { uuids: events.map((it) => it.uuid), figures: generated.figures() };
}

describe("traffic of a scenario", () => {
  let sim: Sim;
  const notices: string[] = [];
  beforeAll(async () => {
    sim = await startSim({ scenario: { ...world, faults: ["capture-503"] }, onNotice: (text) => notices.push(text) });
  });
  afterAll(() => sim.close());

  test("is captured before the port is open, whatever the faults are", async () => {
    const { uuids, figures } = await expected();
    expect(await uuidsOf(sim)).toEqual(uuids);
    expect(await countsOf(sim)).toMatchObject({
      kept: figures.events.total,
      dropped: 0,
      warned: 0,
      rejected: 0,
      persons: figures.by_event.$identify?.total,
    });
    const [{ state, used } = { state: "", used: -1 }] = await sim.faults.list();
    expect([state, used]).toEqual(["active", 0]);
    expect(notices).toContainEqual(
      `the scenario's traffic is captured: ${uuids.length} events of 30 users (shopper, 20 days)`,
    );
  });

  test("has no lint findings", async () => {
    expect((await sim.lint({ maxMs: 10_000 })).findings).toEqual([]);
  });

  test("is captured again by a reset of events, and by no other", async () => {
    const before = await uuidsOf(sim);
    await sim.events.clear();
    await sim.reset({ what: ["world", "people"] });
    expect(await uuidsOf(sim)).toEqual([]);
    await sim.reset();
    expect(await uuidsOf(sim)).toEqual(before);
    await Promise.all([sim.reset(), sim.reset()]);
    expect(await uuidsOf(sim)).toEqual(before);
    expect((await countsOf(sim)).dropped).toBe(0);
  });

  test("is captured again by a reset of its project", async () => {
    const before = await uuidsOf(sim, 1);
    await sim.reset({ project: 1 });
    expect((await uuidsOf(sim, 1)).sort()).toEqual([...before].sort());
  });
});

describe("in a data folder", () => {
  const folder = folderOf();
  const data = folder.file("data");
  const marker = join(data, "traffic.unfinished");
  const start = (more: SimOptions = {}) => startSim({ scenario: world, data, ...more });

  test("a restart finds the events, and does not capture them again", async () => {
    const first = await start();
    const { uuids } = await expected();
    expect(await uuidsOf(first)).toEqual(uuids);
    await first.events.clear();
    await first.close();
    expect(existsSync(marker)).toBe(false);
    await using second = await start();
    expect(await uuidsOf(second)).toEqual([]);
  });

  test("what was interrupted begins anew", async () => {
    // what an end in the middle leaves: some of the events, and the marker
    const before = await start({ scenario: { clock, timezone: "Europe/Berlin" } });
    await before.generate({ ...traffic[0], users: 3 });
    await before.close();
    writeFileSync(marker, "");
    const notices: string[] = [];
    await using sim = await start({ onNotice: (text) => notices.push(text) });
    const { uuids, figures } = await expected();
    expect(await uuidsOf(sim)).toEqual(uuids);
    expect((await countsOf(sim)).persons).toBe(figures.by_event.$identify?.total);
    expect(notices).toContainEqual(expect.stringMatching(/^the scenario's traffic is incomplete/));
    expect(existsSync(marker)).toBe(false);
  });
});

describe("sim.generate", () => {
  let sim: Sim;
  beforeAll(async () => {
    const projects = [
      { name: "One", api_key: "phc_one" },
      { name: "Two", api_key: "phc_two", timezone: "Asia/Tokyo", settings: { week_start_day: 1 } },
    ];
    sim = await startSim({ scenario: { clock, organizations: [{ name: "Org", projects }] } });
  });
  afterAll(() => sim.close());

  test("captures events in a project, in its time zone, and returns their figures", async () => {
    const figures = await sim.generate({ persona: "saas", users: 20, days: 10, project: 2 });
    expect(figures).toMatchObject({ persona: "saas", time_zone: "Asia/Tokyo", week_start: 1, seed: 1 });
    const events = await sim.events.list({ limit: 10_000, project: 2 });
    expect(events).toHaveLength(figures.events.total);
    for (const [name, { total }] of Object.entries(figures.by_event))
      expect(events.filter((it) => it.event === name)).toHaveLength(total);
    expect(await sim.groups.list({ project: 2 })).toHaveLength(figures.by_event.$groupidentify?.total ?? -1);
    expect(await uuidsOf(sim, 1)).toEqual([]);
  });

  test("the same options add nothing, another seed adds its events", async () => {
    const options = { persona: "reader", users: 5, days: 5, until: "2025-06-01" } as const;
    const figures = await sim.generate(options);
    await sim.generate(options);
    expect(await uuidsOf(sim, 1)).toHaveLength(figures.events.total);
    const more = await sim.generate({ ...options, seed: 2 });
    expect(await uuidsOf(sim, 1)).toHaveLength(figures.events.total + more.events.total);
  });

  test("mistakes", async () => {
    await expect(sim.generate({ project: 9 })).rejects.toMatchObject({ code: "not_found" });
    await expect(sim.generate({ user: 5 } as object)).rejects.toThrow('unknown option "user"; did you mean "users"?');
    await expect(sim.generate({ until: "2025-06-05" })).rejects.toThrow(
      /^the end, 2025-06-05T00:00:00.000Z, is after the sim's time, 2025-06-04T15:2/,
    );
    await sim.faults.apply("capture-503");
    await expect(sim.generate({ users: 1 })).rejects.toMatchObject({ status: 503, code: "capture_refused" });
  });
});
