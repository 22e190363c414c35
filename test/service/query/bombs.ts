/** A query that takes more time or memory than there is, or whose result would. */
interface Bomb {
  readonly name: string;
  /** The status if it is refused before anything is computed; else it is ended. */
  readonly refused?: 400 | 413;
  readonly query: string | Readonly<Record<string, unknown>>;
}

const nested = (times: number, inner: string, wrap: (inner: string) => string): string =>
  times === 0 ? inner : wrap(nested(times - 1, inner, wrap));

const repeated = (count: number, each: (i: number) => string, between: string): string =>
  Array.from({ length: count }, (_, i) => each(i)).join(between);

const series = [{ kind: "EventsNode", event: null, math: "total" }];
const trends = (more: object) => ({ kind: "TrendsQuery", series, ...more });

export const bombs: readonly Bomb[] = [
  {
    name: "an array for each element of an array",
    query: "SELECT arraySum(arrayMap(x -> arraySum(arrayMap(y -> x * y, range(20000))), range(20000)))",
  },
  {
    name: "texts that grow tenfold",
    query: `SELECT length(${nested(12, "'aaaaaaaaaa'", (it) => `replaceAll(${it}, 'a', 'aaaaaaaaaa')`)})`,
  },
  {
    name: "doubling expressions of WITH",
    query: `WITH 'aaaaaaaa' AS a0, ${repeated(40, (i) => `concat(a${i}, a${i}) AS a${i + 1}`, ", ")} SELECT length(a40)`,
  },
  {
    name: "doubling tables of WITH",
    query: `WITH t0 AS (SELECT 1 AS n FROM events), ${repeated(40, (i) => `t${i + 1} AS (SELECT n FROM t${i} UNION ALL SELECT n FROM t${i})`, ", ")} SELECT count() FROM t40`,
  },
  {
    name: "doubling aliases",
    query: `SELECT 'aaaaaaaa' AS a0, ${repeated(40, (i) => `concat(a${i}, a${i}) AS a${i + 1}`, ", ")}`,
  },
  {
    name: "UNION ALL of the same query",
    query: repeated(1_500, () => "SELECT event, properties FROM events LIMIT 50000", " UNION ALL "),
  },
  {
    name: "long arrays in one array",
    query: `SELECT length(arrayConcat(${repeated(2_000, () => "range(1000000)", ", ")}))`,
  },
  { name: "all pairs of events", query: "SELECT count() FROM events a, events b, events c" },
  { name: "pairs that are not equal", query: "SELECT count() FROM events a JOIN events b ON a.uuid != b.uuid" },
  {
    name: "frames as long as the table",
    query:
      "SELECT groupArray(n) OVER (ORDER BY n ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) FROM (SELECT arrayJoin(range(1000000)) AS n)",
  },
  {
    name: "a breakdown limit of 1,000,000,000",
    query: trends({
      interval: "minute",
      dateRange: { date_from: "-60d" },
      breakdownFilter: { breakdown: "n", breakdown_type: "event", breakdown_limit: 1_000_000_000 },
    }),
  },
  {
    refused: 400,
    name: "each minute of ten years",
    query: trends({ interval: "minute", dateRange: { date_from: "-3650d" }, compareFilter: { compare: true } }),
  },
  {
    refused: 400,
    name: "thousands of series of minutes",
    query: {
      ...trends({ interval: "minute", dateRange: { date_from: "-60d" } }),
      series: Array.from({ length: 2_500 }, () => series[0]),
    },
  },
  {
    refused: 400,
    name: "a formula in 50,000 parentheses",
    query: trends({ trendsFilter: { formula: `${"(".repeat(50_000)}A${")".repeat(50_000)}` } }),
  },
  {
    name: "thousands of formulas",
    query: trends({ trendsFilter: { formulas: Array.from({ length: 9_000 }, (_, i) => `A + ${i}`) } }),
  },
  {
    refused: 400,
    name: "an expression in 50,000 parentheses",
    query: `SELECT ${"(".repeat(50_000)}1${")".repeat(50_000)}`,
  },
  { refused: 400, name: "a sum of 30,000 terms", query: `SELECT ${repeated(30_000, () => "1", " + ")}` },
  {
    refused: 413,
    name: "two megabytes of numbers",
    query: { ...trends({}), series: Array.from({ length: 1_000_000 }, () => 1) },
  },
  {
    refused: 400,
    name: "retention over a million periods",
    query: {
      kind: "RetentionQuery",
      retentionFilter: {
        period: "Hour",
        totalIntervals: 1_000_000,
        targetEntity: { id: "e", type: "events" },
        returningEntity: { id: "e", type: "events" },
      },
    },
  },
  {
    refused: 400,
    name: "stickiness of each minute of ten years",
    query: { kind: "StickinessQuery", interval: "minute", dateRange: { date_from: "-3650d" }, series },
  },
  {
    refused: 400,
    name: "lifecycles of each minute of ten years",
    query: { kind: "LifecycleQuery", interval: "minute", dateRange: { date_from: "-3650d" }, series },
  },
  {
    refused: 400,
    name: "trends of funnels of each minute of ten years",
    query: {
      kind: "FunnelsQuery",
      interval: "minute",
      dateRange: { date_from: "-3650d" },
      series: [...series, ...series],
      funnelsFilter: { funnelVizType: "trends" },
    },
  },
  {
    name: "a response of gigabytes",
    query: "SELECT arrayStringConcat(arrayMap(x -> 'xxxxxxxx', range(100000))) FROM events LIMIT 50000",
  },
];
