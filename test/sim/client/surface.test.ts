import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { capture, ends, held } from "./ends.ts";

const members = [
  "answers",
  "apiKey",
  "clock",
  "close",
  "env",
  "events",
  "exports",
  "faults",
  "flags",
  "groups",
  "host",
  "info",
  "inspectorUrl",
  "persons",
  "personalApiKey",
  "project",
  "projectId",
  "requests",
  "reset",
  "restore",
  "secretApiKey",
  "settle",
  "snapshot",
  "snapshots",
  "state",
  "url",
].sort();

describe.each(ends)("a sim, $end", (end) => {
  test("has what every one has", async () => {
    await using it = await held(end);
    expect(Object.keys(it.client)).toEqual(expect.arrayContaining(members));
    const { sim } = it;
    expect(it.client).toMatchObject({
      url: sim.url,
      host: sim.url,
      inspectorUrl: `${sim.url}/__sim/`,
      apiKey: sim.apiKey,
      secretApiKey: sim.secretApiKey,
      personalApiKey: sim.personalApiKey,
      projectId: sim.projectId,
    });
    expect(await it.client.info()).toMatchObject({ name: "phx-sim", url: sim.url, project_api_key: sim.apiKey });
  });

  test("requests: those that were answered, rejected, and to nowhere", async () => {
    await using it = await held(end);
    await capture(it.sim, "a");
    await fetch(`${it.sim.url}/batch/`, { method: "POST", body: "{", headers: { "x-test-id": "t1" } });
    await fetch(`${it.sim.url}/api/no/such/path/`);
    const { requests } = it.client;
    expect((await requests.list()).map(({ n }) => n)).toEqual([3, 2, 1]);
    expect((await requests.list({ limit: 1 })).map(({ n }) => n)).toEqual([3]);
    expect((await requests.list({ partition: "t1" })).map(({ n }) => n)).toEqual([2]);
    expect((await requests.list({ outcome: "answered" })).map(({ n }) => n)).toEqual([1]);
    expect(await requests.unmatched()).toMatchObject([{ n: 3, target: "/api/no/such/path/" }]);
    expect(await requests.get(1)).toMatchObject({ n: 1, status: 200, carried: [{ event: "a" }] });
    await expect(requests.get(99)).rejects.toMatchObject({ code: "not_found", status: 404 });
    const { log } = await requests.har();
    expect(log).toMatchObject({ version: "1.2", entries: { length: 3 } });
  });

  test("persons and groups", async () => {
    await using it = await held(end);
    const group = { $group_type: "company", $group_key: "acme", $group_set: { tier: "gold" } };
    await capture(it.sim, "a", { event: "$groupidentify", properties: group });
    expect(await it.client.persons.list({ distinct_id: "u1" })).toMatchObject([{ distinct_ids: ["u1"] }]);
    expect(await it.client.persons.get("u1")).toMatchObject({ distinct_ids: ["u1"], history: [] });
    expect(await it.client.persons.get("no one/at all")).toBeUndefined();
    expect(await it.client.groups.list()).toMatchObject([{ key: "acme", properties: { tier: "gold" } }]);
  });

  test("clock, state and snapshots", async () => {
    await using it = await held(end);
    await it.client.snapshot("empty");
    await capture(it.sim, "a");
    expect((await it.client.restore("empty")).events).toBe(0);
    await it.client.clock.freeze("2026-03-04T00:00:00Z");
    await it.client.clock.advance("1h");
    expect(await it.client.clock.now()).toEqual(new Date("2026-03-04T01:00:00Z"));
    await it.client.reset();
    await it.client.settle({ idleMs: 0 });
    expect(await it.client.exports.list()).toEqual([]);
  });
});

const lateFiles = [
  "kernel/http/shape-errors",
  "lab/scenario/persona-file",
  ...["batches", "generate", "plan", "shapes"].map((it) => `lab/generate/${it}`),
];

test("the client alone loads neither the server nor anything from npm", async () => {
  const built = await promisify(execFile)(
    // a script or a binary, as esbuild was installed
    join(import.meta.dirname, "../../../node_modules/esbuild/bin/esbuild"),
    [
      join(import.meta.dirname, "../../../src/sim/client/connect.ts"),
      "--bundle",
      "--platform=node",
      "--format=cjs",
      "--packages=external",
      // `sim.generate` imports these when it is called
      ...lateFiles.map((it) => `--external:*/${it}.ts`),
      "--log-level=error",
    ],
    { maxBuffer: 2 ** 25 },
  );
  expect(built.stdout).not.toMatch(/import\.meta|require\("(?!node:)/);
  const modules = [...built.stdout.matchAll(/^\/\/ (src\/.*)/gm)].map(([, path = ""]) => path);
  expect(modules).toContainEqual(expect.stringMatching(/\/client\/connect\.ts$/));
  const server = /^src\/(cli|service\/(capture|management)|sim\/(server\/|[\w-]+\.ts)|kernel\/store|state\/documents)/;
  expect(modules.filter((path) => server.test(path))).toEqual([]);
});
