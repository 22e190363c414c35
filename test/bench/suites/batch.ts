import { type Contest, cpuPerRequest, duel, middle, type Rounds, rates } from "../duel.ts";
import { batchBody, gzipped, mixedUser } from "../payload.ts";
import { figure, hold, median, pairedRange, pairedRatio } from "../statistics.ts";
import type { Suite } from "../suite.ts";

const programs = ["sim", "naive"] as const;
type Results = Record<(typeof programs)[number], Rounds>;

const plainHeaders: Record<string, string> = {};
const gzipHeaders: Record<string, string> = { "content-encoding": "gzip" };

interface Case extends Contest {
  size: number;
}

/** A few different batches in turn: a single one could be recognised. */
function bodiesFor(key: string, size: number): Buffer[] {
  const item = (i: number) => ({ event: "plan_selected", distinct_id: mixedUser(i), n: i });
  return Array.from({ length: 8 }, (_, batch) =>
    batchBody(
      key,
      Array.from({ length: size }, (_item, i) => item(batch * size + i)),
    ),
  );
}

const caseOf = ([size, gzip]: readonly [number, boolean]): Case => ({
  size,
  label: `${size} events, ${gzip ? "gzip" : "plain"}`,
  load(server, { pace }) {
    const plain = bodiesFor(server.key, size);
    return {
      path: "/batch/",
      headers: gzip ? gzipHeaders : plainHeaders,
      bodies: gzip ? plain.map(gzipped) : plain,
      connections: 10,
      warmup: pace.warmup,
      ms: pace.measureMs,
    };
  },
});

const cases = (
  [
    [100, false],
    [100, true],
    [1000, false],
    [1000, true],
  ] as const
).map(caseOf);

function row({ label, size }: Case, program: keyof Results, results: Results): string[] {
  const own = results[program];
  return [
    `${label}, ${program}`,
    figure(median(rates(own)) * size),
    figure(pairedRatio(rates(own), rates(results.naive))),
    pairedRange(rates(own), rates(results.naive)),
    figure(middle(own, "p50")),
    figure(middle(own, "p99")),
    figure(median(cpuPerRequest(own)) / size),
  ];
}

export const suite: Suite = {
  name: "batch",
  title: "POST /batch/ over 10 connections",
  async run(bench) {
    const results = await duel(cases, programs, bench);
    const paired = cases.flatMap((it, i) => {
      const found = results[i];
      return found ? [{ it, found }] : [];
    });
    return {
      tables: [
        {
          title: "",
          columns: ["", "events/s", "× naive", "range", "p50 ms", "p99 ms", "CPU µs/event"],
          rows: paired.flatMap(({ it, found }) => programs.map((program) => row(it, program, found))),
        },
      ],
      verdicts: paired.map(({ it, found }) =>
        hold(`events/s to naive, ${it.label}`, pairedRatio(rates(found.sim), rates(found.naive)), "atLeast", 1.4),
      ),
      notes: ["naive writes a line per event. Events of about 360 bytes, half of them of one user, without a uuid."],
    };
  },
};
