import { setTimeout as wait } from "node:timers/promises";
import { parseArgs } from "node:util";
import { type Client, connect } from "../../bench/client.ts";
import { machineFacts } from "../../bench/machine.ts";
import { launch, type Server } from "../../bench/server.ts";
import { quantile } from "../../bench/statistics.ts";
import { bombs } from "./bombs.ts";
import { measureTurns } from "./turns.ts";

const usage = "npm run soak:queries -- [--runs 100] [--timeout 1s] [--only TEXT]";

const { values: given } = parseArgs({
  options: {
    runs: { type: "string", default: "100" },
    timeout: { type: "string", default: "1s" },
    only: { type: "string", default: "" },
  },
});
const runs = Number(given.runs);
if (!Number.isInteger(runs) || runs < 1) throw new Error(usage);

/** The slowest captures of a sim with queries may take this many times as long as those of an idle one. */
const bar = 2;

/** Time between two captures, and for which an idle sim is measured before each query, ms. */
const pace = { between: 2, idle: 400 };

const many = Array.from({ length: 5_000 }, (_, n) => ({
  event: `e${n % 3}`,
  distinct_id: `u${n % 100}`,
  properties: { n, plan: `p${n % 5}` },
}));

/** Captures one event after the other until it is over. @returns their times, ms */
async function captures(client: Client, { key }: Server, isOver: () => boolean): Promise<number[]> {
  const times: number[] = [];
  const body = JSON.stringify({ api_key: key, event: "meanwhile", distinct_id: "x" });
  while (!isOver()) {
    const { status, ms } = await client.call("POST", "/capture/", body);
    if (status !== 200) throw new Error(`a capture was answered with ${status}`);
    times.push(ms);
    await wait(pace.between);
  }
  return times;
}

interface Outcome {
  readonly idle: number[];
  readonly busy: number[];
  readonly statuses: Set<number>;
}

async function runBomb(server: Server, query: unknown): Promise<Outcome> {
  const [capturing, asking] = [connect(server), connect(server)];
  const outcome: Outcome = { idle: [], busy: [], statuses: new Set() };
  // made once: it takes time in this process, which measures
  const body = Buffer.from(JSON.stringify({ query }));
  for (let run = 0; run < runs; run++) {
    const until = performance.now() + pace.idle;
    outcome.idle.push(...(await captures(capturing, server, () => performance.now() > until)));
    let isOver = false;
    const asked = asking.call("POST", "/__sim/query", body).finally(() => {
      isOver = true;
    });
    outcome.busy.push(...(await captures(capturing, server, () => isOver)));
    outcome.statuses.add((await asked).status);
  }
  capturing.close();
  asking.close();
  return outcome;
}

console.log(`${machineFacts()}; ${runs} runs of each query\n`);
const isShort = given.only === "" || given.only === "turns" ? await measureTurns(runs) : true;
if (given.only === "turns") process.exit(isShort ? 0 : 1);
console.log("");
const server = await launch("memory", "", false, ["--query-timeout", given.timeout]);
const filling = connect(server);
await filling.json("POST", "/batch/", JSON.stringify({ api_key: server.key, batch: many }));
filling.close();

const all: Outcome[] = [];
const line = (name: string, { idle, busy, statuses }: Outcome): string => {
  const [quiet, loud] = [quantile(idle, 0.99), quantile(busy, 0.99)];
  const figures = `p99 ${loud.toFixed(2)} ms, idle ${quiet.toFixed(2)} ms: ${(loud / quiet).toFixed(2)} ×`;
  return `${name.padEnd(48)} ${figures.padEnd(40)} answers ${[...statuses].sort().join(", ")}`;
};
for (const { name, query } of bombs.filter((it) => it.name.includes(given.only))) {
  const outcome = await runBomb(server, query);
  all.push(outcome);
  console.log(line(name, outcome));
}
const total: Outcome = {
  idle: all.flatMap((it) => it.idle),
  busy: all.flatMap((it) => it.busy),
  statuses: new Set(all.flatMap((it) => [...it.statuses])),
};
const megabytes = Math.round(server.memory() / 2 ** 20);
console.log(`\n${line("all", total)}; the sim uses ${megabytes} MB`);
await server.stop();

const isMet = quantile(total.busy, 0.99) <= bar * quantile(total.idle, 0.99);
const isRight = [...total.statuses].every((it) => [400, 413, 504, 513].includes(it));
console.log(isMet && isRight ? `met: at most ${bar} ×` : `missed: at most ${bar} ×, and an error for each query`);
process.exitCode = isMet && isRight && isShort ? 0 : 1;
