import { statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Sim, startSim } from "../../../src/index.ts";
import { newFolder } from "../../support/folder.ts";

const sizes = (folder: string): number[] =>
  ["requests.idx", "events.idx"].map((name) => statSync(join(folder, name)).size);

const capture = (sim: Sim, text: string): Promise<Response> =>
  sim.handle(
    new Request(`${sim.url}/capture/`, {
      method: "POST",
      body: JSON.stringify({ api_key: sim.apiKey, event: "e", distinct_id: "u", properties: { text } }),
    }),
  );

test("the traffic's sidecars are saved at the end", async () => {
  const data = newFolder();
  const sim = await startSim({ data });
  expect((await capture(sim, "x")).status).toBe(200);
  await sim.close();
  const [requests = 0, events = 0] = sizes(data);
  expect(requests).toBeGreaterThan(0);
  expect(events).toBeGreaterThan(0);
});

test("they are saved while the sim runs, once the log has grown by 16 MB", async () => {
  const data = newFolder();
  await using sim = await startSim({ data });
  for (const _ of [1, 2]) expect((await capture(sim, "x".repeat(9_000_000))).status).toBe(200);
  await expect.poll(() => Math.min(...sizes(data))).toBeGreaterThan(0);
});
