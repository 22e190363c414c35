import { beforeAll, describe, expect, test } from "vitest";
import { openSim } from "../../support/sim.ts";

// Queries whose right answer a source of the service gives; each goes over HTTP.

const key = "phc_rows";
const headers = { authorization: "Bearer phx_rows", "content-type": "application/json" };

const { sim } = await openSim({
  scenario: {
    version: 1,
    organizations: [{ name: "Org", projects: [{ id: 1, name: "App", api_key: key }] }],
    personal_api_keys: [{ key: "phx_rows", scopes: ["*"] }],
  },
});
const anHourAgo = new Date(Date.now() - 3_600_000).toISOString();

beforeAll(async () => {
  const o = { k: { z: "deep", n: 5, list: ["a", "b"] }, t: "flat" };
  const batch = [
    { event: "a", distinct_id: "u", properties: { o, tags: ["x", "y"], n: 1, $session_id: "s1", $set: { o } } },
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
    // a number "until now" ends with the last full second
    body: JSON.stringify({ api_key: key, batch: batch.map((it) => ({ ...it, timestamp: anHourAgo })) }),
  });
});

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

const rows = async (query: string): Promise<unknown[][]> => (await ask({ kind: "HogQLQuery", query })).results;
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
    const found = "select JSONExtractString(group_0.properties.o, 'k', 'z') from events where properties.n = 2";
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

  test.each(["$session_duration", "$pageview_count"])("have no %s", async (key) => {
    const { results } = await ask({
      kind: "TrendsQuery",
      series: [{ kind: "EventsNode", event: "b" }],
      properties: [{ type: "session", key, value: 0, operator: "exact" }],
      trendsFilter: { display: "BoldNumber" },
    });
    expect(results).toMatchObject([{ aggregated_value: 0 }]);
  });

  test("count in no unique_session", async () => {
    const series = [{ kind: "EventsNode", event: null, math: "unique_session" }];
    const { results } = await ask({ kind: "TrendsQuery", series, trendsFilter: { display: "BoldNumber" } });
    expect(results).toMatchObject([{ aggregated_value: 1 }]);
  });
});

describe("EventsQuery", () => {
  test.each<[string[], object, unknown[][]]>([
    [
      ["event", "count()"],
      {},
      [
        ["b", 3],
        ["a", 2],
        ["$groupidentify", 1],
      ],
    ],
    [["count()"], {}, [[6]]],
    [["event", "count() -- Number"], { orderBy: ["event ASC"], limit: 1 }, [["$groupidentify", 1]]],
    [
      ["sum(properties.n)", "event"],
      { where: ["properties.n > 0"] },
      [
        [12, "b"],
        [3, "a"],
      ],
    ],
    [["event", "uniq(person_id)"], { event: "a" }, [["a", 1]]],
  ])("groups %j", async (select, more, results) => {
    expect(await ask({ kind: "EventsQuery", select, ...more })).toMatchObject({ results, columns: select });
  });

  test("refuses a column that cannot be grouped", async () => {
    expect((await ask({ kind: "EventsQuery", select: ["person", "count()"] }, 400)).detail).toContain("person");
  });
});

describe("names", () => {
  test.each([
    ["NOT (1 = 2)", true],
    ["ROUND(1.5)", 2],
    ["ABS(-1)", 1],
    ["Upper('a')", "A"],
    ["CONCAT('a', 'b')", "ab"],
    ["If(1 = 1, 2, 3)", 2],
    ["COALESCE(NULL, 4)", 4],
    ["IsNull(NULL)", 1],
  ])("%s is found in any case", async (expression, value) => {
    const [[found] = []] = await rows(`select ${expression}`);
    expect(found === true || found === 1 ? Number(found) : found).toBe(value === true ? 1 : value);
  });

  test.each(["ToString(1)", "ARRAYMAP(x -> x, [1])", "JSONEXTRACTSTRING('{}', 'a')", "Repeat('a', 2)"])(
    "%s is not",
    async (expression) => {
      expect(await refusal(`select ${expression}`)).toMatch(/Unsupported function|not emulated/);
    },
  );

  test.each([
    ["arrayIntersect([1], [2])", "The function arrayIntersect is not emulated"],
    ["map('a', 1)", "The function map is not emulated"],
    ["toWeek(now())", "The function toWeek is not emulated"],
    ["medianTimingIf(1, 1)", "The function medianTimingIf is not emulated"],
    ["windowFunnel(3)(timestamp, event = 'a')", "The function windowFunnel is not emulated"],
    ["h3ToGeo(1)", "The function h3ToGeo is not emulated"],
    ["toStrin(1)", "Unsupported function call 'toStrin(...)'"],
  ])("%s", async (expression, text) => {
    expect(await refusal(`select ${expression} from events`)).toContain(text);
  });

  test("a table of the service that the sim does not have is named so", async () => {
    expect(await refusal("select 1 from system.tables")).toContain("The table system.tables is not emulated");
  });
});

