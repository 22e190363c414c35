import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { build } from "esbuild";
import { connect } from "../client.ts";
import { type Contest, cpuPerRequest, duel, middle, type Rounds, rates } from "../duel.ts";
import { flagScenario, flagsBody } from "../flag-world.ts";
import { removeFolder, temporaryFolder } from "../folders.ts";
import { command } from "../machine.ts";
import { launch } from "../server.ts";
import { figure, hold, median, pairedRange, pairedRatio } from "../statistics.ts";
import type { Bench, Suite, Table } from "../suite.ts";

const programs = ["sim", "canned"] as const;
type Results = Record<(typeof programs)[number], Rounds>;

const counts = [20, 200];
const connections = 10;
const path = "/flags?v=2";
const users = 1000;

/** What a sim with such flags says of one user. */
async function answerOf(scenario: string, folder: string): Promise<string> {
  const server = await launch("sim", join(folder, "data"), true, ["--scenario", scenario]);
  const client = connect(server);
  try {
    const { status, body } = await client.call("POST", path, flagsBody(server.key, 0));
    if (status !== 200) throw new Error(`POST ${path}: ${status} ${body.slice(0, 300)}`);
    return body;
  } finally {
    client.close();
    await server.stop();
  }
}

/** A sim with so many flags against a server that always sends its answer to one user. */
async function contestOf(count: number, folder: string): Promise<Contest> {
  const scenario = join(folder, `${count}.json`);
  const answer = join(folder, `${count}-answer.json`);
  writeFileSync(scenario, JSON.stringify(flagScenario(count)));
  writeFileSync(answer, await answerOf(scenario, folder));
  return {
    label: `${count} flags`,
    args: { sim: ["--scenario", scenario], canned: [answer] },
    load: (server, { pace }) => ({
      path,
      bodies: Array.from({ length: users }, (_, i) => flagsBody(server.key, i)),
      connections,
      warmupMs: pace.warmupMs,
      ms: pace.measureMs,
    }),
  };
}

function row(label: string, program: keyof Results, results: Results): string[] {
  const own = results[program];
  return [
    `${label}, ${program}`,
    figure(median(rates(own))),
    figure(pairedRatio(rates(own), rates(results.canned))),
    pairedRange(rates(own), rates(results.canned)),
    figure(middle(own, "p50")),
    figure(middle(own, "p99")),
    figure(median(cpuPerRequest(own))),
  ];
}

/** Decisions a second of the engine without a server, in a process of its own. */
async function engineRates(bench: Bench, folder: string): Promise<Table> {
  const program = join(folder, "engine.mjs");
  await build({
    entryPoints: ["test/bench/flag-engine.ts"],
    outfile: program,
    bundle: true,
    format: "esm",
    platform: "node",
    packages: "external",
    logLevel: "warning",
  });
  const rows: string[][] = [];
  for (const count of counts) {
    bench.progress(`the engine alone, ${count} flags`);
    const { warmupMs, measureMs } = bench.pace;
    const [file, args] = command("server", [program, String(count), String(warmupMs), String(measureMs)]);
    const { stdout } = await promisify(execFile)(file, args);
    const { decisions, ms } = JSON.parse(stdout) as { decisions: number; ms: number };
    rows.push([`${count} flags`, figure((decisions / ms) * 1000), figure((ms / decisions) * 1e6)]);
  }
  return { title: "the engine alone", columns: ["", "decisions/s", "ns each"], rows };
}

export const suite: Suite = {
  name: "flags",
  title: `POST ${path} over ${connections} connections, two condition sets per flag`,
  async run(bench) {
    const folder = temporaryFolder();
    const contests: Contest[] = [];
    for (const count of counts) contests.push(await contestOf(count, folder));
    const results = await duel(contests, programs, bench);
    const labelled = results.map((it, i) => ({ label: contests[i]?.label ?? "", results: it }));
    const engine = await engineRates(bench, folder);
    removeFolder(folder);
    return {
      tables: [
        {
          title: "",
          columns: ["", "req/s", "× canned", "range", "p50 ms", "p99 ms", "CPU µs/req"],
          rows: labelled.flatMap((it) => programs.map((program) => row(it.label, program, it.results))),
        },
        engine,
      ],
      verdicts: labelled
        .slice(0, 1)
        .map((it) =>
          hold(
            `req/s to canned, ${it.label}`,
            pairedRatio(rates(it.results.sim), rates(it.results.canned)),
            "atLeast",
            0.8,
          ),
        ),
      notes: [
        "sim: on a data folder. canned: node:http, reads the body, sends the sim's answer to the first user from memory.",
        `${users.toLocaleString("en-US")} users with four properties in the request, in turn; every third flag has variants and a payload.`,
      ],
    };
  },
};
