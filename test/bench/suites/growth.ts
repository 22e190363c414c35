import { connect } from "../client.ts";
import { createFixtures, type Filled } from "../fixture.ts";
import { removeFolder } from "../folders.ts";
import { runLoad } from "../load.ts";
import { captureBody, mixedUser } from "../payload.ts";
import { launch, type Server } from "../server.ts";
import { figure, growthOf, median } from "../statistics.ts";
import type { Bench, Suite } from "../suite.ts";
import { askMany } from "./query.ts";
import { startOnce } from "./start.ts";

/** The rows that a view of the page loads first. */
const pageRows = 500;
const connections = 10;

/** The costs at one size. */
interface Costs {
  readonly memory: number;
  readonly query: number;
  readonly events: number;
  readonly requests: number;
  readonly start: number;
  readonly capture: number;
}

/** p50 of a first list request of the page, in ms. */
async function listMs(server: Server, kind: "events" | "requests", calls: number): Promise<number> {
  const client = connect(server);
  const times: number[] = [];
  for (let k = -calls; k < calls; k++) {
    const { status, ms } = await client.call("GET", `/__sim/feed/${kind}?limit=${pageRows}`);
    if (status !== 200) throw new Error(`GET /__sim/feed/${kind}: ${status}`);
    if (k >= 0) times.push(ms);
  }
  client.close();
  return median(times);
}

/** ms from spawn to the first answered capture. */
async function startMs(folder: string, { pace }: Bench): Promise<number> {
  const one = { label: "sim", program: "sim", folder: () => folder, release: () => {} } as const;
  const times: number[] = [];
  for (let k = 0; k < Math.min(5, pace.starts); k++) times.push((await startOnce(one, pace)).ms);
  return median(times);
}

/** µs of CPU per capture. */
async function captureCpu(folder: string, { pace }: Bench): Promise<number> {
  const server = await launch("sim", folder, true);
  const bodies = Array.from({ length: 2000 }, (_, i) =>
    captureBody(server.key, { event: "plan_selected", distinct_id: mixedUser(i), n: i }),
  );
  const { cpuMs, requests } = await runLoad(server, {
    ...{ path: "/capture/", bodies, connections, warmup: pace.warmup, ms: 2 * pace.measureMs },
  });
  await server.stop();
  return ((cpuMs ?? Number.NaN) / requests) * 1000;
}

/** Captures come last: they add events. */
async function costsOf(filled: Filled, stop: () => Promise<string>, bench: Bench): Promise<Costs> {
  const { server, memory } = filled;
  const { calls } = bench.pace;
  await askMany(server, filled, calls);
  const query = median(await askMany(server, filled, calls));
  const events = await listMs(server, "events", calls / 10);
  const requests = await listMs(server, "requests", calls / 10);
  const folder = await stop();
  const start = await startMs(folder, bench);
  const capture = await captureCpu(folder, bench);
  removeFolder(folder);
  return { memory: memory.filled / 2 ** 20, query, events, requests, start, capture };
}

const rows: readonly (readonly [keyof Costs, string])[] = [
  ["capture", "POST /capture/, CPU µs"],
  ["query", "events named X by U, p50 ms"],
  ["events", `first ${pageRows} events of the page, p50 ms`],
  ["requests", `first ${pageRows} requests of the page, p50 ms`],
  ["start", "start to the first answered capture, ms"],
  ["memory", "RSS MB"],
];

export const suite: Suite = {
  name: "growth",
  title: "How costs grow with the journal, each event of a user of its own",
  async run(bench) {
    const sizes = bench.pace.growth;
    const found: Costs[] = [];
    for (const size of sizes) {
      bench.progress(`${size.toLocaleString("en-US")} events`);
      const fixtures = createFixtures(size, bench.pace.quietMs);
      const filled = await fixtures.filled(size);
      found.push(await costsOf(filled, () => fixtures.atRest(size), bench));
    }
    return {
      tables: [
        {
          title: "",
          columns: ["events", ...sizes.map((it) => it.toLocaleString("en-US")), "growth"],
          rows: rows.map(([cost, label]) => {
            const costs = found.map((it) => it[cost]);
            return [label, ...costs.map(figure), growthOf(sizes, costs)];
          }),
        },
      ],
      verdicts: [],
      notes: [
        "growth: the better fit of a + b·ln(n) and a + b·n; flat if it rises by less than a quarter. The captures' events come on top of each size.",
      ],
    };
  },
};
