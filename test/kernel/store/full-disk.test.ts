import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { startSim } from "../../../src/index.ts";
import { endAll, newFolder, type Ready, startReady } from "../../support/phx-sim.ts";

afterEach(() => endAll());

interface Answer {
  status: number;
  json: Record<string, unknown>;
}

type Ask = (method: string, path: string, body?: object) => Promise<Answer>;

const askerOf =
  ({ url, personal_api_key }: Pick<Ready, "url" | "personal_api_key">): Ask =>
  async (method, path, body) => {
    const headers = { authorization: `Bearer ${personal_api_key}`, "content-type": "application/json" };
    const init = body === undefined ? { method, headers } : { method, headers, body: JSON.stringify(body) };
    const response = await fetch(url + path, init);
    const text = await response.text();
    return { status: response.status, json: text.startsWith("{") ? JSON.parse(text) : {} };
  };

const capture = (ask: Ask, event: string, properties: object, distinct_id = "ann") =>
  ask("POST", "/capture/", { api_key: "phc_sim_default", event, distinct_id, properties });

const identify = { $anon_distinct_id: "anon", $set: { plan: "max" } };
const company = { $group_type: "company", $group_key: "acme", $group_set: { tier: "silver" } };

/** Every kind of write. The disk refuses them one after the other. */
const writes: readonly [name: string, write: (ask: Ask, state: object) => Promise<Answer>][] = [
  ["a person's property", (ask) => capture(ask, "$set", { $set: { plan: "max" } })],
  ["a new person", (ask) => capture(ask, "seen", { $set: { plan: "free" } }, "eve")],
  ["a merge", (ask) => capture(ask, "$identify", identify)],
  ["a group's property", (ask) => capture(ask, "$groupidentify", company)],
  ["a new group type", (ask) => capture(ask, "$groupidentify", { ...company, $group_type: "team" })],
  [
    "a batch",
    (ask) => ask("POST", "/batch/", { api_key: "phc_sim_default", batch: [{ event: "a", distinct_id: "b" }] }),
  ],
  ["a dashboard", (ask) => ask("POST", "/api/projects/1/dashboards/", { name: "two" })],
  ["a change of a dashboard", (ask) => ask("PATCH", "/api/projects/1/dashboards/2/", { name: "other" })],
  ["a flag's override", (ask) => ask("PUT", "/__sim/flags/x", { value: true, force: true })],
  ["a test's project", (ask) => ask("POST", "/__sim/projects", {})],
  ["clearing events", (ask) => ask("DELETE", "/__sim/events")],
  ["a snapshot", (ask) => ask("POST", "/__sim/snapshots", { name: "other" })],
  ["a restore", (ask) => ask("POST", "/__sim/snapshots/empty/restore", {})],
  ["an import", (ask, state) => ask("PUT", "/__sim/state", state)],
  ["a reset", (ask) => ask("POST", "/__sim/reset", {})],
  ["a reset of a project", (ask) => ask("POST", "/__sim/reset", { project: 1 })],
  ["the clock", (ask) => ask("PUT", "/__sim/clock", { now: "2030-01-01T00:00:00Z" })],
];

/** All that is kept, without the counters of numbers that a refused write took. */
async function seen(ask: Ask): Promise<unknown> {
  const { json: state } = await ask("GET", "/__sim/state");
  const { sequences: _, ...world } = state.world as Record<string, unknown>;
  const { json: events } = await ask("GET", "/__sim/events");
  const { json: snapshots } = await ask("GET", "/__sim/snapshots");
  const { json: info } = await ask("GET", "/__sim/info");
  const people = state.people;
  return { world, people, events: events.events, snapshots, counts: info.counts };
}

test.each([
  ["ENOSPC", "the disk is full"],
  ["EDQUOT", "the disk quota is used up"],
  ["EIO", "the disk reports an input/output error"],
  ["EROFS", "the file system is read-only"],
])("%s: what is refused changes nothing, and one line says so", async (code, reason) => {
  const data = join(newFolder(), "data");
  const { sim, ready } = await startReady(["--quiet", "--data", data], {
    cwd: newFolder(),
    env: { DISK: `refuse:${code}` },
    nodeOptions: ["--import", join(import.meta.dirname, "../../support/disk.mjs")],
  });
  const ask = askerOf(ready);
  const { json: empty } = await ask("GET", "/__sim/state");
  await ask("POST", "/__sim/snapshots", { name: "empty" });
  await capture(ask, "seen", {}, "anon");
  await capture(ask, "signed_up", { $set: { plan: "pro" } });
  await capture(ask, "$groupidentify", { ...company, $group_set: { tier: "gold" } });
  await ask("POST", "/api/projects/1/dashboards/", { name: "one" });
  const before = await seen(ask);

  sim.child.kill("SIGUSR2");
  await sim.says("stderr", /disk: on/);
  for (const [name, write] of writes) {
    const { status, json } = await write(ask, empty);
    expect([name, status, json.code ?? "storage_failed"]).toEqual([name, 503, "storage_failed"]);
    expect([name, await seen(ask)]).toEqual([name, before]);
  }

  sim.child.kill("SIGUSR2");
  await sim.says("stderr", /disk: off/);
  expect((await ask("POST", "/api/projects/1/dashboards/", { name: "two" })).status).toBe(201);
  expect((await capture(ask, "$identify", identify)).status).toBe(200);
  const after = await seen(ask);
  const { stderr } = await sim.signal("SIGKILL");
  const lines = stderr.split("\n").filter((line) => !line.startsWith("disk: ") && line !== "");
  expect(lines).toEqual([
    `phx-sim: the data folder ${data} cannot be written: ${reason}; requests are refused with 503 and change nothing`,
  ]);

  await using again = await startSim({ data });
  expect(await seen(askerOf({ url: again.url, personal_api_key: again.personalApiKey }))).toEqual(after);
  expect((await again.persons.list()).map((it) => it.distinct_ids)).toEqual([["ann", "anon"]]);
});
