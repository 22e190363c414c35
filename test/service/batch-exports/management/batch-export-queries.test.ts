import { describe, expect, test } from "vitest";
import { readHogqlQuery } from "../../../../src/service/batch-exports/management/batch-export-shapes.ts";

const otherTable = "Query must only SELECT FROM events";
const subquery = "Subqueries or CTEs are not supported";
const join = "JOINs are not supported";
const union = "UNIONs are not supported";

describe("queries that an export can have", () => {
  test.each<[string, [expression: string, alias: string][]]>([
    ["SELECT event FROM events", [["event", "event"]]],
    [
      "select event, uuid from events",
      [
        ["event", "event"],
        ["uuid", "uuid"],
      ],
    ],
    ["  SELECT * FROM events;  ", [["*", "*"]]],
    ["(SELECT event FROM events)", [["event", "event"]]],
    ["SELECT DISTINCT event FROM events", [["event", "event"]]],
    ["SELECT toString(uuid) AS id FROM events", [["toString(uuid)", "id"]]],
    ["SELECT toString(uuid) id FROM events", [["toString(uuid)", "id"]]],
    [
      "SELECT timestamp AS day, toString(timestamp) AS timestamp FROM events",
      [
        ["timestamp", "day"],
        ["toString(timestamp)", "timestamp"],
      ],
    ],
    [
      'SELECT event AS `my ``event```, uuid AS "an id" FROM events',
      [
        ["event", "my `event`"],
        ["uuid", "an id"],
      ],
    ],
    ["SELECT properties.$browser AS browser FROM events", [["properties.$browser", "browser"]]],
    ["SELECT properties['a, b FROM c'] AS x FROM events", [["properties['a, b FROM c']", "x"]]],
    [
      "SELECT if(a, b, c) AS x,\n  1 + 2.5e3 AS y FROM events",
      [
        ["if(a, b, c)", "x"],
        ["1 + 2.5e3", "y"],
      ],
    ],
    [
      "SELECT 'it''s' AS a, 'it\\'s' AS b FROM events",
      [
        ["'it''s'", "a"],
        ["'it\\'s'", "b"],
      ],
    ],
    [
      "SELECT CASE WHEN event = 'a' THEN 1 ELSE 2 END AS x FROM events",
      [["CASE WHEN event = 'a' THEN 1 ELSE 2 END", "x"]],
    ],
    ["SELECT now() - INTERVAL 7 DAY AS t FROM events", [["now() - INTERVAL 7 DAY", "t"]]],
    [
      "SELECT -1 AS a, NOT b AS c FROM events",
      [
        ["-1", "a"],
        ["NOT b", "c"],
      ],
    ],
    ["SELECT arrayMap(x -> x.1, []) AS a FROM events", [["arrayMap(x -> x.1, [])", "a"]]],
    ["SELECT CAST(a AS String) FROM events", [["CAST(a AS String)", "CAST(a AS String)"]]],
    ["SELECT event -- the name\nFROM events /* all of them */", [["event", "event"]]],
    ["SELECT event FROM events AS e", [["event", "event"]]],
    ["SELECT e.event FROM events e WHERE e.event != 'x'", [["e.event", "e.event"]]],
    [
      "SELECT event FROM events WHERE a IN ('x', 'y') AND timestamp BETWEEN b AND c ORDER BY a DESC, b LIMIT 10 OFFSET 5",
      [["event", "event"]],
    ],
    ["WITH 1 AS one SELECT one FROM events", [["one", "one"]]],
  ])("%s", (query, fields) => {
    expect(readHogqlQuery(query)).toEqual({
      schema: {
        fields: fields.map(([expression, alias]) => ({ expression, alias })),
        values: {},
        hogql_query: query.trim(),
      },
    });
  });
});

const unreadable = /^Failed to parse query: ./;

test.each<[string, string | RegExp]>([
  ["", unreadable],
  ["SELECT FROM events", unreadable],
  ["SELECT event FROM events WHERE a b", unreadable],
  ["SELECT 'a FROM events", unreadable],
  ["SELECT a FROM events; SELECT b FROM events", unreadable],
  ["DROP TABLE events", unreadable],
  ["SELECT a FROM numbers(10)", unreadable],
  ["SELECT a FROM events ARRAY JOIN b", join],
  [`SELECT ${"(".repeat(100_000)}`, unreadable],
  ["SELECT 1", "Query must SELECT FROM events"],
  ["SELECT a FROM persons", otherTable],
  ["SELECT a FROM system.events", otherTable],
  ["SELECT a FROM (SELECT a FROM events)", subquery],
  ["WITH x AS (SELECT a FROM events) SELECT a FROM x", subquery],
  ["SELECT a FROM events JOIN persons ON a = b", join],
  ["SELECT a FROM events UNION ALL SELECT b FROM events", union],
])("%s: %s", (query, problem) => {
  const read = readHogqlQuery(query);
  expect(read.problem).toMatch(problem);
});
