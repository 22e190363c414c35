import { closeSync, openSync, writeSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { type Client, connect } from "../client.ts";
import { removeFolder, temporaryFolder } from "../folders.ts";
import { digits } from "../payload.ts";
import { launch, type Server } from "../server.ts";
import { figure, hold, median } from "../statistics.ts";
import type { Bench, Report, Suite, Verdict } from "../suite.ts";

/** Most milliseconds of a query for 10,000 events, and for 100,000. */
const bars = { small: 50, large: 600 };

const users = 5_000;
const days = 30;
const batchSize = 1_000;
const path = "/api/projects/1/query/?personal_api_key=phx_sim_default";

/** The i-th of `all` events, spread over the last 30 days: six are views, three baskets, one is an order. */
function eventOf(i: number, all: number, end: number) {
  const place = (i * 7) % 10;
  return {
    event: place < 6 ? "viewed" : place < 9 ? "added to basket" : "ordered",
    distinct_id: `user-${digits((i * 7_919) % users)}`,
    timestamp: new Date(end - Math.round(((all - i) / all) * days * 86_400_000)).toISOString(),
    properties: { amount: (i * 37) % 500, plan: ["free", "pro", "team"][i % 3] },
  };
}

const named = (event: string, more: object = {}) => ({ kind: "EventsNode", event, ...more });
const trends = (series: object, more: object = {}) => ({
  kind: "TrendsQuery",
  series: [series],
  dateRange: { date_from: "-40d" },
  ...more,
});
const perDay = (what: string, from: string) =>
  `SELECT CAST(time_bucket(INTERVAL 1 DAY, timestamp) AS DATE) AS day, ${what} AS n FROM ${from} GROUP BY ALL ORDER BY ALL`;
const views = "events WHERE event = 'viewed'";

interface Series {
  data: number[];
}
interface Step {
  count: number;
}
const sumOf = (results: unknown): number =>
  (results as Series[]).flatMap((it) => it.data).reduce((sum, it) => sum + it, 0);

/** A query, the same in SQL, and a number in which the two must agree. */
interface Case {
  readonly name: string;
  readonly query: object;
  readonly sql: string;
  checkOf(results: unknown): number;
}

const funnelSteps = ["viewed", "added to basket", "ordered"];
const cases: readonly Case[] = [
  { name: "trends: total by day", query: trends(named("viewed")), sql: perDay("count(*)", views), checkOf: sumOf },
  {
    name: "trends: unique users by day",
    query: trends(named("viewed", { math: "dau" })),
    sql: perDay("count(DISTINCT distinct_id)", views),
    checkOf: sumOf,
  },
  {
    name: "trends: by plan",
    query: trends(named("viewed"), { breakdownFilter: { breakdown: "plan", breakdown_type: "event" } }),
    sql: perDay("properties.plan AS plan, count(*)", views),
    checkOf: sumOf,
  },
  {
    name: "trends: sum of amounts",
    query: trends(named("ordered", { math: "sum", math_property: "amount" })),
    sql: perDay("sum(properties.amount)", "events WHERE event = 'ordered'"),
    checkOf: sumOf,
  },
  {
    name: "trends: p90 of amounts",
    query: trends(named("ordered", { math: "p90", math_property: "amount" })),
    sql: perDay("quantile_cont(properties.amount, 0.9)", "events WHERE event = 'ordered'"),
    checkOf: sumOf,
  },
  {
    name: "funnel of three steps",
    query: {
      kind: "FunnelsQuery",
      series: funnelSteps.map((it) => named(it)),
      dateRange: { date_from: "-40d" },
      funnelsFilter: { funnelWindowInterval: 90, funnelWindowIntervalUnit: "day" },
    },
    sql: `WITH a AS (SELECT distinct_id, min(timestamp) AS t FROM events WHERE event = 'viewed' GROUP BY 1),
      b AS (SELECT distinct_id, min(events.timestamp) AS t FROM events JOIN a USING (distinct_id) WHERE event = 'added to basket' AND timestamp >= a.t GROUP BY 1),
      c AS (SELECT distinct_id FROM events JOIN b USING (distinct_id) WHERE event = 'ordered' AND timestamp >= b.t GROUP BY 1)
      SELECT (SELECT count(*) FROM a) + (SELECT count(*) FROM b) + (SELECT count(*) FROM c) AS n`,
    checkOf: (results) => (results as Step[]).reduce((sum, it) => sum + it.count, 0),
  },
];

/** Rows of DuckDB, as far as they are read here. */
interface Duck {
  ask(sql: string): Promise<Record<string, unknown>[]>;
}

/** DuckDB with one thread, as the sim has, and the events in a table of its own. */
async function openDuck(file: string, installed: NonNullable<Bench["installed"]>): Promise<Duck> {
  const folder = await installed("phx-duckdb", "@duckdb/node-api@1.5.6-r.1");
  const load = createRequire(join(folder, "package.json"));
  const { DuckDBInstance } = load("@duckdb/node-api") as {
    DuckDBInstance: {
      create(
        path: string,
        options: Record<string, string>,
      ): Promise<{
        connect(): Promise<{ runAndReadAll(sql: string): Promise<{ getRowObjectsJson(): Record<string, unknown>[] }> }>;
      }>;
    };
  };
  const connection = await (await DuckDBInstance.create(":memory:", { threads: "1" })).connect();
  const ask = async (sql: string) => (await connection.runAndReadAll(sql)).getRowObjectsJson();
  await ask(
    `CREATE TABLE events AS SELECT * FROM read_ndjson('${file}', columns = {event: 'VARCHAR', distinct_id: 'VARCHAR', timestamp: 'TIMESTAMP', properties: 'STRUCT(amount DOUBLE, plan VARCHAR)'})`,
  );
  return { ask };
}

/** Sends the events to the sim, and writes them to a file for DuckDB. */
async function fill(server: Server, file: string, all: number): Promise<void> {
  const client = connect(server);
  const end = Date.now();
  const out = openSync(file, "w");
  for (let first = 0; first < all; first += batchSize) {
    const batch = Array.from({ length: batchSize }, (_, i) => eventOf(first + i, all, end));
    writeSync(out, batch.map((it) => `${JSON.stringify(it)}\n`).join(""));
    const answer = await client.call("POST", "/batch/", JSON.stringify({ api_key: server.key, batch }));
    if (answer.status !== 200) throw new Error(`/batch/: ${answer.status} ${answer.body.slice(0, 300)}`);
  }
  closeSync(out);
  client.close();
}

/** Asks without the cache. @returns the time, ms, and the results */
async function ask(client: Client, query: object): Promise<{ ms: number; results: unknown }> {
  const answer = await client.call("POST", path, JSON.stringify({ query, refresh: "force_blocking" }));
  if (answer.status !== 200) throw new Error(`the query: ${answer.status} ${answer.body.slice(0, 300)}`);
  return { ms: answer.ms, results: (JSON.parse(answer.body) as { results: unknown }).results };
}

/** Calls another endpoint all the time until it is stopped. @returns the longest time of an answer, ms */
function watchLoop(server: Server): () => Promise<number> {
  const client = connect(server);
  const state = { longest: 0, isOver: false };
  const watching = (async () => {
    while (!state.isOver) {
      const { ms } = await client.call("GET", "/_readiness");
      state.longest = Math.max(state.longest, ms);
    }
    client.close();
  })();
  return async () => {
    state.isOver = true;
    await watching;
    return state.longest;
  };
}

async function measure(bench: Bench, all: number): Promise<{ rows: string[][]; verdicts: Verdict[] }> {
  const label = all.toLocaleString("en-US");
  const folder = temporaryFolder();
  const files = temporaryFolder();
  const file = join(files, "events.ndjson");
  const server = await launch("sim", folder, true);
  try {
    bench.progress(`taking in ${label} events`);
    await fill(server, file, all);
    bench.progress("loading them into DuckDB");
    const duck = bench.installed && (await openDuck(file, bench.installed));
    const client = connect(server);
    // the first call loads the management API
    await client.json("GET", "/api/projects/1/insights/?personal_api_key=phx_sim_default");
    const rows: string[][] = [];
    const verdicts: Verdict[] = [];
    let longest = 0;
    for (const { name, query, sql, checkOf } of cases) {
      bench.progress(`${name}, ${label} events`);
      const stopFirst = watchLoop(server);
      const first = await ask(client, query);
      longest = Math.max(longest, await stopFirst());
      const theirs = (await duck?.ask(sql))?.reduce((sum, it) => sum + Number(it.n), 0) ?? checkOf(first.results);
      if (Math.abs(checkOf(first.results) - theirs) > theirs * 1e-9)
        throw new Error(`${name}: ${checkOf(first.results)} by the sim, ${theirs} by DuckDB`);
      const [times, duckTimes]: [number[], number[]] = [[], []];
      for (let round = 0; round < bench.pace.rounds * 3; round++) {
        const stop = watchLoop(server);
        const { ms } = await ask(client, query);
        longest = Math.max(longest, await stop());
        times.push(ms);
        const startedAt = performance.now();
        await duck?.ask(sql);
        if (duck) duckTimes.push(performance.now() - startedAt);
      }
      rows.push([
        label,
        name,
        figure(first.ms),
        figure(median(times)),
        figure(median(duckTimes)),
        figure(median(times) / median(duckTimes)),
      ]);
      const bar = all > 10_000 ? bars.large : bars.small;
      verdicts.push(hold(`${name}, ${label} events`, median(times), "atMost", bar, "ms"));
    }
    client.close();
    verdicts.push(hold(`longest wait of another call, ${label} events`, longest, "atMost", 50, "ms"));
    return { rows, verdicts };
  } finally {
    await server.stop();
    removeFolder(folder);
    removeFolder(files);
  }
}

export const suite: Suite = {
  name: "insight-queries",
  title: "Queries over captured events (POST /api/projects/:id/query/, without the cache), beside DuckDB",
  async run(bench): Promise<Report> {
    const small = await measure(bench, 10_000);
    const large = bench.pace.events >= 100_000 ? await measure(bench, 100_000) : undefined;
    return {
      tables: [
        {
          title: `${users.toLocaleString("en-US")} users, ${days} days`,
          columns: ["events", "query", "first ms", "p50 ms", "DuckDB ms", "× DuckDB"],
          rows: [...small.rows, ...(large?.rows ?? [])],
        },
      ],
      verdicts: [...small.verdicts, ...(large?.verdicts ?? [])],
      notes: [
        "DuckDB (npm, fetched by the bench) has the same events in a table in memory, and one thread; its reading of the file is not counted. “First”: the events are read. The total of each result is compared with DuckDB's.",
      ],
    };
  },
};