describe("tables made of others", () => {
  test.each([
    "with e as (select event, properties from events) select properties.n from e where event = 'a'",
    "select s.properties.n from (select * from events) s where event = 'a'",
    "select p.n from (select event, properties as p from events) where event = 'a'",
    "select properties.n from (select properties from (select * from events) where event = 'a')",
  ])("%s", async (query) => {
    expect(await rows(query)).toEqual([["1"], ["2"]]);
  });

  test("JSON functions of such a column", async () => {
    const query =
      "select p.o.k.z, p['tags'][2], JSONExtractString(p, 'o', 't') from (select properties as p from events) where p.n = '1'";
    expect(await rows(query)).toEqual([["deep", "y", "flat"]]);
  });

  test.each(["persons", "groups", "sessions"])("select * from %s", async (table) => {
    const { results, columns } = await ask({ kind: "HogQLQuery", query: `select * from ${table}` });
    expect(results.length).toBeGreaterThan(0);
    expect(columns).not.toContain("pdi");
  });
});

describe("elements", () => {
  const chain =
    'a.big.link:attr__class="big link"attr__href="/pricing"href="/pricing"nth-child="2"nth-of-type="1"text="See Pro";' +
    'li:nth-child="1"nth-of-type="1";nav.top:attr__id="menu"attr_id="menu"nth-child="1"nth-of-type="1";body:nth-child="2"nth-of-type="1"';
  const other = 'button:nth-child="1"nth-of-type="1"text="Buy";body:nth-child="2"nth-of-type="1"';

  beforeAll(async () => {
    const batch = [chain, other].map(($elements_chain) => ({
      event: "$autocapture",
      distinct_id: "clicker",
      // events of the current second are none of a trend yet
      timestamp: new Date(Date.now() - 5_000).toISOString(),
      properties: { $elements_chain, $session_id: "s-click", $current_url: "https://shop.example/start" },
    }));
    await fetch(`${sim.url}/batch/`, { method: "POST", headers, body: JSON.stringify({ api_key: key, batch }) });
  });

  const clicks = async (filter: object): Promise<number> => {
    const { results } = await ask({
      kind: "TrendsQuery",
      series: [{ kind: "EventsNode", event: "$autocapture", properties: [{ type: "element", ...filter }] }],
      trendsFilter: { display: "BoldNumber" },
    });
    return (results[0] as unknown as { aggregated_value: number }).aggregated_value;
  };

  test.each<[string, unknown, string, number]>([
    ["tag_name", "a", "exact", 1],
    ["tag_name", "body", "exact", 2],
    ["tag_name", "a", "is_not", 1],
    ["tag_name", ["a", "button"], "exact", 2],
    ["tag_name", ["a", "button"], "is_not", 0],
    ["text", "Buy", "exact", 1],
    ["text", "bu", "icontains", 1],
    ["text", "^See", "regex", 1],
    ["href", "/pricing", "exact", 1],
    ["href", "pric", "icontains", 1],
    ["href", "/pricing", "is_not", 1],
    ["selector", "a", "exact", 1],
    ["selector", "a.link", "exact", 1],
    ["selector", "a.link.big", "exact", 1],
    ["selector", ".big", "exact", 1],
    ["selector", "li > a", "exact", 1],
    ["selector", "nav > a", "exact", 0],
    ["selector", "nav a", "exact", 1],
    ["selector", "body button", "exact", 1],
    ["selector", "#menu a", "exact", 1],
    ["selector", '[id="menu"] a', "exact", 1],
    ["selector", 'a[href="/pricing"]', "exact", 1],
    ["selector", "a:nth-child(2)", "exact", 1],
    ["selector", "a:nth-child(3)", "exact", 0],
    ["selector", "a", "is_not", 1],
  ])("%s %j %s: %d", async (field, value, operator, count) => {
    expect(await clicks({ key: field, value, operator })).toBe(count);
  });

  test.each([
    [{ key: "tag_name", value: "a", operator: "icontains" }, "only supports exact and is_not"],
    [{ key: "colour", value: "red" }, "not implemented for key colour"],
    [{ key: "selector", value: " > " }, "names no element"],
  ])("%j is refused", async (filter, text) => {
    const series = [{ kind: "EventsNode", event: null, properties: [{ type: "element", ...filter }] }];
    expect((await ask({ kind: "TrendsQuery", series }, 400)).detail).toContain(text);
  });

  test.each<[object, number]>([
    [{ tag_name: "a" }, 1],
    [{ text: "Buy", text_matching: "exact" }, 1],
    [{ text: "ee", text_matching: "contains" }, 1],
    [{ href: "^/pri", href_matching: "regex" }, 1],
    [{ selector: "nav a", text: "Buy" }, 0],
    [{ url: "shop.example" }, 2],
  ])("a step of an action: %j", async (step, count) => {
    const body = JSON.stringify({ name: JSON.stringify(step), steps: [{ event: "$autocapture", ...step }] });
    const made = await fetch(`${sim.url}/api/projects/1/actions/`, { method: "POST", headers, body });
    const { id } = (await made.json()) as { id: number };
    const { results } = await ask({
      kind: "TrendsQuery",
      series: [{ kind: "ActionsNode", id }],
      trendsFilter: { display: "BoldNumber" },
    });
    expect(results).toMatchObject([{ aggregated_value: count }]);
  });

  test("properties of sessions are filters and breakdowns", async () => {
    const series = [{ kind: "EventsNode", event: "$autocapture" }];
    const filter = { type: "session", key: "$autocapture_count", value: 2, operator: "exact" };
    const filtered = await ask({
      kind: "TrendsQuery",
      series,
      properties: [filter],
      trendsFilter: { display: "BoldNumber" },
    });
    expect(filtered.results).toMatchObject([{ aggregated_value: 2 }]);
    const broken = await ask({
      kind: "TrendsQuery",
      series,
      breakdownFilter: { breakdown: "$autocapture_count", breakdown_type: "session" },
    });
    expect(broken.results).toMatchObject([{ count: 2 }]);
    const wrong = { ...filter, key: "$channel_type" };
    expect((await ask({ kind: "TrendsQuery", series, properties: [wrong] }, 400)).detail).toContain("$channel_type");
  });
});

