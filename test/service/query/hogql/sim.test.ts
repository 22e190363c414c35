import { beforeAll, expect, test } from "vitest";
import { openSim } from "../../../support/sim.ts";

const { sim } = await openSim({ scenario: { clock: { now: "2026-01-02T10:00:00Z", frozen: true } } });
beforeAll(async () => {
  const batch = [
    { event: "$identify", distinct_id: "ann", properties: { $set: { email: "ann@shop.test" } } },
    {
      event: "paid",
      distinct_id: "ann",
      uuid: "0190b6a0-0000-7000-8000-000000000001",
      properties: { amount: 5, $groups: { company: "acme" }, $session_id: "s1" },
    },
    {
      event: "$groupidentify",
      distinct_id: "ann",
      properties: { $group_type: "company", $group_key: "acme", $group_set: { name: "Acme" } },
    },
    {
      event: "$autocapture",
      distinct_id: "bob",
      properties: { $elements_chain: 'a:href="/x"nth-child="1"text="Go";div:nth-child="2"' },
    },
  ];
  await fetch(`${sim.url}/batch/`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ api_key: "phc_sim_default", batch }),
  });
});

async function query(text: string): Promise<{ status: number; body: Record<string, unknown> }> {
  const response = await fetch(`${sim.url}/api/projects/1/query/`, {
    method: "POST",
    headers: { authorization: "Bearer phx_sim_default", "content-type": "application/json" },
    body: JSON.stringify({ query: { kind: "HogQLQuery", query: text } }),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

test("captured events, their people and sessions", async () => {
  const time = "2026-01-02T10:00:00Z";
  const rows = async (text: string) => (await query(text)).body.results;
  expect(await rows("select * from events where event = 'paid'")).toEqual([
    [
      ...["0190b6a0-0000-7000-8000-000000000001", "paid", expect.stringContaining('"amount":5'), time, "ann", ""],
      ...[time, "s1", "", "full", "acme", "", "", "", "", "", [], [], []],
    ],
  ]);
  expect(
    await rows(
      "select elements_chain_href, elements_chain_texts, elements_chain_elements from events where event = '$autocapture'",
    ),
  ).toEqual([["/x", ["Go"], ["a"]]]);
  expect(
    await rows(
      "select person.properties.email, group_0.properties.name, session.$session_duration from events where event = 'paid'",
    ),
  ).toEqual([["ann@shop.test", "Acme", 0]]);
  expect(await rows("select properties.email from persons where properties.email is not null")).toEqual([
    ["ann@shop.test"],
  ]);
  expect(await rows("select key, properties.name from groups")).toEqual([["acme", "Acme"]]);
  expect(await rows("select count(distinct person_id), countIf(event like '$%') from events")).toEqual([[2, 3]]);
});

test("a refused query", async () => {
  expect(await query("select nothing from events")).toEqual({
    status: 400,
    body: {
      type: "validation_error",
      code: "invalid_input",
      detail: "Unable to resolve field: nothing (line 1, column 8)",
      attr: null,
    },
  });
});
