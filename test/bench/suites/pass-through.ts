import { type Contest, cpuPerRequest, duel, middle, type Rounds, rates } from "../duel.ts";
import { removeFolder, temporaryFolder } from "../folders.ts";
import { captureBody, digits } from "../payload.ts";
import { launch, type Server } from "../server.ts";
import { figure, hold, median, pairedRange, pairedRatio } from "../statistics.ts";
import type { Suite } from "../suite.ts";

const programs = ["pass", "mockttp", "record"] as const;
type Program = (typeof programs)[number];
type Results = Record<Program, Rounds>;

const connections = 10;

const names: Record<Program, string> = {
  pass: "hand-written node:http",
  mockttp: "mockttp alone",
  record: "phx-sim record",
};

interface Case extends Contest {
  /** The least rate in terms of the server written by hand. */
  readonly bar: number;
}

/** One path through all of them; what the sim tapes of it differs. */
function contest(label: string, bar: number, path: string, upstream: Server, more: readonly string[] = []): Case {
  return {
    label,
    bar,
    args: { pass: [upstream.url], mockttp: [upstream.url], record: ["--upstream", upstream.url, ...more] },
    load: (server, { pace }) => ({
      path,
      bodies: Array.from({ length: 100 }, (_, i) =>
        captureBody(server.key, { event: "passed", distinct_id: `user-${digits(i)}` }),
      ),
      connections,
      warmup: pace.warmup,
      ms: pace.measureMs,
    }),
  };
}

const row = (label: string, program: Program, results: Results): string[] => [
  `${label}, ${names[program]}`,
  figure(median(rates(results[program]))),
  figure(pairedRatio(rates(results[program]), rates(results.pass))),
  pairedRange(rates(results[program]), rates(results.pass)),
  figure(middle(results[program], "p50")),
  figure(middle(results[program], "p99")),
  figure(median(cpuPerRequest(results[program]))),
];

export const suite: Suite = {
  name: "pass-through",
  title: `POST over ${connections} connections, passed on to a server that drains and answers`,
  async run(bench) {
    const folder = temporaryFolder();
    const upstream = await launch("drain", folder, false);
    const contests = [
      contest("/flags/, not taped", 0.7, "/flags/", upstream, ["--exclude", "/**"]),
      contest("/flags/, taped", 0.4, "/flags/", upstream),
      contest("/capture/, taped and shown live", 0.4, "/capture/", upstream),
    ];
    const results = await duel(contests, programs, bench);
    await upstream.kill();
    removeFolder(folder);
    return {
      tables: [
        {
          title: "",
          columns: ["", "req/s", "× by hand", "range", "p50 ms", "p99 ms", "CPU µs/req"],
          rows: contests.flatMap(({ label }, i) => {
            const own = results[i];
            return own ? programs.map((program) => row(label, program, own)) : [];
          }),
        },
      ],
      verdicts: contests.map(({ label, bar }, i) =>
        hold(
          `req/s to by hand, ${label}`,
          pairedRatio(rates(results[i]?.record ?? []), rates(results[i]?.pass ?? [])),
          "atLeast",
          bar,
        ),
      ),
      notes: ["The upstream answers at once, so that only what is in between counts; it is not pinned to a core."],
    };
  },
};
