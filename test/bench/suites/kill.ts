import { createReadStream } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { connect } from "../client.ts";
import { removeFolder, temporaryFolder } from "../folders.ts";
import { type LoadResult, noWarmup, runLoad } from "../load.ts";
import { captureBody } from "../payload.ts";
import { launch, type Server } from "../server.ts";
import { figure, hold } from "../statistics.ts";
import type { Bench, Suite } from "../suite.ts";

const connections = 10;
const slot = "999999999999";

interface Page {
  events: { distinct_id: string; uuid: string; seq: number }[];
  cursor: number;
  more: boolean;
}

/** What a round of load, kill and restart came to. */
interface Round {
  acknowledged: number;
  /** Acknowledged, but gone after the restart. */
  missing: number;
  /** There more than once, or with a uuid that another has. */
  repeated: number;
  /** Written, but not yet answered when the kill came: at most one per connection. */
  ahead: number;
  restartMs: number;
}

/** Numbers of the requests that were answered with 200 (see LoadResult.acknowledged). */
const numbersOf = ({ acknowledged }: LoadResult): number[] =>
  acknowledged.flatMap((count, index) => Array.from({ length: count }, (_, k) => k * connections + index));

/** The name of a round's events. */
const nameOf = (round: number): string => `kill-${round}`;

/** All of a round's events, page by page. */
async function stored(server: Server, round: number): Promise<Page["events"]> {
  const client = connect(server);
  const events: Page["events"] = [];
  for (let page: Page | undefined; !page || page.more; ) {
    const since = page?.cursor ?? 0;
    page = await client.json<Page>("GET", `/__sim/events?event=${nameOf(round)}&since=${since}&limit=10000`);
    events.push(...page.events);
  }
  client.close();
  return events;
}

/** A different moment each round, never so late that it becomes a long run. */
const momentOf = (round: number): number => 400 + ((round * 137) % 600);

async function loadAndKill(folder: string, round: number): Promise<number[]> {
  const server = await launch("sim", folder, true);
  const body = captureBody(server.key, { event: nameOf(round), distinct_id: `load-${slot}` });
  const load = runLoad(server, {
    path: "/capture/",
    bodies: [body],
    connections,
    warmup: noWarmup,
    ms: 60_000,
    slot,
    untilClosed: true,
  });
  await pause(momentOf(round));
  await server.kill();
  return numbersOf(await load);
}

function compare(acknowledged: readonly number[], events: Page["events"]): Omit<Round, "restartMs"> {
  const numbers = new Set(events.map((it) => Number(it.distinct_id.slice("load-".length))));
  const uuids = new Set(events.map((it) => it.uuid));
  const missing = acknowledged.filter((n) => !numbers.has(n)).length;
  return {
    acknowledged: acknowledged.length,
    missing,
    repeated: 2 * events.length - numbers.size - uuids.size,
    ahead: numbers.size - (acknowledged.length - missing),
  };
}

async function killOnce(folder: string, round: number): Promise<Round> {
  const acknowledged = await loadAndKill(folder, round);
  const startedAt = performance.now();
  const server = await launch("sim", folder, true);
  const restartMs = performance.now() - startedAt;
  const events = await stored(server, round);
  await server.stop();
  return { ...compare(acknowledged, events), restartMs };
}

/** Lines of the log, and how many of them are not JSON. */
async function linesOf(folder: string): Promise<{ lines: number; events: number; broken: number }> {
  const found = { lines: 0, events: 0, broken: 0 };
  for await (const line of createInterface({ input: createReadStream(join(folder, "traffic.ndjson")) })) {
    found.lines++;
    try {
      found.events += (JSON.parse(line) as { events?: unknown[] }).events?.length ?? 0;
    } catch {
      found.broken++;
    }
  }
  return found;
}

async function keptCount(folder: string): Promise<number> {
  const server = await launch("sim", folder, false);
  const client = connect(server);
  const info = await client.json<{ counts: { kept: number } }>("GET", "/__sim/info");
  client.close();
  await server.stop();
  return info.counts.kept;
}

async function killOften(bench: Bench, folder: string): Promise<Round[]> {
  const rounds: Round[] = [];
  for (let round = 1; round <= bench.pace.kills; round++) {
    bench.progress(`kill ${round} of ${bench.pace.kills}`);
    rounds.push(await killOnce(folder, round));
  }
  return rounds;
}

const sum = (rounds: readonly Round[], what: keyof Round): number => rounds.reduce((all, it) => all + it[what], 0);

export const suite: Suite = {
  name: "kill",
  title: "kill -9 under load, again and again in the same data folder",
  async run(bench) {
    const folder = temporaryFolder();
    const rounds = await killOften(bench, folder);
    const { lines, events, broken } = await linesOf(folder);
    const kept = await keptCount(folder);
    removeFolder(folder);
    const acknowledged = sum(rounds, "acknowledged");
    const missing = sum(rounds, "missing");
    const ahead = sum(rounds, "ahead");
    const expected = acknowledged - missing + ahead;
    const cells = [rounds.length, acknowledged, missing, sum(rounds, "repeated"), ahead, lines, broken, events, kept];
    return {
      tables: [
        {
          title: "",
          columns: [
            "",
            "kills",
            "acknowledged",
            "missing",
            "repeated",
            "ahead",
            "lines",
            "broken",
            "events in file",
            "kept (info)",
            "slowest restart ms",
          ],
          rows: [
            [
              "sim",
              ...cells.map((n) => n.toLocaleString("en-US")),
              figure(Math.max(...rounds.map((it) => it.restartMs))),
            ],
          ],
        },
      ],
      verdicts: [
        hold("acknowledged events that are missing", missing, "atMost", 0, ""),
        hold("events there twice", sum(rounds, "repeated"), "atMost", 0, ""),
        hold("lines that do not parse", broken, "atMost", 0, ""),
        hold("events in the file too many or too few", Math.abs(events - expected), "atMost", 0, ""),
        hold("events counted too many or too few", Math.abs(kept - expected), "atMost", 0, ""),
        hold("events ahead of their answer, per kill", ahead / rounds.length, "atMost", connections, ""),
      ],
      notes: [`${connections} connections. “ahead”: written, but killed before the answer was read.`],
    };
  },
};
