import { cpSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Sim, startSim } from "../../src/index.ts";
import { endAll, newFolder, post, removeFolders, startReady } from "./phx-sim.ts";

/** `KILLS=200` for the soak; a few in the usual run. */
const kills = Number(process.env.KILLS ?? 12);
/** More changes of files than each operation makes: the last kills come after its answer. */
const changes = 44;

const folder = newFolder();
const origin = join(folder, "origin");

afterAll(async () => {
  await endAll();
  removeFolders();
});

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
    await post(`${url}/capture/`, {
      api_key: apiKey,
      event: "$identify",
      distinct_id: `${tag}-${i}`,
      properties,
    });
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
          nodeOptions: ["--import", join(import.meta.dirname, "disk.mjs")],
        });
        sim.child.kill("SIGUSR2");
        await sim.says("stderr", /disk: on/);
        const answer = await it.start(ready.url).catch(() => undefined);
        await sim.signal("SIGKILL");
        return { isAnswered: answer !== undefined, ...(await seenIn(data)) };
      };
      const { state: after } = await run(0, Number.POSITIVE_INFINITY);
      expect(after).not.toEqual(before);
      const count = Math.ceil(kills / 5);
      const outcomes = { before: 0, after: 0 };
      for (let kill = 1; kill <= count; kill++) {
        const { state, isAnswered, notices } = await run(kill, Math.ceil(((kill - 0.5) * changes) / count));
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
    600_000,
  );
});
