import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { type Client, connect } from "../../bench/client.ts";
import { launch, type Server } from "../../bench/server.ts";
import { bombs } from "./bombs.ts";

/** No request may take more of the event loop at once, ms. */
const longestTurn = 50;
/** The shortest of this many runs counts: other programs on the machine make turns longer, never shorter. */
const mostAttempts = 5;
/** The longest turns that are printed. */
const shown = 15;

const batchOf = (key: string, count: number, properties: object): Buffer =>
  gzipSync(
    JSON.stringify({
      api_key: key,
      batch: Array.from({ length: count }, (_, i) => ({ event: `e${i}`, distinct_id: `u${i % 100}`, properties })),
    }),
    { level: 1 },
  );

/** Requests beyond the lists that have no parameters. `first`: before the sim was asked anything. */
const more = [
  "requests/1",
  "requests/2",
  "events?limit=10000",
  "events?limit=10&filter=%22later%22",
  "events?where=%7B%22properties%22%3A%7B%22i%22%3A3%7D%7D",
  "requests?limit=1000&filter=%22later%22",
  "feed/events?limit=200&filter=%22none%22",
  "feed/requests?limit=200&filter=%22none%22",
  "totals?events=%22none%22",
  "totals?requests=%22none%22",
  "feed/histogram?filter=%22none%22",
];
const first = "openapi.json";

interface Metered {
  readonly server: Server;
  readonly client: Client;
  /** The longest turn since the last call, ms. */
  longest(): Promise<number>;
  stop(): Promise<void>;
}

async function launchMetered(): Promise<Metered> {
  const folder = mkdtempSync(join(tmpdir(), "phx-turns-"));
  const file = join(folder, "port");
  const meter = pathToFileURL(resolve("test/service/query/turn-meter.mjs")).href;
  const env = { TURN_METER: file, NODE_OPTIONS: `--import=${meter}` };
  const server = await launch("memory", "", false, ["--query-timeout", "1s"], { env });
  const port = readFileSync(file, "utf8");
  const client = connect(server);
  return {
    server,
    client,
    longest: async () => Number(await (await fetch(`http://127.0.0.1:${port}/`)).text()),
    async stop() {
      client.close();
      await server.stop();
      rmSync(folder, { recursive: true });
    },
  };
}

async function fill({ server: { key }, client }: Metered): Promise<void> {
  const text = "ü".repeat(400);
  const send = async (path: string, body: Buffer) => {
    const { status, body: text } = await client.call("POST", path, body);
    if (status !== 200) throw new Error(`${path}: ${status} ${text.slice(0, 300)}`);
  };
  for (let i = 0; i < 5; i++)
    await send("/batch/?compression=gzip", batchOf(key, 20_000, { text, list: [{}, [1, 2, 3]] }));
  await send("/batch/?compression=gzip", batchOf(key, 20, { list: Array.from({ length: 20_000 }, () => [{}]) }));
  for (let i = 0; i < 60; i++)
    await send(
      "/capture/?compression=gzip",
      gzipSync(
        JSON.stringify({
          api_key: key,
          event: "later",
          distinct_id: "u",
          properties: { text: "x".repeat(300_000), i },
        }),
      ),
    );
}

/** Lists and reports that have no required parameters, and end by themselves. */
async function listPaths({ client }: Metered): Promise<string[]> {
  const { paths } = await client.json<{ paths: Record<string, { get?: object }> }>("GET", "/__sim/openapi.json");
  const all = Object.keys(paths).filter((it) => it.startsWith("/__sim/") && paths[it]?.get && !it.includes("{"));
  return all.map((it) => it.slice("/__sim/".length)).filter((it) => it !== "" && !it.endsWith("/stream"));
}

/** Prints the longest turns of requests. @returns true if all are short enough */
export async function measureTurns(runs: number): Promise<boolean> {
  const longest = new Map<string, number>();
  const measure = async (name: string, { client, longest: take }: Metered, path: string, body?: string) => {
    await take();
    await client.call(body === undefined ? "GET" : "POST", `/__sim/${path}`, body);
    longest.set(name, Math.min(await take(), longest.get(name) ?? Number.POSITIVE_INFINITY));
  };
  for (let attempt = 0; attempt < Math.min(runs, mostAttempts); attempt++) {
    const metered = await launchMetered();
    await measure(`${first} at first`, metered, first);
    await fill(metered);
    for (const path of [...more, ...(await listPaths(metered))]) await measure(path, metered, path);
    for (const { name, query } of bombs) await measure(`query: ${name}`, metered, "query", JSON.stringify({ query }));
    await metered.stop();
  }
  for (const [name, ms] of [...longest].sort(([, a], [, b]) => b - a).slice(0, shown))
    console.log(`${name.padEnd(60)} longest turn ${ms.toFixed(1)} ms`);
  return [...longest.values()].every((it) => it <= longestTurn);
}
