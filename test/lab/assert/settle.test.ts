import { beforeEach, describe, expect, test } from "vitest";
import { startSim } from "../../../src/index.ts";
import { control } from "../../support/control.ts";
import { openSim } from "../../support/sim.ts";

const { sim, capture } = await openSim();
beforeEach(() => sim.reset());
const settle = (body: object) => control(sim, "POST", "settle", body);
const newProject = async () => (await control(sim, "POST", "projects", {})).answer;

test("returns when it is quiet", async () => {
  await capture({ event: "a", distinct_id: "u" });
  const { answer } = await settle({ idle_ms: 5 });
  expect(answer).toEqual({ quiet: true, cursor: await sim.events.mark() });
});

test("says when it does not get quiet", async () => {
  const { status, answer } = await settle({ idle_ms: 1000, timeout_ms: 0 });
  expect([status, answer.code]).toEqual([409, "wait_timeout"]);
  expect(answer.detail).toBe("not quiet for 1000 ms within 0 ms");
});

test.each([["of the project"], ["of all"]])("waits for what is in flight: %s", async (which) => {
  await control(sim, "POST", "faults", { effect: { latency: 30 }, match: { route: "capture" } });
  const sent = capture({ event: "slow", distinct_id: "u" });
  const { answer } = await settle({ idle_ms: 0, ...(which === "of the project" && { project: sim.projectId }) });
  const seen = await sim.events.list();
  expect(seen.map((it) => [it.event, it.seq])).toEqual([["slow", answer.cursor]]);
  await sent;
});

const neighbours: [name: string, effect: object][] = [
  ["latency", { latency: 60_000 }],
  ["hang", { socket: "hang" }],
];
test.each(neighbours)("a neighbour's request that hangs (%s) does not block", async (_, effect) => {
  const other = await newProject();
  await control(sim, "POST", "faults", { effect, match: { project: other.id, route: "capture" } });
  const end = new AbortController();
  const hanging = capture({ event: "a", distinct_id: "u" }, { key: other.api_key, signal: end.signal });
  const gone = expect(hanging).rejects.toMatchObject({ name: "AbortError" });
  await capture({ event: "own", distinct_id: "u" });
  const { status } = await settle({ project: sim.projectId, idle_ms: 5 });
  expect(status).toBe(200);
  end.abort();
  await gone;
});

test("what hangs blocks its own project, and all of them", async () => {
  const other = await newProject();
  await control(sim, "POST", "faults", { effect: { latency: 60_000 }, match: { project: other.id } });
  const end = new AbortController();
  const hanging = capture({ event: "a", distinct_id: "u" }, { key: other.api_key, signal: end.signal });
  const gone = expect(hanging).rejects.toMatchObject({ name: "AbortError" });
  for (const scope of [{ project: other.id }, {}]) {
    const { status, answer } = await settle({ ...scope, idle_ms: 0, timeout_ms: 20 });
    expect([status, answer.in_flight]).toEqual([409, 1]);
  }
  end.abort();
  await gone;
});

test("50 projects settle at once while another one is never quiet", async () => {
  const noisy = await newProject();
  const projects = await Promise.all(Array.from({ length: 50 }, newProject));
  let isOver = false;
  const noise = (async () => {
    let count = 0;
    while (!isOver) {
      await capture({ event: "noise", distinct_id: "n" }, { key: noisy.api_key });
      count++;
    }
    return count;
  })();
  const settled = await Promise.all(
    projects.map(async ({ id, api_key }) => {
      await capture({ event: "own", distinct_id: "u" }, { key: api_key });
      const { status } = await settle({ project: id, idle_ms: 20, timeout_ms: 15_000 });
      const { answer } = await control(sim, "GET", `events?project=${id}`);
      return [status, answer.events.length];
    }),
  );
  isOver = true;
  expect(await noise).toBeGreaterThan(0);
  expect(settled).toEqual(projects.map(() => [200, 1]));
});

test("a sim that closes ends it", async () => {
  const own = await startSim();
  await control(own, "GET", "info");
  const settling = control(own, "POST", "settle", { idle_ms: 60_000, timeout_ms: 60_000 });
  await own.close();
  expect((await settling).status).toBe(409);
});

describe("bodies that are wrong", () => {
  const bad: [body: unknown, pointer: string][] = [
    [{ idle_ms: -1 }, "/idle_ms"],
    [{ timeout_ms: 1e9 }, "/timeout_ms"],
    [{ idle: 5 }, "/idle"],
    [{ project: "one" }, "/project"],
    [{ project: 999_999 }, "/project"],
    [[], ""],
  ];
  test.each(bad)("%j", async (body, pointer) => {
    const { status, answer } = await control(sim, "POST", "settle", body);
    expect([status, answer.code, answer.pointer]).toEqual([400, "invalid_input", pointer]);
  });
});
