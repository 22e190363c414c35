import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { connect } from "../client.ts";
import { removeFolder, temporaryFolder } from "../folders.ts";
import { captureBody } from "../payload.ts";
import { launch, type Program, type Runtime } from "../server.ts";
import { figure, hold, median, pairedRatio, quantile } from "../statistics.ts";
import type { Bench, Pace, Suite, Verdict } from "../suite.ts";

interface Start {
  /** From spawn to the first answered POST /capture/. */
  ms: number;
  /** Resident bytes, a moment later. */
  memory: number;
}

interface Case {
  label: string;
  program: Program;
  runtime?: Runtime;
  /** The folder of one start. */
  folder(): Promise<string> | string;
  release(folder: string): void;
}

/** Starts one server, posts one event, waits until it is idle. It ends in good order, or its folder would not be whole. */
export async function startOnce(one: Case, { quietMs }: Pace): Promise<Start> {
  const folder = await one.folder();
  const startedAt = performance.now();
  const server = await launch(one.program, folder, false, [], one.runtime);
  const client = connect(server);
  const body = captureBody(server.key, { event: "first", distinct_id: "user-000000000000" });
  const answer = await client.call("POST", "/capture/", body);
  if (answer.status !== 200) throw new Error(`${one.label}: ${answer.status} ${answer.body}`);
  await pause(Math.min(400, quietMs));
  const memory = server.memory();
  client.close();
  await server.stop();
  one.release(folder);
  return { ms: answer.at - startedAt, memory };
}

const onEmpty = (label: string, program: Program, runtime?: Runtime): Case => ({
  label,
  program,
  ...(runtime && { runtime }),
  folder: temporaryFolder,
  release: removeFolder,
});

/** The first Node with a compile cache that the sim switches on. */
const cachingMajor = 22;
const major = Number(process.versions.node.split(".")[0]);

/** A Node with a compile cache: the running one, or one from npm. @throws Error if it cannot be installed */
async function cachingNode({ installed }: Bench): Promise<string> {
  if (major >= cachingMajor) return process.execPath;
  if (!installed) throw new Error("nothing is installed");
  const spec = `node-${process.platform === "win32" ? "win" : process.platform}-${process.arch}@${cachingMajor}`;
  return join(await installed(`phx-nodes/${cachingMajor}`, spec), "bin/node");
}

/** The cases take turns. */
async function measure<N extends string>(
  named: Record<N, Case>,
  { pace, progress }: Bench,
): Promise<Record<N, Start[]>> {
  const names = Object.keys(named) as N[];
  const starts = Object.fromEntries(names.map((it) => [it, [] as Start[]])) as Record<N, Start[]>;
  for (let round = 1; round <= pace.starts; round++) {
    progress(`start ${round} of ${pace.starts}`);
    for (const name of names) starts[name].push(await startOnce(named[name], pace));
  }
  return starts;
}

const times = (starts: readonly Start[]): number[] => starts.map((it) => it.ms);
const memories = (starts: readonly Start[]): number[] => starts.map((it) => it.memory);

const row = ({ label }: Case, starts: readonly Start[], bare: readonly Start[]): string[] => [
  label,
  figure(median(times(starts))),
  figure(quantile(times(starts), 0)),
  figure(quantile(times(starts), 1)),
  figure(pairedRatio(times(starts), times(bare))),
  figure(median(memories(starts)) / 2 ** 20),
  figure(pairedRatio(memories(starts), memories(bare))),
];

const ratio = (own: readonly Start[], base: readonly Start[]) => pairedRatio(times(own), times(base));

interface Part {
  rows: string[][];
  verdicts: Verdict[];
  notes: string[];
}

/** On this Node, with and without a big log. */
async function plain(bench: Bench): Promise<Part> {
  const { fixtures, pace } = bench;
  bench.progress(`making ${pace.events.toLocaleString("en-US")} events`);
  const cases = {
    bare: onEmpty("bare node:http", "bare"),
    sim: onEmpty("sim, empty folder", "sim"),
    full: {
      ...onEmpty(`sim, ${pace.events.toLocaleString("en-US")} events on disk`, "sim"),
      folder: () => fixtures.atRest(1000),
      release: () => {},
    },
  };
  await fixtures.atRest(1000);
  const { bare, sim, full } = await measure(cases, bench);
  return {
    rows: [row(cases.bare, bare, bare), row(cases.sim, sim, bare), row(cases.full, full, bare)],
    verdicts: [
      hold("start to bare", ratio(sim, bare), "atMost", 1.25),
      hold("start on a big log to bare", ratio(full, bare), "atMost", 1.4),
      hold("idle memory to bare", pairedRatio(memories(sim), memories(bare)), "atMost", 1.3),
    ],
    notes: [],
  };
}

const cachedVerdict = (measured: number) => hold("start to bare, compile cache", measured, "atMost", 1.2);

/** With a compile cache that one start has filled. */
async function cached(bench: Bench): Promise<Part> {
  const runtime = { node: await cachingNode(bench), env: { NODE_COMPILE_CACHE: temporaryFolder() } };
  const cases = {
    bare: onEmpty("bare node:http, compile cache", "bare", runtime),
    sim: onEmpty("sim, compile cache", "sim", runtime),
  };
  for (const one of Object.values(cases)) await startOnce(one, bench.pace);
  const { bare, sim } = await measure(cases, bench);
  const version = major >= cachingMajor ? major : cachingMajor;
  return {
    rows: [row(cases.bare, bare, bare), row(cases.sim, sim, bare)],
    verdicts: [cachedVerdict(ratio(sim, bare))],
    notes: [`Compile cache: Node ${version}, filled by one start that is not counted.`],
  };
}

const notCached = (error: Error): Part => ({
  rows: [],
  verdicts: [cachedVerdict(Number.NaN)],
  notes: [`No compile cache: ${error.message}`],
});

export const suite: Suite = {
  name: "start",
  title: "From spawn to the first answered POST /capture/, and idle memory",
  async run(bench) {
    const parts = [await plain(bench), await cached(bench).catch(notCached)];
    const columns = ["", "p50 ms", "min", "max", "× bare", "RSS MB", "× bare"];
    return {
      tables: [{ title: "", columns, rows: parts.flatMap((it) => it.rows) }],
      verdicts: parts.flatMap((it) => it.verdicts),
      notes: [
        "Not pinned: node starts on several threads. Fresh process each time, page cache warm.",
        ...parts.flatMap((it) => it.notes),
      ],
    };
  },
};