describe("math", () => {
  const funnel = async (math: string) => {
    const { results } = await ask({
      kind: "FunnelsQuery",
      series: [
        { kind: "EventsNode", event: "b", math, properties: [{ type: "event", key: "n", value: 4, operator: "gte" }] },
        { kind: "EventsNode", event: "b", properties: [{ type: "event", key: "n", value: 5, operator: "exact" }] },
      ],
    });
    return (results as unknown as { count: number }[]).map((it) => it.count);
  };

  test.each([
    ["dau", [1, 1]],
    ["total", [1, 1]],
    // the first event `b` of the person has another number
    ["first_time_for_user", []],
    ["first_time_for_user_with_filters", [1, 1]],
  ])("a step of a funnel with the math %s", async (math, counts) => {
    expect(await funnel(math)).toEqual(counts);
  });

  test("stickiness counts the values of an expression", async () => {
    const series = [{ kind: "EventsNode", event: "b", math: "hogql", math_hogql: "properties.n" }];
    const { results } = await ask({ kind: "StickinessQuery", series });
    expect((results as unknown as { data: number[] }[])[0]?.data[0]).toBe(3);
  });

  test("a sampling factor is accepted; every event counts, and the answer says so", async () => {
    const series = [{ kind: "EventsNode", event: "b" }];
    const answer = await ask({
      kind: "TrendsQuery",
      series,
      samplingFactor: 0.1,
      trendsFilter: { display: "BoldNumber" },
    });
    expect(answer).toMatchObject({
      results: [{ aggregated_value: 3 }],
      phx_sim: { notes: [expect.stringContaining("samplingFactor 0.1")] },
    });
  });
});

