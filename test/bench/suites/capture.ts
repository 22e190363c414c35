import { type Contest, cpuPerRequest, duel, memories, middle, type Rounds, rates } from "../duel.ts";
import { noWarmup } from "../load.ts";
import { captureBody, mixedUser } from "../payload.ts";
import { figure, hold, median, pairedRange, pairedRatio } from "../statistics.ts";
import type { Suite } from "../suite.ts";

const programs = ["sim", "memory", "naive", "grouping", "drain"] as const;
type Results = Record<(typeof programs)[number], Rounds>;

const bodiesFor = (key: string): Buffer[] =>
  Array.from({ length: 2000 }, (_, i) => captureBody(key, { event: "plan_selected", distinct_id: mixedUser(i), n: i }));

interface Case extends Contest {
  /** The most CPU per request in terms of a server that only drains. */
  drained: number;
}

const caseOf = ([connections, drained]: readonly [number, number]): Case => ({
  drained,
  label: `${connections} connections`,
  load: (server, { pace }) => ({
    path: "/capture/",
    bodies: bodiesFor(server.key),
    connections,
    warmup: pace.warmup,
    ms: pace.measureMs,
  }),
});

const cases = (
  [
    [10, 1.6],
    [50, 1.4],
  ] as const
).map(caseOf);

/** As many captures for each, however fast it is. */
const fixedLoad: Contest = {
  label: "memory after the same captures",
  load: (server, { pace }) => ({
    path: "/capture/",
    bodies: bodiesFor(server.key),
    connections: 10,
    warmup: noWarmup,
    ms: 120_000,
    requests: pace.captures,
  }),
};

const stores = ["sim", "memory"] as const;
type Stores = Record<(typeof stores)[number], Rounds>;

function row(label: string, program: keyof Results, results: Results): string[] {
  const { naive, drain } = results;
  const own = results[program];
  return [
    `${label}, ${program}`,
    figure(median(rates(own))),
    figure(pairedRatio(rates(own), rates(naive))),
    pairedRange(rates(own), rates(naive)),
    figure(middle(own, "p50")),
    figure(middle(own, "p99")),
    figure(median(cpuPerRequest(own))),
    figure(pairedRatio(cpuPerRequest(own), cpuPerRequest(drain))),
  ];
}

const verdictsOf = (label: string, drained: number, { sim, memory, naive, grouping, drain }: Results) => [
  hold(`req/s to naive, ${label}`, pairedRatio(rates(sim), rates(naive)), "atLeast", 1.6),
  hold(`req/s to naive with grouped writes, ${label}`, pairedRatio(rates(sim), rates(grouping)), "atLeast", 1.4),
  hold(`req/s in memory to on a data folder, ${label}`, pairedRatio(rates(memory), rates(sim)), "atLeast", 1),
  hold(
    `CPU per request in memory to on a data folder, ${label}`,
    pairedRatio(cpuPerRequest(memory), cpuPerRequest(sim)),
    "atMost",
    1,
  ),
  hold(`CPU per request to drain, ${label}`, pairedRatio(cpuPerRequest(sim), cpuPerRequest(drain)), "atMost", drained),
];

const memoryRow = (store: keyof Stores, { [store]: own, sim }: Stores): string[] => [
  store,
  figure(median(memories(own)) / 2 ** 20),
  figure(pairedRatio(memories(own), memories(sim))),
  pairedRange(memories(own), memories(sim)),
];

export const suite: Suite = {
  name: "capture",
  title: "POST /capture/ of one 417-byte event, answered once written and queryable",
  async run(bench) {
    const results = await duel(cases, programs, bench);
    const measured = cases.flatMap((it, i) => {
      const found = results[i];
      return found ? [{ ...it, found }] : [];
    });
    const [fixed = { sim: [], memory: [] }] = await duel([fixedLoad], stores, bench);
    return {
      tables: [
        {
          title: "",
          columns: ["", "req/s", "× naive", "range", "p50 ms", "p99 ms", "CPU µs/req", "× drain"],
          rows: measured.flatMap(({ label, found }) => programs.map((it) => row(label, it, found))),
        },
        {
          title: `after ${bench.pace.captures.toLocaleString("en-US")} captures over 10 connections`,
          columns: ["", "RSS MB", "× sim", "range"],
          rows: stores.map((store) => memoryRow(store, fixed)),
        },
      ],
      verdicts: [
        ...measured.flatMap(({ label, drained, found }) => verdictsOf(label, drained, found)),
        hold(
          "memory in memory mode to on a data folder",
          pairedRatio(memories(fixed.memory), memories(fixed.sim)),
          "atMost",
          1,
        ),
      ],
      notes: [
        "sim: on a data folder; memory: without one. naive: node:http, parse, check, keep, stringify, append to a log; grouping: the log every 10 ms. drain: reads, answers.",
        "Every second event is of one user, the others of 1,000 users in turn; none has a uuid.",
      ],
    };
  },
};
