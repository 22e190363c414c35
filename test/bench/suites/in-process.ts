import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { figure, hold, median, quantile } from "../statistics.ts";
import type { Bench, Suite } from "../suite.ts";

interface Times {
  load: number;
  first: number;
  bare: number[];
  start: number[];
  answer: number[];
  project: number[];
}

const program = "test/bench/servers/in-process.mjs";
/** Sims after the first one, in each process. */
const further = "10";

async function measure({ pace, progress }: Bench): Promise<Times[]> {
  const all: Times[] = [];
  for (let k = 1; k <= pace.starts; k++) {
    progress(`process ${k} of ${pace.starts}`);
    const { stdout } = await promisify(execFile)(process.execPath, [program, further]);
    all.push(JSON.parse(stdout) as Times);
  }
  return all;
}

export const suite: Suite = {
  name: "in-process",
  title: "startSim() in a test process, a project of its own",
  async run(bench) {
    const all = await measure(bench);
    const loads = all.map((it) => it.load);
    const firsts = all.map((it) => it.first);
    const starts = all.flatMap((it) => it.start);
    const bare = all.flatMap((it) => it.bare);
    const row = (what: string, values: readonly number[]): string[] => [
      what,
      figure(median(values)),
      figure(quantile(values, 0.9)),
      figure(median(values) / median(bare)),
    ];
    return {
      tables: [
        {
          title: "",
          columns: ["", "p50 ms", "p90 ms", "× bare node:http"],
          rows: [
            row("bare node:http server, listening, first answer", bare),
            row("import phx-sim", loads),
            row("import and the first startSim()", firsts),
            row("startSim(), each further one", starts),
            row(
              "its first answered POST /capture/",
              all.flatMap((it) => it.answer),
            ),
            row(
              "sim.project()",
              all.flatMap((it) => it.project),
            ),
          ],
        },
      ],
      verdicts: [
        hold("import and the first startSim()", median(firsts), "atMost", 40, "ms"),
        hold("each further startSim()", median(starts), "atMost", 5, "ms"),
      ],
      notes: [`${all.length} processes; in each the first sim, then ${further} further ones.`],
    };
  },
};