// posthog/hogql/test/test_metadata.py, posthog/hogql/database/test/test_database.py
describe("HogQLMetadata", () => {
  const check = async (query: string, language: string, more: object = {}) =>
    (await ask({ kind: "HogQLMetadata", language, query, ...more })) as unknown as {
      isValid: boolean;
      errors: { message: string; start: number; end: number }[];
    };

  test.each<[string, string, object]>([
    ["select 1", "hogQL", {}],
    ["select event AS event FROM events", "hogQL", {}],
    ["SELECT events.event FROM events UNION ALL SELECT events.event FROM events WHERE 1 = 2", "hogQL", {}],
    ["select event from events where {filters}", "hogQL", { filters: { dateRange: { date_from: "-7d" } } }],
    ["select {variables.x}", "hogQL", { variables: { a: { code_name: "x", variableId: "a", value: 1 } } }],
    ["properties.n + 1", "hogQL", {}],
    ["timestamp", "hogQLExpr", {}],
    ["properties.n + 1", "hogQLExpr", {}],
    ["is_identified", "hogQLExpr", { sourceQuery: { kind: "HogQLQuery", query: "select * from persons" } }],
    ["is_identified", "hogQLExpr", { sourceQuery: { kind: "ActorsQuery", select: [] } }],
    ["timestamp", "hogQLExpr", { sourceQuery: { kind: "EventsQuery", select: ["*"] } }],
  ])("%s as %s with %j is valid", async (query, language, more) => {
    const isText = language === "hogQL" && !/select/i.test(query);
    const text = isText ? `select ${query} from events` : query;
    expect(await check(text, language, more)).toMatchObject({ isValid: true, query: text, errors: [] });
  });

  test.each<[string, string, object, string, number, number]>([
    ["1 + no_field", "hogQLExpr", {}, "Unable to resolve field: no_field", 4, 12],
    ["select 'ä€😀', no_field from events", "hogQL", {}, "Unable to resolve field: no_field", 14, 22],
    ["is_identified", "hogQLExpr", {}, "Unable to resolve field: is_identified", 0, 13],
    [
      "timestamp",
      "hogQLExpr",
      { sourceQuery: { kind: "HogQLQuery", query: "select * from persons" } },
      "Unable to resolve field: timestamp",
      0,
      9,
    ],
    ["select 1 from nowhere", "hogQL", {}, "Unknown table", 14, 21],
    ["select 1 from heatmaps", "hogQL", {}, "The table heatmaps is not emulated", 14, 22],
  ])("%s as %s with %j is not", async (query, language, more, message, start, end) => {
    const { isValid, errors } = await check(query, language, more);
    expect(isValid).toBe(false);
    expect(errors).toEqual([{ message: expect.stringContaining(message), start, end, fix: null }]);
  });

  test.each(["timestamp", "select", "select 1 +", "select (1"])("%s is no query", async (query) => {
    expect(await check(query, "hogQL")).toMatchObject({ isValid: false, errors: [{ fix: null }] });
  });

  test("names the tables that are read", async () => {
    const query =
      "with e as (select * from events) select 1 from e where event in (select key from groups) or 1 in (select 1 from persons)";
    expect(await check(query, "hogQL")).toMatchObject({ table_names: ["events", "groups", "persons"] });
  });

  test("has no fields of a cached result, whatever the refresh", async () => {
    const query = { kind: "HogQLMetadata", language: "hogQL", query: "select 1" };
    for (const refresh of ["blocking", "async", "force_cache"]) {
      const body = JSON.stringify({ query, refresh });
      const answer = await fetch(`${sim.url}/api/projects/1/query/`, { method: "POST", headers, body });
      expect(Object.keys((await answer.json()) as object).sort()).toEqual([
        "ch_table_names",
        "errors",
        "isUsingIndices",
        "isValid",
        "notices",
        "query",
        "table_names",
        "warnings",
      ]);
    }
  });

  test.each(["hog", "hogTemplate"])("of %s is not emulated", async (language) => {
    const { detail } = await ask({ kind: "HogQLMetadata", language, query: "1" }, 400);
    expect(detail).toContain(`language ${language} is not emulated`);
  });
});

test("DatabaseSchemaQuery lists tables and columns, each of which can be queried", async () => {
  const { tables, joins } = (await ask({ kind: "DatabaseSchemaQuery" })) as unknown as {
    tables: Record<string, { fields: Record<string, { type: string; hogql_value: string }> }>;
    joins: unknown[];
  };
  expect(joins).toEqual([]);
  expect(Object.keys(tables)).toEqual(["events", "persons", "groups", "sessions"]);
  expect(tables.events).toMatchObject({
    id: "events",
    name: "events",
    type: "posthog",
    fields: {
      uuid: { type: "string", hogql_value: "uuid", schema_valid: true, table: null, chain: null },
      timestamp: { type: "datetime" },
      properties: { type: "json" },
      $session_id: { type: "string", hogql_value: "`$session_id`" },
      person: { type: "virtual_table", fields: expect.arrayContaining(["properties"]) },
      session: { type: "lazy_table", table: "sessions", id: "session" },
      group_0: { type: "lazy_table", table: "groups", id: "group_0" },
    },
  });
  expect(tables.persons).toMatchObject({ fields: { is_identified: { type: "boolean" } } });
  expect(tables.groups).toMatchObject({ fields: { index: { type: "integer" } } });
  for (const [table, { fields }] of Object.entries(tables)) {
    const columns = Object.values(fields).filter((it) => !it.type.endsWith("_table"));
    await rows(`select ${columns.map((it) => it.hogql_value).join(", ")} from ${table} limit 1`);
  }
});
