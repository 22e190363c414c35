import { describe, expect, test } from "vitest";
import { rowsOf } from "./run-query.ts";
import { stage } from "./stage.ts";

const ann = "11111111-1111-4111-8111-111111111111";
const bob = "22222222-2222-4222-8222-222222222222";

/** Title → [query, its rows]. */
const queries: Record<string, [query: string, rows: unknown[][]]> = {
  "columns of events": [
    "select event, distinct_id, person_id from events where event = 'paid'",
    [
      ["paid", "ann", ann],
      ["paid", "bob", bob],
    ],
  ],
  "a property is a number, a flag, a date or a text": [
    "select properties.amount, properties.vip, properties.at, properties.plan from events limit 3",
    [
      [10, true, "2026-01-01T00:00:00+01:00", "pro"],
      [2.5, false, null, "free"],
      [null, null, null, "pro"],
    ],
  ],
  "objects and lists are JSON": [
    "select properties.tags, properties.nested, properties.nested.deep.2 from events limit 2",
    [
      ['["a","b"]', null, null],
      [null, '{"deep":[1,2]}', "2"],
    ],
  ],
  "other ways to write a property": [
    "select properties['plan'], events.properties.plan, e.properties.plan from events e limit 1".replace(
      "events.properties",
      "e.properties",
    ),
    [["pro", "pro", "pro"]],
  ],
  "null properties are missing": ["select count() from events where properties.plan is null", [[2]]],
  "a comparison with a missing value is false": ["select count() from events where properties.amount > 3", [[2]]],
  "its opposite is true": ["select count() from events where properties.plan != 'pro'", [[3]]],
  "the negation of a comparison is exact": ["select count() from events where not properties.amount > 3", [[3]]],
  "a text in a comparison with numbers is read": ["select count() from events where properties.amount = '10'", [[1]]],
  "time zone of the project": [
    "select timestamp, toHour(timestamp), toDate(timestamp) from events limit 2",
    [
      ["2026-01-01T11:00:00+01:00", 11, "2026-01-01"],
      ["2026-01-02T00:30:00.500000+01:00", 0, "2026-01-02"],
    ],
  ],
  "texts in comparisons with times are times of the project": [
    "select count() from events where timestamp >= '2026-01-02' and timestamp < '2026-01-02 10:00:00'",
    [[1]],
  ],
  "counts by group": [
    "select event, count() as c from events group by event order by c desc, event",
    [
      ["$pageview", 2],
      ["paid", 2],
      ["signed up", 1],
    ],
  ],
  "groups by days of the project": [
    "select toStartOfDay(timestamp) as day, count() from events group by day order by day",
    [
      ["2026-01-01T00:00:00+01:00", 1],
      ["2026-01-02T00:00:00+01:00", 4],
    ],
  ],
  "NULL is a group": [
    "select properties.plan, count() from events group by properties.plan order by 2 desc, 1",
    [
      ["pro", 2],
      [null, 2],
      ["free", 1],
    ],
  ],
  "aggregations skip NULL": [
    "select count(), count(properties.amount), sum(properties.amount), avg(properties.amount), min(properties.amount), max(properties.amount) from events",
    [[5, 3, 16.5, 5.5, 2.5, 10]],
  ],
  "aggregations of no rows": [
    "select count(), sum(properties.amount), avg(properties.amount), uniq(event), max(event), groupArray(event) from events where event = 'none'",
    [[0, null, null, 0, "", []]],
  ],
  "no rows have no groups": ["select event, count() from events where event = 'none' group by event", []],
  "conditions of aggregations": [
    "select countIf(event = 'paid'), sumIf(properties.amount, properties.plan = 'pro'), uniqIf(distinct_id, event = 'paid'), count() filter (where event = 'paid')",
    [[2, 10, 2, 2]],
  ],
  "distinct values": [
    "select count(distinct distinct_id), uniq(event, distinct_id), count(distinct properties.plan) from events",
    [[3, 4, 2]],
  ],
  "the first, the last, the value at the largest": [
    "select any(event), anyLast(event), argMax(event, timestamp), argMin(properties.amount, timestamp) from events",
    [["paid", "signed up", "signed up", 10]],
  ],
  "lists of values": [
    "select groupArray(properties.amount), groupUniqArray(event), groupArray(2)(event) from events",
    [
      [
        [10, 2.5, 4],
        ["paid", "$pageview", "signed up"],
        ["paid", "paid"],
      ],
    ],
  ],
  "quantiles lie between values": [
    "select median(properties.amount), quantile(0.25)(properties.amount), quantiles(0, 1)(properties.amount), quantileExact(0.5)(properties.amount) from events",
    [[4, 3.25, [2.5, 10], 4]],
  ],
  having: ["select event from events group by event having count() > 1 order by event", [["$pageview"], ["paid"]]],
  "expressions of aggregations": [
    "select round(sum(properties.amount) / count(), 1) as x, x * 2 from events",
    [[3.3, 6.6]],
  ],
  "aliases are visible in all clauses": [
    "select upper(event) as e, count() as c from events where e != 'PAID' group by e having c > 0 order by e",
    [
      ["$PAGEVIEW", 2],
      ["SIGNED UP", 1],
    ],
  ],
  "an alias may have the name of a column": [
    "select lower(event) as event, count() from events where event like 'p%' group by event",
    [["paid", 2]],
  ],
  "order with NULL last in both directions": [
    "select properties.amount from events order by properties.amount desc",
    [[10], [4], [2.5], [null], [null]],
  ],
  "limit and offset": ["select event from events order by timestamp limit 2 offset 1", [["paid"], ["$pageview"]]],
  "rows of each value": [
    "select event, distinct_id from events order by timestamp limit 1 by event",
    [
      ["paid", "ann"],
      ["$pageview", "ann"],
      ["signed up", "cid"],
    ],
  ],
  "distinct rows": ["select distinct event from events order by event desc", [["signed up"], ["paid"], ["$pageview"]]],
  "a query in FROM": [
    "select max(c), e from (select event as e, count() as c from events group by e) group by e order by e limit 2",
    [
      [2, "$pageview"],
      [2, "paid"],
    ],
  ],
  "a query with a name": [
    "with paid as (select distinct_id, properties.amount as amount from events where event = 'paid') select sum(p.amount) from paid as p",
    [[12.5]],
  ],
  "queries with names that use each other": [
    "with a as (select 1 as x), b as (select x + 1 as y from a) select y, (select max(x) from a) from b",
    [[2, 1]],
  ],
  "an expression with a name": ["with 2 as two select two * two", [[4]]],
  "a query as a value": [
    "select event from events where timestamp = (select max(timestamp) from events)",
    [["signed up"]],
  ],
  "a query as a set": [
    "select distinct event from events where distinct_id in (select distinct_id from events where event = 'paid') order by event",
    [["$pageview"], ["paid"]],
  ],
  "sets of values": [
    "select countIf(event in ('paid', 'signed up')), countIf(event not in ('paid')), countIf(properties.amount in (10, 4)), countIf((event, distinct_id) in (('paid', 'ann'), ('x', 'y'))) from events",
    [[3, 3, 2, 1]],
  ],
  "NULL in a set": [
    "select countIf(properties.plan in ('pro', null)), countIf(properties.plan not in ('pro')) from events",
    [[4, 3]],
  ],
  "all rows of two queries": [
    "select count() from events union all select 7 union all select count() from events where event = 'paid'",
    [[5], [7], [2]],
  ],
  "properties of the person": [
    "select person.id, person.properties.email, person.properties.age from events where event = 'paid'",
    [
      [ann, "ann@shop.test", 31],
      [bob, "bob@shop.test", null],
    ],
  ],
  "properties of a group": [
    "select $group_0, group_0.properties.name, group_0.properties.size from events limit 2",
    [
      ["acme", "Acme", 12],
      ["", null, null],
    ],
  ],
  "the session of an event": [
    "select $session_id, session.$session_duration, session.$entry_current_url, session.$pageview_count from events where event = 'paid'",
    [
      ["s1", 82890, "https://shop.test/a?utm=1", 2],
      [null, 0, null, 0],
    ],
  ],
  sessions: [
    "select session_id, $start_timestamp, $end_timestamp, $session_duration, $entry_pathname, $end_pathname, $num_uniq_urls, $is_bounce, distinct_id from sessions",
    [[...["s1", "2026-01-01T11:00:00+01:00", "2026-01-02T10:01:30+01:00", 82890], ...["/a", "/b", 2, 0, "ann"]]],
  ],
  "JSON of properties": [
    "select JSONExtractString(properties, 'plan'), JSONExtractFloat(properties, 'amount'), JSONHas(properties, 'tags'), JSONLength(properties, 'tags'), JSONExtractInt(properties, 'nested', 'deep', 2), JSONExtractArrayRaw(properties, 'tags') from events limit 2",
    [
      ["pro", 10, 1, 2, 0, ['"a"', '"b"']],
      ["free", 2.5, 0, 0, 2, []],
    ],
  ],
  "functions of lists": [
    "select arrayMap(x -> upper(x), groupUniqArray(event)), arrayFilter(x -> x > 3, groupArray(properties.amount)) from events",
    [
      [
        ["PAID", "$PAGEVIEW", "SIGNED UP"],
        [10, 4],
      ],
    ],
  ],
  "a join": [
    "select e.event, c.n from events e join (select distinct_id, count() as n from events group by distinct_id) c on e.distinct_id = c.distinct_id where event = 'paid'",
    [
      ["paid", 3],
      ["paid", 1],
    ],
  ],
  "a left join has defaults and NULL where nothing matches": [
    "select e.distinct_id, t.n, t.name, t.missing from events e left join (select 'ann' as id, 7 as n, 'Ann' as name, nullIf('a', 'b') as missing) t on e.distinct_id = t.id and t.n > 5 where e.event = 'paid'",
    [
      ["ann", 7, "Ann", "a"],
      ["bob", 0, "", null],
    ],
  ],
  "right and full joins": [
    "select a.x, b.x from (select 1 as x union all select 2) a full join (select 2 as x union all select 3) b on b.x = a.x union all select a.x, b.x from (select 1 as x) a right outer join (select 1 as x union all select 4) b on a.x = b.x",
    [
      [1, 0],
      [2, 2],
      [0, 3],
      [1, 1],
      [0, 4],
    ],
  ],
  "other conditions of a join": [
    "select a.x, b.x from (select arrayJoin([1, 2]) as x) a join (select arrayJoin([1, 2, 3]) as x) b on a.x < b.x and b.x != 3",
    [[1, 2]],
  ],
  "all pairs": [
    "select a.x, y from (select arrayJoin([1, 2]) as x) a, (select arrayJoin(['a', 'b']) as y) order by y desc, x desc limit 3",
    [
      [2, "b"],
      [1, "b"],
      [2, "a"],
    ],
  ],
  "properties and sessions across a join": [
    "select a.properties.amount, a.person.properties.email, b.session.$pageview_count, b.properties['plan'] from events a join events b on a.distinct_id = b.distinct_id and a.event = 'paid' and b.event = '$pageview'",
    [
      [10, "ann@shop.test", 2, "pro"],
      [10, "ann@shop.test", 2, null],
    ],
  ],
  "a row for each item of an array": [
    "select event, tag, place from events array join JSONExtractArrayRaw(properties, 'tags') as tag, arrayEnumerate(JSONExtractArrayRaw(properties, 'tags')) as place",
    [
      ["paid", '"a"', 1],
      ["paid", '"b"', 2],
    ],
  ],
  "also for empty arrays": [
    "select distinct_id, tag from events left array join JSONExtractArrayRaw(properties, 'tags') as tag where event = 'paid'",
    [
      ["ann", '"a"'],
      ["ann", '"b"'],
      ["bob", ""],
    ],
  ],
  "arrayJoin in columns and conditions": [
    "select arrayJoin(splitByChar(' ', event)) as word, count() from events where word != 'up' group by word order by word",
    [
      ["$pageview", 2],
      ["paid", 2],
      ["signed", 1],
    ],
  ],
  "places in a window": [
    "select event, row_number() over (partition by event order by timestamp desc) as n, rank() over (order by event), dense_rank() over w from events window w as (order by event) order by event, n",
    [
      ["$pageview", 1, 1, 1],
      ["$pageview", 2, 1, 1],
      ["paid", 1, 3, 2],
      ["paid", 2, 3, 2],
      ["signed up", 1, 5, 3],
    ],
  ],
  "aggregations of frames": [
    "select x, sum(x) over (order by x), sum(x) over (), sum(x) over (order by x rows between 1 preceding and 1 following), groupArray(x) over (order by x rows between current row and unbounded following) from (select arrayJoin([4, 1, 2]) as x) order by x",
    [
      [1, 1, 7, 3, [1, 2, 4]],
      [2, 3, 7, 7, [2, 4]],
      [4, 7, 7, 6, [4]],
    ],
  ],
  "peers are in one frame": [
    "select x, count() over (order by x) from (select arrayJoin([1, 1, 2]) as x)",
    [
      [1, 2],
      [1, 2],
      [2, 3],
    ],
  ],
  "values of other rows": [
    "select x, lag(x) over w, lead(x, 2, 99) over w, first_value(x) over w, last_value(x) over w, nth_value(x, 2) over w, leadInFrame(x) over w from (select arrayJoin([3, 1, 2]) as x) window w as (order by x)",
    [
      [3, 2, 99, 1, 3, 2, 0],
      [1, 0, 3, 1, 1, 0, 0],
      [2, 1, 99, 1, 2, 2, 0],
    ],
  ],
  "a window over groups": [
    "select event, count() as c, sum(count()) over (order by event), round(c / sum(c) over (), 1) from events group by event order by event",
    [
      ["$pageview", 2, 2, 0.4],
      ["paid", 2, 4, 0.4],
      ["signed up", 1, 5, 0.2],
    ],
  ],
  "a table without rows for a value": ["select 1 where 0", []],
  "elements of an expression by place": [
    "select event, count() from events group by 1 order by 2 desc, 1 asc limit 1",
    [["$pageview", 2]],
  ],
};

describe("rows of queries", () => {
  for (const [title, [query, rows]] of Object.entries(queries))
    test(title, async () => {
      const text = query.includes(" from ") || /^(with|select 1)/.test(query) ? query : `${query} from events`;
      expect(await rowsOf(text, stage())).toEqual(rows);
    });
});
