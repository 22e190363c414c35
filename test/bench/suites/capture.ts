import { type Contest, cpuPerRequest, duel, middle, type Rounds, rates } from "../duel.ts";
import { captureBody, mixedUser } from "../payload.ts";
import { figure, hold, median, pairedRange, pairedRatio } from "../statistics.ts";
import type { Suite } from "../suite.ts";

const programs = ["sim", "memory", "naive", "grouping", "drain"] as const;
type Results = Record<(typeof programs)[number], Rounds>;

const bodiesFor = (key: string): Buffer[] =>
  Array.from({ length: 2000 }, (_, i) =>
    captureBody(key, { event: "plan_selected", distinct_id: mixedUser(i), n: i }),
  );

const contestAt = (connections: number): Contest => ({
  label: `${connections} ${connections === 1 ? "connection" : "connections"}`,
  load: (server, { pace }) => ({
    path: "/capture/",
    bodies: bodiesFor(server.key),
    connections,
    warmupMs: pace.warmupMs,
    ms: pace.measureMs,
  }),
});

const contests = [1, 10, 50].map(contestAt);

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

/** One connection measures the system's wake-ups more than the code: it has no bar. */
const verdictsOf = (label: string, { sim, memory, naive, grouping, drain }: Results) => [
  hold(`req/s to naive, ${label}`, pairedRatio(rates(sim), rates(naive)), "atLeast", 1.6),
  hold(
    `req/s to naive with grouped writes, ${label}`,
    pairedRatio(rates(sim), rates(grouping)),
    "atLeast",
    1.4,
  ),
  hold(`req/s in memory to on a data folder, ${label}`, pairedRatio(rates(memory), rates(sim)), "atLeast", 1),
  hold(
    `CPU per request to drain, ${label}`,
    pairedRatio(cpuPerRequest(sim), cpuPerRequest(drain)),
    "atMost",
    1.6,
  ),
];

export const suite: Suite = {
  name: "capture",
  title: "POST /capture/ of one 417-byte event, answered once written and queryable",
  async run(bench) {
    const results = await duel(contests, programs, bench);
    const labelled = results.map((it, i) => ({ label: contests[i]?.label ?? "", results: it }));
    return {
      tables: [
        {
          title: "",
          columns: ["", "req/s", "× naive", "range", "p50 ms", "p99 ms", "CPU µs/req", "× drain"],
          rows: labelled.flatMap((it) => programs.map((program) => row(it.label, program, it.results))),
        },
      ],
      verdicts: labelled.slice(1).flatMap((it) => verdictsOf(it.label, it.results)),
      notes: [
        "sim: on a data folder; memory: without one. naive: node:http, parse, check, keep, stringify, append to a log; grouping: the log every 10 ms. drain: reads, answers.",
        "Every second event is of one user, the others of 1,000 users in turn; none has a uuid.",
      ],
    };
  },
};
