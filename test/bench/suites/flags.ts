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

const programs = ["sim", "hashing", "canned"] as const;
type Results = Record<(typeof programs)[number], Rounds>;

const counts = [20, 200];
const connections = 10;
const path = "/flags?v=2";
const users = 1000;

/** Users for whose requests the sim and the server written by hand must answer the same. */
const compared = 100;

/** The answers to the first users. */
async function answersOf(program: "sim" | "hashing", more: readonly string[]): Promise<string[]> {
  const folder = temporaryFolder();
  const server = await launch(program, folder, true, more);
  const client = connect(server);
  const answers: string[] = [];
  try {
    for (let i = 0; i < compared; i++) {
      const { status, body } = await client.call("POST", path, flagsBody(server.key, i));
      if (status !== 200) throw new Error(`${program}, POST ${path}: ${status} ${body.slice(0, 300)}`);
      answers.push(body);
    }
    return answers;
  } finally {
    client.close();
    await server.stop();
    removeFolder(folder);
  }
}

/** An answer without what differs each time. */
const lasting = (answer: string): string => answer.replaceAll(/"(requestId|evaluatedAt)":("[^"]*"|\d+),?/g, "");

/** A sim with some flags, the same flags by hand, and a server that always sends the sim's answer to one user. */
async function contestOf(count: number, folder: string): Promise<Contest> {
  const scenario = join(folder, `${count}.json`);
  const canned = join(folder, `${count}-answer.json`);
  writeFileSync(scenario, JSON.stringify(flagScenario(count)));
  const args = { sim: ["--scenario", scenario], hashing: [scenario], canned: [canned] };
  const answers = await answersOf("sim", args.sim);
  const byHand = await answersOf("hashing", args.hashing);
  const wrong = answers.findIndex((it, i) => lasting(it) !== lasting(byHand[i] ?? ""));
  if (wrong !== -1) throw new Error(`${count} flags: answers differ\n${answers[wrong]}\n${byHand[wrong]}`);
  writeFileSync(canned, answers[0] ?? "");
  return {
    label: `${count} flags`,
    args,
    load: (server, { pace }) => ({
      path,
      bodies: Array.from({ length: users }, (_, i) => flagsBody(server.key, i)),
      connections,
      warmup: pace.warmup,
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
    const { warmup, measureMs } = bench.pace;
    const [file, args] = command("server", [program, String(count), String(warmup.leastMs), String(measureMs)]);
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
        .flatMap(({ label, results: { sim, hashing, canned } }) => [
          hold(`req/s to hashing by hand, ${label}`, pairedRatio(rates(sim), rates(hashing)), "atLeast", 1.3),
          hold(`req/s to canned, ${label}`, pairedRatio(rates(sim), rates(canned)), "atLeast", 0.5),
        ]),
      notes: [
        "sim: on a data folder. hashing: node:http, parse, check, hash, stringify: the same answers, nothing kept. canned: node:http, reads the body, sends the sim's answer to the first user from memory.",
        `${users.toLocaleString("en-US")} users with four properties in the request, in turn; every third flag has variants and a payload.`,
      ],
    };
  },
};
