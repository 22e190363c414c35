import { beforeAll, expect, test } from "vitest";
import { openSim } from "../../support/sim.ts";

const headers = { authorization: "Bearer phx_sim_default", "content-type": "application/json" };

const { sim } = await openSim();
beforeAll(async () => {
  const batch = ["a", "b", "a"].map((event, i) => ({ event, distinct_id: `u${i}`, properties: { n: i } }));
  const body = JSON.stringify({ api_key: "phc_sim_default", batch });
  await fetch(`${sim.url}/batch/`, { method: "POST", headers, body });
});

async function ask(method: string, path: string, body?: object) {
  const answer = await fetch(`${sim.url}/api/projects/1/${path}`, {
    method,
    headers,
    ...(body && { body: JSON.stringify(body) }),
  });
  const json = (await answer.json()) as { id: number; results?: { event: string }[]; count?: number };
  return { status: answer.status, json };
}

const actionWith = async (steps: object[]): Promise<number> =>
  (await ask("POST", "actions/", { name: JSON.stringify(steps), steps })).json.id;

test("the events of an action are listed and counted", async () => {
  const id = await actionWith([{ event: "a", properties: [{ key: "n", type: "event", value: 0, operator: "gt" }] }]);
  const { json } = await ask("GET", `events/?action_id=${id}`);
  expect(json.results?.map((it) => it.event)).toEqual(["a"]);
  expect((await ask("GET", `actions/${id}/count/`)).json).toEqual({ count: 1 });
});

test("an action without steps, and none", async () => {
  const id = await actionWith([]);
  expect((await ask("GET", `actions/${id}/count/`)).json).toEqual({ count: 0 });
  expect((await ask("GET", `events/?action_id=${id}`)).status).toBe(400);
  expect((await ask("GET", "events/?action_id=999")).status).toBe(400);
  expect((await ask("GET", "events/?action_id=x")).status).toBe(400);
  expect((await ask("GET", "actions/999/count/")).status).toBe(404);
});
