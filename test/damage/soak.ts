import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { parseArgs } from "node:util";
import { type Client, connect } from "../bench/client.ts";
import { machineFacts } from "../bench/machine.ts";
import { launch, type Server } from "../bench/server.ts";
import { type Way, ways } from "./foreign-ways.ts";

const usage = "npm run soak:log -- [--runs 100] [--only TEXT]";

const { values: given } = parseArgs({
  options: { runs: { type: "string", default: "100" }, only: { type: "string", default: "" } },
});
const runs = Number(given.runs);
if (!Number.isInteger(runs) || runs < 1) throw new Error(usage);

/** Runs with one sim. Every other sim is killed at its end. */
const perSim = 10;
/** Connections that capture, and the time of a run, ms. */
const writers = 4;
const runMs = 40;
/** A change is to be noticed within this time, ms. */
const bar = 1000;

interface Damage {
  damage: { file: string; line: number | null; detail: string }[];
}

const textsOf = ({ damage }: Damage): string[] =>
  damage.map(({ file, line, detail }) => `${file}${line === null ? "" : `:${line}`}: ${detail}`);

let captured = 0;

/** Captures events until it is over; a 503 is tried again. */
async function capture(server: Server, isOver: () => boolean, acknowledged: Set<string>): Promise<void> {
  const client = connect(server);
  while (!isOver()) {
    const event = `event-${captured++}`;
    const properties = { $set: { last: event } };
    const body = JSON.stringify({ api_key: server.key, event, distinct_id: event, properties });
    let status = 503;
    while (status === 503 && !isOver()) ({ status } = await client.call("POST", "/capture/", body));
    if (status === 200) acknowledged.add(event);
    else if (status !== 503) throw new Error(`a capture was answered with ${status}`);
  }
  client.close();
}

/** All events with their seqs. */
async function listed(client: Client): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  for (let since = 0, more = true; more; ) {
    const page = await client.json<{ events: { event: string; seq: number }[]; cursor: number; more: boolean }>(
      "GET",
      `/__sim/events?limit=10000&since=${since}`,
    );
    for (const { event, seq } of page.events) found.set(event, seq);
    ({ cursor: since, more } = page);
  }
  return found;
}

/** The events whose seqs a sim reported as lost. */
function lostSeqs(texts: readonly string[]): (seq: number) => boolean {
  const ranges = texts.flatMap((it) => [...it.matchAll(/events? (\d+)(?: to (\d+))? lost/g)]);
  return (seq) => ranges.some(([, from, to]) => seq >= Number(from) && seq <= Number(to ?? from));
}

interface Outcome {
  events: number;
  missing: string[];
  /** Events that a sim reported as lost, after a way that removes content. */
  reported: number;
  slowest: number;
  unnoticed: number;
}

async function untilSaid(client: Client, says: RegExp): Promise<number> {
  const startedAt = performance.now();
  for (;;) {
    const texts = textsOf(await client.json<Damage>("GET", "/__sim/info"));
    const ms = performance.now() - startedAt;
    if (says.test(texts.join("\n")) || ms > 10 * bar) return ms;
    await wait(5);
  }
}

const files = ["traffic.ndjson", "people.ndjson", "world.json", "run.json"];

/** Waits until all files have content. @returns how long, ms */
async function untilWhole(data: string): Promise<number> {
  const startedAt = performance.now();
  const isWhole = () =>
    files.every((it) => {
      const found = statSync(join(data, it), { throwIfNoEntry: false });
      return found?.isFile() && found.size > 0;
    });
  while (!isWhole() && performance.now() - startedAt < 10 * bar) await wait(5);
  return performance.now() - startedAt;
}

