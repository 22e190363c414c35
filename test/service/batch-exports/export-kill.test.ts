import { cpSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { type Sim, startSim } from "../../../src/index.ts";
import { uuidFor } from "../../support/documents.ts";
import { newFolder, post, startReady } from "../../support/phx-sim.ts";

/** `KILLS=100` for the soak; a few in the usual run. */
const kills = Number(process.env.KILLS ?? 8);
const patience = 120_000 + kills * 20_000;
const folder = newFolder();

const send = (url: string, method: string, path: string, body: object, key?: string) =>
  fetch(url + path, {
    method,
    headers: { "content-type": "application/json", ...(key && { authorization: `Bearer ${key}` }) },
    body: JSON.stringify(body),
  });

const capture = ({ url, apiKey }: Pick<Sim, "url" | "apiKey">, n: number) =>
  post(`${url}/capture/`, { api_key: apiKey, event: "seen", distinct_id: "u", uuid: uuidFor(n, "e") });

/** What the scheduled runs have exported: their intervals, and the events in their files. */
async function exported(sim: Sim) {
  const runs = (await sim.exports.runs({ limit: 1_000 })).reverse();
  const events = await Promise.all(
    runs.flatMap(({ id, files }) => files.map(async () => new TextDecoder().decode(await sim.exports.file(id)))),
  );
  return {
    intervals: runs.map((it) => [it.status, it.data_interval_start, it.data_interval_end]),
    events: events.flatMap((text) => text.split("\n").filter(Boolean)).map((line) => JSON.parse(line).uuid),
  };
}

const hours = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, i) => {
    const [start, end] = [from + i, from + i + 1].map((it) => `2026-03-04T${String(it).padStart(2, "0")}:00:00Z`);
    return ["Completed", start, end];
  });

/** What makes four hours due, and what performs the rest of them after a restart. */
const operations = [
  { name: "clock/advance, running", frozen: false, jump: [], path: "clock/advance", body: { by: "4h" } },
  { name: "clock/advance, frozen", frozen: true, jump: [], path: "clock/advance", body: { by: "4h" } },
  { name: "exports/tick", frozen: true, jump: [{ now: "2026-03-04T13:30:00Z" }], path: "exports/tick", body: {} },
];

describe.each(operations)("$name", ({ name, frozen, jump, path, body }) => {
  const origin = join(folder, name.replaceAll("/", "-"));
  beforeAll(async () => {
    await using sim = await startSim({ data: origin, clock: { now: "2026-03-04T09:30:00Z", frozen: true } });
    await send(
      sim.url,
      "POST",
      `/api/projects/${sim.projectId}/batch_exports/`,
      {
        name: "Hourly",
        interval: "hour",
        destination: { type: "S3", config: { bucket_name: "b", region: "r", prefix: "" } },
      },
      sim.personalApiKey,
    );
    await capture(sim, 1);
    await send(sim.url, "PUT", "/__sim/clock", { now: "2026-03-04T09:30:00Z", frozen });
  });

  test("killed at any change of a file: each interval and each event is exported once", {
    timeout: patience,
  }, async () => {
    const run = async (at: number) => {
      const data = `${origin}-${at}`;
      cpSync(origin, data, { recursive: true });
      const { sim, ready } = await startReady(["--quiet", "--data", data], {
        cwd: folder,
        env: { DISK: `kill:${at}` },
        nodeOptions: ["--import", join(import.meta.dirname, "../../support/disk.mjs")],
      });
      for (const clock of jump) await send(ready.url, "PUT", "/__sim/clock", clock);
      await fetch(`${ready.url}/__sim/exports`);
      sim.child.kill("SIGUSR2");
      await sim.says("stderr", /disk: on/);
      const isAnswered = await send(ready.url, "POST", `/__sim/${path}`, body).then(
        ({ ok }) => ok,
        () => false,
      );
      let changes = 0;
      if (isAnswered) {
        sim.child.kill("SIGUSR2");
        changes = Number((await sim.says("stderr", /disk: off after (\d+) changes/))[1]);
      }
      await sim.signal("SIGKILL");
      const notices: string[] = [];
      await using again = await startSim({ data, onNotice: (text) => notices.push(text) });
      await capture(again, 2);
      await send(again.url, "PUT", "/__sim/clock", { frozen: true });
      const { now } = (await again.clock.get()) as { now: string };
      await again.clock.advance(Date.parse("2026-03-04T15:30:00Z") - Date.parse(now));
      expect(await exported(again)).toEqual({ intervals: hours(9, 15), events: [1, 2].map((n) => uuidFor(n, "e")) });
      expect(notices).toEqual([]);
      return { isAnswered, changes };
    };
    const { changes, isAnswered } = await run(Number.POSITIVE_INFINITY);
    expect(isAnswered).toBe(true);
    for (let kill = 1; kill <= kills; kill++) await run(Math.ceil((kill * changes) / kills));
  });
});
