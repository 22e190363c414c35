import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Sim, startSim } from "../../src/index.ts";

// Queries whose right answer a source of the service gives; each goes over HTTP.

const key = "phc_rows";
const headers = { authorization: "Bearer phx_rows", "content-type": "application/json" };

let sim: Sim;
beforeAll(async () => {
  sim = await startSim({
    scenario: {
      version: 1,
      organizations: [{ name: "Org", projects: [{ id: 1, name: "App", api_key: key }] }],
      personal_api_keys: [{ key: "phx_rows", scopes: ["*"] }],
    },
  });
  const o = { k: { z: "deep", n: 5, list: ["a", "b"] }, t: "flat" };
  const batch = [
    {
      event: "a",
      distinct_id: "u",
      properties: { o, tags: ["x", "y"], n: 1, $session_id: "s1", $set: { o } },
    },
    { event: "a", distinct_id: "u", properties: { n: 2, $session_id: "s1", $groups: { company: "acme" } } },
    { event: "b", distinct_id: "v", properties: { n: 3 } },
    { event: "b", distinct_id: "v", properties: { n: 4, $session_id: null } },
    { event: "b", distinct_id: "v", properties: { n: 5, $session_id: "" } },
    {
      event: "$groupidentify",
      distinct_id: "u",
      properties: { $group_type: "company", $group_key: "acme", $group_set: { o } },
    },
  ];
  await fetch(`${sim.url}/batch/`, {
    method: "POST",
    headers,
    body: JSON.stringify({ api_key: key, batch }),
  });
});
afterAll(() => sim.close());

interface Answer {
  results: unknown[][];
  columns?: string[];
  detail?: string;
}

async function ask(query: object, status = 200): Promise<Answer> {
  const body = JSON.stringify({ query });
  const answer = await fetch(`${sim.url}/api/projects/1/query/`, { method: "POST", headers, body });
  const json = (await answer.json()) as Answer;
  expect(answer.status, JSON.stringify(json)).toBe(status);
  return json;
}

const rows = async (query: string): Promise<unknown[][]> =>
  (await ask({ kind: "HogQLQuery", query })).results;
const refusal = async (query: string): Promise<string | undefined> =>
  (await ask({ kind: "HogQLQuery", query }, 400)).detail;

describe("JSON functions below a JSON column", () => {
  test.each([
    ["JSONExtractString(properties.o, 'k', 'z')", "deep"],
    ["JSONExtractString(properties.o.k, 'z')", "deep"],
    ["JSONExtractString(properties, 'o', 'k', 'z')", "deep"],
    ["JSONExtractString(properties.o, 't')", "flat"],
    ["JSONExtractInt(properties.o, 'k', 'n')", 5],
    ["JSONExtractFloat(properties.o.k, 'n')", 5],
    ["JSONHas(properties.o, 'k', 'z')", 1],
    ["JSONHas(properties.o, 'z')", 0],
    ["JSONLength(properties.o, 'k', 'list')", 2],
    ["JSONExtractRaw(properties.o, 'k', 'list')", '["a","b"]'],
    ["JSONExtractArrayRaw(properties.o.k, 'list')", ['"a"', '"b"']],
    ["JSONExtractKeys(properties.o, 'k')", ["z", "n", "list"]],
    ["JSONExtract(properties.o, 'k', 'n', 'Int')", 5],
    ["JSONExtractString(person.properties.o, 'k', 'z')", "deep"],
    ["JSONExtractString(e.properties.o, 'k', 'z')", "deep"],
    ["properties.tags[1]", "x"],
    ["properties.tags.2", "y"],
  ])("%s", async (expression, value) => {
    expect(await rows(`select ${expression} from events e where properties.n = 1`)).toEqual([[value]]);
  });

  test("of a group", async () => {
    const found =
      "select JSONExtractString(group_0.properties.o, 'k', 'z') from events where properties.n = 2";
    expect(await rows(found)).toEqual([["deep"]]);
  });

  test.each([
    ["properties.tags[0]", "SQL indexes start from one, not from zero. E.g: array[1]"],
    ["[1, 2][0]", "SQL indexes start from one, not from zero. E.g: array[1]"],
    ["properties.tags.0", "SQL indexes start from one, not from zero. E.g: array.1"],
    ["(1, 2).0", "SQL indexes start from one, not from zero. E.g: array.1"],
  ])("%s is refused", async (expression, text) => {
    expect(await refusal(`select ${expression} from events`)).toContain(text);
  });
});

describe("functions", () => {
  test.each([
    ["arrayReverseSort([2, 3, 1])", [1, 2, 3]],
    ["arraySort([2, 3, 1])", [1, 2, 3]],
  ])("%s", async (expression, value) => {
    expect(await rows(`select ${expression}`)).toEqual([[value]]);
  });

  test.each([
    ["hour", "2026-11-01 00:00:00", "2026-11-02 00:00:00", 25],
    ["minute", "2026-11-01 00:00:00", "2026-11-02 00:00:00", 1500],
    ["second", "2026-11-01 00:00:00", "2026-11-02 00:00:00", 90_000],
    ["day", "2026-11-01 00:00:00", "2026-11-02 00:00:00", 1],
    ["hour", "2026-03-08 00:00:00", "2026-03-09 00:00:00", 23],
    ["hour", "2026-03-08 00:59:00", "2026-03-08 01:01:00", 1],
  ])("dateDiff of %s over a change of the clocks", async (unit, from, to, value) => {
    const time = (text: string) => `toDateTime('${text}', 'America/New_York')`;
    expect(await rows(`select dateDiff('${unit}', ${time(from)}, ${time(to)})`)).toEqual([[value]]);
  });

  test("an hour of India begins at half past of the world's", async () => {
    const time = (text: string) => `toDateTime('${text}', 'Asia/Kolkata')`;
    const query = `select dateDiff('hour', ${time("2026-01-01 00:59:00")}, ${time("2026-01-01 01:01:00")})`;
    expect(await rows(query)).toEqual([[1]]);
  });
});

describe("events without a session", () => {
  test("are none of the distinct ones", async () => {
    expect(await rows("select count(distinct $session_id), uniq($session_id) from events")).toEqual([[1, 1]]);
    expect(await rows("select count() from events where $session_id is null")).toEqual([[4]]);
  });

  test("count in no unique_session", async () => {
    const series = [{ kind: "EventsNode", event: null, math: "unique_session" }];
    const { results } = await ask({ kind: "TrendsQuery", series, trendsFilter: { display: "BoldNumber" } });
    expect(results).toMatchObject([{ aggregated_value: 1 }]);
  });
});