/** Some runs of a way with one sim, and a start afterwards. */
async function withOneSim(way: Way, count: number, isKilled: boolean, outcome: Outcome): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "phx-soak-"));
  const data = join(folder, "data");
  const server = await launch("sim", data, false);
  const client = connect(server);
  // the first call loads the control API
  await client.json("GET", "/__sim/info");
  const acknowledged = new Set<string>();
  const check = (found: ReadonlyMap<string, number>, when: string) => {
    for (const it of acknowledged) if (!found.has(it)) outcome.missing.push(`${it} ${when}`);
  };
  for (let run = 0; run < count; run++) {
    let isOver = false;
    const start = () => Array.from({ length: writers }, () => capture(server, () => isOver, acknowledged));
    const half = async () => {
      isOver = false;
      const working = start();
      const before = acknowledged.size;
      await wait(runMs / 2);
      while (acknowledged.size === before) await wait(1);
      isOver = true;
      await Promise.all(working);
    };
    if (way.isLossy) {
      await half();
      const before = await listed(client);
      check(before, "before");
      way.act(data);
      await half();
      await wait(bar / 2);
      const isLost = lostSeqs(textsOf(await client.json<Damage>("GET", "/__sim/info")));
      const after = await listed(client);
      for (const [event, seq] of before)
        if (!after.has(event) && isLost(seq)) {
          acknowledged.delete(event);
          outcome.reported++;
        }
      check(after, "after");
    } else {
      const working = start();
      const before = acknowledged.size;
      while (acknowledged.size < before + writers) await wait(1);
      const repaired = await untilWhole(data);
      way.act(data);
      const noticed = run === 0 ? await untilSaid(client, way.says) : repaired;
      await wait(runMs / 2);
      isOver = true;
      await Promise.all(working);
      outcome.slowest = Math.max(outcome.slowest, noticed);
      if (noticed > bar) outcome.unnoticed++;
      check(await listed(client), "while it runs");
    }
  }
  // noticed within a second, also when nothing is captured
  await wait(bar);
  client.close();
  await (isKilled ? server.kill() : server.stop());
  const next = await launch("sim", data, false);
  const again = connect(next);
  check(await listed(again), isKilled ? "after a kill" : "after a stop");
  again.close();
  await next.stop();
  outcome.events += acknowledged.size;
  rmSync(folder, { recursive: true, force: true });
}

/** A second sim is started on the folder of the first, whose lock is gone or cannot be read. */
async function withTwoSims(count: number): Promise<{ refused: number; taken: number; missing: string[] }> {
  const folder = mkdtempSync(join(tmpdir(), "phx-soak-"));
  const data = join(folder, "data");
  const lockWays = ways.filter(({ name }) => name.startsWith("run.json"));
  const found = { refused: 0, taken: 0, missing: [] as string[] };
  const acknowledged = new Set<string>();
  let server = await launch("sim", data, false);
  for (let run = 0; run < count; run++) {
    let isOver = false;
    const writing = [capture(server, () => isOver, acknowledged)];
    await wait(runMs / 2);
    lockWays[run % lockWays.length]?.act(data);
    const second = await launch("sim", data, false).catch((error: Error) => error);
    if (second instanceof Error) {
      if (!second.message.includes("in use by pid")) throw second;
      found.refused++;
    } else {
      found.taken++;
      writing.push(capture(second, () => isOver, acknowledged));
      await wait(runMs);
    }
    isOver = true;
    await Promise.all(writing);
    if (!(second instanceof Error)) {
      await server.stop();
      server = second;
    }
  }
  await server.stop();
  server = await launch("sim", data, false);
  const client = connect(server);
  const events = await listed(client);
  for (const it of acknowledged) if (!events.has(it)) found.missing.push(it);
  client.close();
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
  return found;
}

console.log(`${machineFacts()}; ${runs} runs of each way\n`);
let isMet = true;
for (const way of ways.filter((it) => it.name.includes(given.only))) {
  const outcome: Outcome = { events: 0, missing: [], reported: 0, slowest: 0, unnoticed: 0 };
  for (let done = 0, isKilled = true; done < runs; done += perSim, isKilled = !isKilled)
    await withOneSim(way, Math.min(perSim, runs - done), isKilled, outcome);
  const { events, missing, reported, slowest, unnoticed } = outcome;
  const lost = way.isLossy ? `, ${reported} removed and reported` : `, noticed after ${Math.round(slowest)} ms`;
  console.log(`${way.name.padEnd(52)} ${events} events, ${missing.length} missing${lost}`);
  if (missing.length > 0) console.log(`  ${missing.slice(0, 5).join(", ")}`);
  if (missing.length + unnoticed > 0) isMet = false;
}
if ("a second sim".includes(given.only)) {
  const { refused, taken, missing } = await withTwoSims(runs);
  const counts = `${refused} refused, ${taken} took the folder over`;
  console.log(`${"a second sim, without a lock that can be read".padEnd(52)} ${missing.length} missing, ${counts}`);
  if (missing.length > 0) isMet = false;
}
console.log(isMet ? "\nmet: no acknowledged event is missing" : "\nmissed");
process.exitCode = isMet ? 0 : 1;
