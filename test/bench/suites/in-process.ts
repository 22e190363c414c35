import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { figure, median, quantile } from "../statistics.ts";
import type { Bench, Suite } from "../suite.ts";

interface Times {
  load: number;
  bare: number[];
  start: number[];
  project: number[];
}

const program = "test/bench/servers/in-process.mjs";

async function measure({ pace }: Bench): Promise<Times> {
  const { stdout } = await promisify(execFile)(process.execPath, [program, String(pace.starts * 3)]);
  return JSON.parse(stdout) as Times;
}

const row = (what: string, values: readonly number[], base: number): string[] => [
  what,
  figure(median(values)),
  figure(quantile(values, 0.9)),
  figure(median(values) / base),
];

export const suite: Suite = {
  name: "in-process",
  title: "startSim() in a test process, up to the first answered POST /capture/; a project of its own",
  async run(bench) {
    const times = await measure(bench);
    const [first = Number.NaN, ...later] = times.start;
    const base = median(times.bare);
    return {
      tables: [
        {
          title: "",
          columns: ["", "p50 ms", "p90 ms", "× bare node:http"],
          rows: [
            row("bare node:http server, listening, first answer", times.bare, base),
            row("import phx-sim", [times.load], base),
            row("startSim(), the first", [first], base),
            row("startSim(), each further one", later, base),
            row("sim.project()", times.project, base),
          ],
        },
      ],
      verdicts: [],
      notes: ["One process after the other: what is loaded once counts once."],
    };
  },
};
