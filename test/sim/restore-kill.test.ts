import { cpSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { type Sim, startSim } from "../../src/index.ts";
import { newFolder, type Process, post, startReady } from "../support/phx-sim.ts";

/** `KILLS=200` for the soak; a few in the usual run. */
const kills = Number(process.env.KILLS ?? 12);
const patience = 180_000 + kills * 20_000;
/** From the first change of a file to the one after the last, which never comes: the operation is done. */
const spread = (kill: number, count: number, changes: number): number =>
  1 + Math.round(((kill - 1) * changes) / (count - 1));

/** How many changes of files a process made since `disk: on`; the number depends on the version of Node. */
async function changesOf({ child, says }: Process): Promise<number> {
  child.kill("SIGUSR2");
  const [, count] = await says("stderr", /disk: off after (\d+) changes/);
  return Number(count);
}

const folder = newFolder();
const origin = join(folder, "origin");

const send = (url: string, method: string, path: string, body: object, key?: string) =>
  fetch(url + path, {
    method,
    headers: { "content-type": "application/json", ...(key && { authorization: `Bearer ${key}` }) },
    body: JSON.stringify(body),
  });

/** Persons, events and documents that belong together. */
async function live({ url, projectId, personalApiKey, apiKey }: Sim, tag: string): Promise<void> {
  for (let i = 0; i < 5; i++) {
    const properties = { $set: { tag }, $anon_distinct_id: `anon-${tag}-${i}` };
    await post(`${url}/capture/`, { api_key: apiKey, event: "$identify", distinct_id: `${tag}-${i}`, properties });
  }
  await send(url, "POST", `/api/projects/${projectId}/dashboards/`, { name: tag }, personalApiKey);
}

/** What can be seen of each store. */
async function seen(sim: Sim): Promise<unknown> {
  const { world } = (await sim.state.export()) as unknown as { world: { dashboards: { name: string }[] } };
  return {
    events: (await sim.events.list()).map((it) => it.distinct_id),
    persons: (await sim.persons.list()).map((it) => [it.distinct_ids, it.properties]),
    dashboards: world.dashboards.map((it) => it.name),
  };
}

/** What a sim sees that starts on the folder, with what it reports. */
async function seenIn(data: string): Promise<{ state: unknown; notices: string[] }> {
  const notices: string[] = [];
  await using sim = await startSim({ data, onNotice: (text) => notices.push(text) });
  return { state: await seen(sim), notices };
}

const operations: readonly { name: string; start: (url: string) => Promise<unknown> }[] = [
  { name: "restore", start: (url) => send(url, "POST", "/__sim/snapshots/first/restore", {}) },
  { name: "import", start: (url) => send(url, "PUT", "/__sim/state", stateToImport) },
  { name: "reset", start: (url) => send(url, "POST", "/__sim/reset", {}) },
];
let stateToImport: object = {};

describe.each([true, false])("with a snapshot: %s", (hasSnapshot) => {
  const folderOf = `${origin}-${hasSnapshot}`;
  let before: unknown;
  beforeAll(async () => {
    const sim = await startSim({ data: folderOf });
    await live(sim, "first");
    stateToImport = await sim.state.export();
    if (hasSnapshot) await sim.snapshot("first");
    await live(sim, "second");
    await sim.close();
    before = (await seenIn(folderOf)).state;
  });

  const usual = operations.filter(({ name }) => hasSnapshot || name !== "restore");
  test.each(usual)(
    "$name, killed at every change of a file: before or after, never between",
    async (it) => {
      const place = (kill: number) => join(folder, `${hasSnapshot}-${it.name}-${kill}`);
      const run = async (kill: number, at: number) => {
        const data = place(kill);
        cpSync(folderOf, data, { recursive: true });
        const { sim, ready } = await startReady(["--quiet", "--data", data], {
          cwd: folder,
          env: { DISK: `kill:${at}` },
          nodeOptions: ["--import", join(import.meta.dirname, "../support/disk.mjs")],
        });
        sim.child.kill("SIGUSR2");
        await sim.says("stderr", /disk: on/);
        const answer = await it.start(ready.url).catch(() => undefined);
        const changes = at === Number.POSITIVE_INFINITY ? await changesOf(sim) : 0;
        await sim.signal("SIGKILL");
        return { isAnswered: answer !== undefined, changes, ...(await seenIn(data)) };
      };
      const { state: after, changes } = await run(0, Number.POSITIVE_INFINITY);
      expect(after).not.toEqual(before);
      const count = Math.ceil(kills / 5);
      const outcomes = { before: 0, after: 0 };
      for (let kill = 1; kill <= count; kill++) {
        const { state, isAnswered, notices } = await run(kill, spread(kill, count, changes));
        const isAfter = JSON.stringify(state) === JSON.stringify(after);
        expect(isAfter ? after : before).toEqual(state);
        expect(isAnswered && !isAfter).toBe(false);
        expect(notices).toEqual([]);
        outcomes[isAfter ? "after" : "before"]++;
      }
      expect(outcomes.before + outcomes.after).toBe(count);
      expect(outcomes.before).toBeGreaterThan(0);
      expect(outcomes.after).toBeGreaterThan(0);
    },
    patience,
  );
});

describe("a folder over its limit", () => {
  const data = join(folder, "large");
  const large = { event: "large", distinct_id: "u", properties: { pad: "x".repeat(10_000) } };
  beforeAll(async () => {
    await using sim = await startSim({ data });
    for (let i = 0; i < 90; i++) await post(`${sim.url}/capture/`, { api_key: sim.apiKey, ...large });
  });

  test(
    "killed at every change of a file while it is trimmed: nothing is lost but the oldest requests",
    async () => {
      const run = async (kill: number, at: number) => {
        const copy = join(folder, `large-${kill}`);
        cpSync(data, copy, { recursive: true });
        const { sim, ready } = await startReady(["--quiet", "--keep", "1MB", "--data", copy], {
          cwd: folder,
          env: { DISK: `kill:${at}` },
          nodeOptions: ["--import", join(import.meta.dirname, "../support/disk.mjs")],
        });
        sim.child.kill("SIGUSR2");
        await sim.says("stderr", /disk: on/);
        const batch = { api_key: ready.project_api_key, batch: Array.from({ length: 20 }, () => large) };
        const isKept = await post(`${ready.url}/batch/`, batch).then(
          () => true,
          () => false,
        );
        while (await isWhole(ready.url));
        const changes = at === Number.POSITIVE_INFINITY ? await changesOf(sim) : 0;
        await sim.signal("SIGKILL");
        return { copy, isKept, changes };
      };
      const { changes } = await run(0, Number.POSITIVE_INFINITY);
      const outcomes = { whole: 0, trimmed: 0 };
      const count = Math.ceil(kills / 3);
      for (let kill = 1; kill <= count; kill++) {
        const { copy, isKept } = await run(kill, spread(kill, count, changes));
        const notices: string[] = [];
        await using again = await startSim({ data: copy, onNotice: (text) => notices.push(text) });
        const seqs = (await again.events.list({ limit: 1_000 })).map((it) => it.seq);
        const [first = 0, last = 0] = [seqs[0], seqs.at(-1)];
        expect(seqs).toEqual(Array.from({ length: last - first + 1 }, (_, i) => first + i));
        expect(isKept ? [110] : [90, 110]).toContain(last);
        expect(notices).toEqual([]);
        expect(seqs.length).toBeGreaterThan(50);
        outcomes[first > 1 ? "trimmed" : "whole"]++;
      }
      expect(outcomes.whole).toBeGreaterThan(0);
      expect(outcomes.trimmed).toBeGreaterThan(0);
    },
    patience,
  );

  /** Has it all requests? False, too, once the process has ended. */
  const isWhole = (url: string): Promise<boolean> =>
    fetch(`${url}/__sim/info`)
      .then((answer) => answer.json())
      .then(
        (info) => (info as { counts: { evicted_requests: number } }).counts.evicted_requests === 0,
        () => false,
      );
});
