import { setTimeout as pause } from "node:timers/promises";
import { connect } from "../client.ts";
import { removeFolder, temporaryFolder } from "../folders.ts";
import { captureBody } from "../payload.ts";
import { launch, type Program } from "../server.ts";
import { figure, hold, median, pairedRatio, quantile } from "../statistics.ts";
import type { Bench, Suite } from "../suite.ts";

interface Start {
  /** From spawn to the first answered POST /capture/. */
  ms: number;
  /** Resident bytes, a moment later. */
  memory: number;
}

interface Case {
  label: string;
  program: Program;
  /** The folder of one start. */
  folder(): Promise<string> | string;
  release(folder: string): void;
}

/** Starts one server, posts one event, waits until it is idle. It ends in good order, or its folder would not be whole. */
async function startOnce(one: Case): Promise<Start> {
  const folder = await one.folder();
  const startedAt = performance.now();
  const server = await launch(one.program, folder, false);
  const client = connect(server);
  const body = captureBody(server.key, { event: "first", distinct_id: "user-000000000000" });
  const answer = await client.call("POST", "/capture/", body);
  if (answer.status !== 200) throw new Error(`${one.label}: ${answer.status} ${answer.body}`);
  await pause(400);
  const memory = server.memory();
  client.close();
  await server.stop();
  one.release(folder);
  return { ms: answer.at - startedAt, memory };
}

const onEmpty = (label: string, program: Program): Case => ({
  label,
  program,
  folder: temporaryFolder,
  release: removeFolder,
});

function casesOf({ fixtures, pace }: Bench): Case[] {
  const full = `sim, ${pace.events.toLocaleString("en-US")} events on disk`;
  return [
    onEmpty("bare node:http", "bare"),
    onEmpty("sim, empty folder", "sim"),
    { label: full, program: "sim", folder: () => fixtures.atRest(1000), release: () => {} },
  ];
}

export const suite: Suite = {
  name: "start",
  title: "From spawn to the first answered POST /capture/, and idle memory",
  async run(bench) {
    const cases = casesOf(bench);
    bench.progress(`making ${bench.pace.events.toLocaleString("en-US")} events`);
    await bench.fixtures.atRest(1000);
    const starts = cases.map((): Start[] => []);
    for (let round = 1; round <= bench.pace.starts; round++) {
      bench.progress(`start ${round} of ${bench.pace.starts}`);
      for (const [i, one] of cases.entries()) starts[i]?.push(await startOnce(one));
    }
    const times = starts.map((all) => all.map((it) => it.ms));
    const memories = starts.map((all) => all.map((it) => it.memory));
    const [bare = [], empty = [], full = []] = times;
    const [bareMemory = [], emptyMemory = []] = memories;
    return {
      tables: [
        {
          title: "",
          columns: ["", "p50 ms", "min", "max", "× bare", "RSS MB", "× bare"],
          rows: cases.map(({ label }, i) => [
            label,
            figure(median(times[i] ?? [])),
            figure(quantile(times[i] ?? [], 0)),
            figure(quantile(times[i] ?? [], 1)),
            figure(pairedRatio(times[i] ?? [], bare)),
            figure(median(memories[i] ?? []) / 2 ** 20),
            figure(pairedRatio(memories[i] ?? [], bareMemory)),
          ]),
        },
      ],
      verdicts: [
        hold("start to bare", pairedRatio(empty, bare), "atMost", 1.2),
        hold("start on a big log to bare", pairedRatio(full, bare), "atMost", 1.5),
        hold("idle memory to bare", pairedRatio(emptyMemory, bareMemory), "atMost", 1.4),
      ],
      notes: ["Not pinned: node starts on several threads. Fresh process each time, page cache warm."],
    };
  },
};
