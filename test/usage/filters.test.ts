import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { type Sim, startSim } from "../../src/index.ts";
import { blocksOf } from "../support/docs.ts";
import { inShell } from "./live/shell.ts";

const run = promisify(execFile);

/** Sign-ups that fit the examples and some that do not, and a request that is rejected. */
async function fill(sim: Sim): Promise<void> {
  const batch = [
    { event: "signed_up", distinct_id: "anna", properties: { plan: "pro", amount: 49 } },
    { event: "signed up", distinct_id: "bert", properties: { plan: "pro", amount: 12 } },
    { event: "signed_up", distinct_id: "cleo", properties: { plan: "free", amount: 0 } },
    { event: "signed_up", properties: { plan: "pro", amount: 49 } },
  ];
  await post(sim, "/batch/", { api_key: sim.apiKey, batch });
  await post(sim, "/batch/", { batch });
}

const post = (sim: Sim, path: string, body: object): Promise<Response> =>
  fetch(sim.url + path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });

test("events and requests by a filter", async () => {
  await using sim = await startSim();
  await fill(sim);

  const big = await sim.events.list({ filter: 'event:signed_up,"signed up" prop.amount:>10' });
  expect(big.map((it) => it.distinct_id)).toEqual(["anna", "bert", ""]);

  const failed = await sim.requests.list({ filter: "status:>=400 -route:/flags" });
  expect(failed.map((it) => it.status)).toEqual([400]);
});

test("the filters in a shell", async () => {
  await using sim = await startSim();
  await fill(sim);
  const [example = ""] = blocksOf("docs/events.md", "sh", "events list --filter");
  const { stdout } = await run(...inShell(example, sim.url));
  const [listed = "", answer = ""] = stdout.split(/\n(?=\{)/);
  expect(listed.split("\n")).toHaveLength(2);
  expect(listed).toMatch(/anna[\s\S]*bert/);
  expect(JSON.parse(answer).requests).toMatchObject([{ status: 400, outcome: "rejected" }]);
});
