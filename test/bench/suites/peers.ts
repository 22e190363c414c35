import { connect } from "../client.ts";
import { removeFolder, temporaryFolder } from "../folders.ts";
import { noWarmup, runLoad, type Warmup } from "../load.ts";
import { captureBody, mixedUser } from "../payload.ts";
import { mockttp, mountebank, type Peer, peers, sim, wiremock } from "../peers.ts";
import type { Server } from "../server.ts";
import { figure, hold, median, pairedRange, pairedRatio } from "../statistics.ts";
import type { Bench, Suite } from "../suite.ts";

const connections = 10;

/** The least rate of the sim in terms of a peer's. */
const goals = new Map([
  [wiremock, 2],
  [mountebank, 4.5],
  [mockttp, 5],
]);

/** A peer's figures: the first four one per round. */
interface Figures {
  /** From spawn to the first answered capture. */
  readonly starts: number[];
  readonly rates: number[];
  /** µs of CPU per request. */
  readonly cpu: number[];
  readonly p99: number[];
  /** After the same captures for each, or as many as it took in a minute. */
  memory?: { readonly requests: number; readonly bytes: number; readonly findMs: number };
}

const bodiesFor = (key: string): Buffer[] =>
  Array.from({ length: 2000 }, (_, i) => captureBody(key, { event: "plan_selected", distinct_id: mixedUser(i), n: i }));

async function capture(server: Server, user: string): Promise<void> {
  const client = connect(server);
  const body = captureBody(server.key, { event: "needle", distinct_id: user });
  const { status, body: text } = await client.call("POST", "/capture/", body);
  client.close();
  if (status !== 200 && status !== 201) throw new Error(`POST /capture/: ${status} ${text.slice(0, 300)}`);
}

/** Starts a peer, answers one capture, and hands it over. */
async function started<T>(
  peer: Peer,
  use: (it: Awaited<ReturnType<Peer["start"]>>, startMs: number) => Promise<T>,
): Promise<T> {
  const folder = temporaryFolder();
  const startedAt = performance.now();
  const recorder = await peer.start(folder);
  try {
    await capture(recorder.server, "first");
    return await use(recorder, performance.now() - startedAt);
  } finally {
    await recorder.server.kill();
    removeFolder(folder);
  }
}

/** Java's virtual machine compiles for longer than V8. */
const warmupOf = ({ pace }: Bench): Warmup => ({ leastMs: 4 * pace.warmup.leastMs, mostMs: 4 * pace.warmup.mostMs });

const measureRound = (peer: Peer, figures: Figures, bench: Bench): Promise<void> =>
  started(peer, async ({ server }, startMs) => {
    const { requests, ms, cpuMs, p99 } = await runLoad(server, {
      ...{ path: "/capture/", bodies: bodiesFor(server.key), connections },
      ...{ warmup: warmupOf(bench), ms: 2 * bench.pace.measureMs },
    });
    figures.starts.push(startMs);
    figures.rates.push((requests / ms) * 1000);
    figures.cpu.push(((cpuMs ?? Number.NaN) / requests) * 1000);
    figures.p99.push(p99);
  });

const needle = "needle-0001";

const measureMemory = (peer: Peer, { pace }: Bench): Promise<Figures["memory"]> =>
  started(peer, async ({ server, count }) => {
    const { acknowledged } = await runLoad(server, {
      ...{ path: "/capture/", bodies: bodiesFor(server.key), connections },
      ...{ warmup: noWarmup, ms: 60_000, requests: pace.captures },
    });
    const bytes = server.memory();
    await capture(server, needle);
    const times: number[] = [];
    for (let k = 0; k < 3; k++) {
      const from = performance.now();
      const found = await count(needle);
      times.push(performance.now() - from);
      if (found !== 1) throw new Error(`has ${found} of 1 capture of ${needle}`);
    }
    return { requests: acknowledged.reduce((sum, it) => sum + it, 0), bytes, findMs: median(times) };
  });

function row({ name }: Peer, own: Figures, base: Figures): string[] {
  return [
    name,
    figure(median(own.rates)),
    figure(pairedRatio(base.rates, own.rates)),
    pairedRange(base.rates, own.rates),
    figure(median(own.cpu)),
    figure(pairedRatio(own.cpu, base.cpu)),
    figure(median(own.p99)),
    figure(median(own.starts)),
    own.memory?.requests.toLocaleString("en-US") ?? "–",
    figure((own.memory?.bytes ?? Number.NaN) / 2 ** 20),
    figure(own.memory?.findMs ?? Number.NaN),
  ];
}

/** The figures of every peer that could be measured, and the reason for each other one. */
async function measureAll(bench: Bench) {
  const { rounds } = bench.pace;
  const figures = new Map<Peer, Figures>();
  const reasons: string[] = [];
  /** A peer that fails once takes no further part. */
  const attempt = async (peer: Peer, what: string, work: () => Promise<void>): Promise<void> => {
    bench.progress(`${peer.name}: ${what}`);
    try {
      await work();
    } catch (error) {
      figures.delete(peer);
      reasons.push(`${peer.name} is left out: ${error instanceof Error ? error.message : error}`);
    }
  };
  for (const peer of peers) {
    figures.set(peer, { starts: [], rates: [], cpu: [], p99: [] });
    await attempt(peer, "install", peer.install);
  }
  for (let round = 1; round <= rounds; round++) {
    for (const [peer, own] of figures) {
      await attempt(peer, `round ${round} of ${rounds}`, () => measureRound(peer, own, bench));
    }
  }
  for (const [peer, own] of figures) {
    await attempt(peer, "memory", async () => {
      own.memory = await measureMemory(peer, bench);
    });
  }
  return { figures, reasons };
}

export const suite: Suite = {
  name: "peers",
  title: `POST /capture/ over ${connections} connections, against other programs that record requests`,
  isOptional: true,
  async run(bench) {
    const { figures, reasons } = await measureAll(bench);
    const own = figures.get(sim);
    if (!own) throw new Error(reasons.join("\n"));
    const columns = [
      ...["", "req/s", "sim ×", "range", "CPU µs/req", "× sim", "p99 ms", "start ms"],
      ...["requests", "RSS MB", "find ms"],
    ];
    return {
      tables: [{ title: "", columns, rows: [...figures].map(([peer, it]) => row(peer, it, own)) }],
      verdicts: [...figures].flatMap(([peer, it]) => {
        const goal = goals.get(peer);
        return goal === undefined
          ? []
          : [hold(`req/s to ${peer.name}`, pairedRatio(own.rates, it.rates), "atLeast", goal)];
      }),
      notes: [
        ...reasons,
        "Not pinned: each may use both cores, one of which the load uses too. Only the sim writes to a disk before it answers; json-server writes as well, after it.",
        "RSS: after this number of requests, or as many as it took in a minute. find: one request among them, by its user.",
      ],
    };
  },
};
