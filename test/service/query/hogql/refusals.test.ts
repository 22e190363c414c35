import { describe, expect, test } from "vitest";
import { SimError } from "../../../../src/kernel/base/errors.ts";
import { ask } from "./run-query.ts";
import { stage } from "./stage.ts";

/** Query → [message, the text that it points at]. */
const refusals: Record<string, readonly [message: string, place: string]> = {
  "select evnt from events": ["Unable to resolve field: evnt. Did you mean: event?", "evnt"],
  "select properties.a, zzz from events": ["Unable to resolve field: zzz", "zzz"],
  "select e.evnt from events e": ["Cannot resolve type e.evnt. Unable to resolve evnt. Did you mean: event?", "e.evnt"],
  "select event.x from events": ["Cannot resolve type event.x. Unable to resolve x.", "event.x"],
  "select person from events": ["Can't select a table when a column is expected: person", "person"],
  "select 1 from evens": ["Unknown table `evens`. Did you mean: events?", "evens"],
  "select 1 from heatmaps": ["The table heatmaps is not emulated", "heatmaps"],
  "select lowr(event) from events": [
    "Unsupported function call 'lowr(...)'. Perhaps you meant 'lower(...)'?",
    "lowr(event)",
  ],
  "select lower() from events": ["Function 'lower' expects 1 argument, found 0", "lower()"],
  "select substring(event, 1) from events": [
    "Function 'substring' expects 3 arguments, found 2",
    "substring(event, 1)",
  ],
  "select concat('a')": ["Function 'concat' expects at least 2 arguments, found 1", "concat('a')"],
  "select count(1, 2)": ["Aggregation 'count' expects at most 1 argument, found 2", "count(1, 2)"],
  "select topK(event) from events": ["Aggregation 'topK' requires parameters in addition to arguments", "topK(event)"],
  "select sum(count()) from events": [
    "Aggregation 'count' cannot be nested inside another aggregation 'sum'.",
    "sum(count())",
  ],
  "select event, count() from events": [
    "Column event is not under aggregate function and not in GROUP BY keys",
    "event",
  ],
  "select count() from events where count() > 1": [
    "Aggregate function count is found in WHERE or GROUP BY in query",
    "count()",
  ],
  "select properties.plan > 5 from events": [
    "There is no supertype for types Nullable(String), UInt8",
    "properties.plan > 5",
  ],
  "select properties.amount = 'many' from events": [
    'Cannot convert string "many" to type Nullable(Float64)',
    "properties.amount = 'many'",
  ],
  "select timestamp > event from events": [
    "There is no supertype for types DateTime64(6, 'Europe/Berlin'), String",
    "timestamp > event",
  ],
  "select event in (1) from events": ["Type mismatch in IN or VALUES section. Expected: String. Got: UInt8", "1"],
  "select event in (event) from events": ["The right side of IN must be literals, or a query", "event"],
  "select event in (select 1) from events": ["Type mismatch in IN: String and UInt8", "event in (select 1)"],
  "select lower(1)": ["Illegal type UInt8 of argument of function lower", "lower(1)"],
  "select sum(event) from events": ["Illegal type String of argument for aggregate function sum", "sum(event)"],
  "select if(event, 1, 2) from events": ["Illegal type String of argument of function if", "if(event, 1, 2)"],
  "select if(1, 1, 'a')": ["There is no supertype for types UInt8, String in function if", "if(1, 1, 'a')"],
  "select 1 where 'a'": ["Illegal type String of the condition of WHERE", "'a'"],
  "select 1 % 0": ["Division by zero", ""],
  "select timestamp - timestamp from events": [
    "minus of DateTime64(6, 'Europe/Berlin') and DateTime64(6, 'Europe/Berlin') is not emulated; use dateDiff, dateAdd or an interval",
    "timestamp - timestamp",
  ],
  "select 9007199254740993": ["The integer 9007199254740993 is beyond 2^53, which is not emulated", "9007199254740993"],
  "select 9007199254740991 + 1": ["An integer beyond 2^53 is not emulated", ""],
  "select match('a', '(')": ['Invalid or unsupported regular expression: "("', ""],
  "select formatDateTime(now(), '%k')": ["The format %k of formatDateTime is not emulated", "'%k'"],
  "select toTimeZone(now(), 'Mars')": ['Unknown time zone "Mars"', "'Mars'"],
  "select 1 as a, 2 as a": ["Cannot redefine an alias with the name: a", "2 as a"],
  "select * ": ["Cannot use '*' when there are no tables in the query", "*"],
  "select created_at from sessions": ["Unable to resolve field: created_at", "created_at"],
  "select $channel_type from sessions": ["The column $channel_type of sessions is not emulated", "$channel_type"],
  "select pdi.distinct_id from events": ["The column pdi of events is not emulated", "pdi.distinct_id"],
  "select (select event from events)": ["Scalar subquery returned more than one row", "select event from events"],
  "select (select 1, 2)": ["A query in an expression must have one column", "select 1, 2"],
  "select 1 union all select 1, 2": ["The queries of a UNION have different numbers of columns", "select 1, 2"],
  "select 1 union all select 'a'": ["The column 1 of a UNION has types without a supertype: UInt8, String", ""],
  "select 1 intersect select 1": ["INTERSECT is not emulated", "select 1"],
  "select 1 limit -1": ["LIMIT must be a whole number of 0 or more", "-1"],
  "select event from events semi join sessions on 1": ["SEMI JOIN is not emulated", "semi join sessions"],
  "select 1 from events e join sessions s using id": ["JOIN … USING is not emulated; use ON", "id"],
  "select 1 from events e join sessions s": ["JOIN needs a condition: ON …", "join sessions s"],
  "select 1 from events e join sessions s on e.nope = s.id": [
    "Cannot resolve type e.nope. Unable to resolve nope.",
    "e.nope",
  ],
  "select 1 from events e join sessions s on distinct_id = 'a'": [
    "Ambiguous query. Found multiple sources for field: distinct_id (e.distinct_id, s.distinct_id). Use a qualified field name.",
    "distinct_id",
  ],
  "select 1 from events e join sessions s on e.timestamp = s.id": [
    "There is no supertype for types DateTime64(6, 'Europe/Berlin'), String",
    "e.timestamp = s.id",
  ],
  "select 1 from events e left join sessions s on e.timestamp > s.$start_timestamp": [
    "A condition of LEFT JOIN with both tables must be an equality",
    "e.timestamp > s.$start_timestamp",
  ],
  "select 1 from events, events": [
    'Already have joined a table called "events". Can\'t join another one with the same name.',
    ", events",
  ],
  "select 1 from events array join [1]": ["ARRAY JOIN arrays must have an alias", "[1]"],
  "select 1 from events array join 1 as x": ["ARRAY JOIN requires an array, got the type UInt8", "1"],
  "select 1 from events array join [1] as x, [1, 2] as y": ["The arrays of ARRAY JOIN have different sizes", ""],
  "select arrayJoin([1]), arrayJoin([2])": ["Several ARRAY JOIN or arrayJoin in one query are not emulated", "[2]"],
  "select event from events final": ["FINAL is not emulated", "final"],
  "select event from events sample 0.1": ["SAMPLE is not emulated", "sample"],
  "select row_number() from events": ["The function row_number needs a window: OVER (…)", "row_number()"],
  "select lower(event) over () from events": ["The window function lower is not emulated", "lower(event) over ()"],
  "select rank(1) over () from events": ["Window function 'rank' expects 0 arguments, found 1", "rank(1) over ()"],
  "select count() over w from events": ["There is no window w", "count() over w"],
  "select 1 from events where rank() over () = 1": [
    "Window function rank is found in WHERE, GROUP BY or HAVING",
    "rank() over ()",
  ],
  "select sum(1) over (order by event range 1 preceding) from events": [
    "A frame of RANGE with a number is not emulated; use ROWS",
    "sum(1) over (order by event range 1 preceding)",
  ],
  "select sum(1) over (rows between current row and 1 preceding) from events": [
    "The frame ends before it starts",
    "sum(1) over (rows between current row and 1 preceding)",
  ],
  "select sum(distinct 1) over () from events": [
    "DISTINCT or FILTER of a window function is not emulated",
    "sum(distinct 1) over",
  ],
  "select event from events order by event nulls first": ["NULLS in ORDER BY is not emulated", "nulls"],
  "select event from events settings max_threads = 1": ["SETTINGS is not emulated", "settings"],
  "select {x}": ["Unresolved placeholder: {x}", "{x}"],
  "select {filters} from persons": [
    "Cannot use 'filters' placeholder in a SELECT clause that does not select from the events table.",
    "{filters}",
  ],
  "select {filters.x} from events": [
    "Unsupported filters placeholder `{filters.x}`. Supported filters placeholders are: `{filters}`, `{filters.dateRange.from}`, `{filters.dateRange.to}`.",
    "{filters.x}",
  ],
  "select event from events where": ["Syntax error: unexpected the end of the query, expected an expression", ""],
  "select 'abc": ["Unterminated string", "'"],
  "select a ! b": ["Unexpected character '!'", "!"],
  "select '\\d'": ["Unsupported escape \\d in a string; write \\\\ for a backslash", "\\d"],
  "selec 1": ["Syntax error: unexpected 'selec', expected SELECT", "selec"],
  "select 1 foo bar": ["Syntax error: unexpected 'bar', expected the end of the query", "bar"],
  "select x from (select 1 as y) as t": ["Unable to resolve field: x. Did you mean: y?", "x"],
  "with a as (select * from a) select * from a": ["Unknown table `a`.", "a"],
};

describe("refused queries", () => {
  test("name the mistake and its place", async () => {
    const got: Record<string, unknown> = {};
    for (const query of Object.keys(refusals)) {
      const error = await ask(query, stage()).catch((it: unknown) => it);
      if (!(error instanceof SimError)) {
        got[query] = error;
        continue;
      }
      const { start, end } = (error.extra.data ?? {}) as { start?: number; end?: number };
      const message = error.message.replace(/ \(line \d+, column \d+\)$/, "");
      got[query] = [message, start === undefined ? "" : query.slice(start, end)];
    }
    expect(got).toEqual(refusals);
  });

  test("the place counts characters, lines and columns", async () => {
    const error = await ask("select '😀',\n  nothing\nfrom events", stage()).catch((it: unknown) => it);
    expect(error).toMatchObject({
      code: "invalid_input",
      message: "Unable to resolve field: nothing (line 2, column 3)",
      extra: { data: { start: 14, end: 21, line: 2, column: 3 } },
    });
  });
});
