import { removeFolder, temporaryFolder } from "./folders.ts";
import { type Load, type LoadResult, runLoad } from "./load.ts";
import { launch, type Program, type Server } from "./server.ts";
import { median } from "./statistics.ts";
import type { Bench } from "./suite.ts";

/** One load that several servers take in turn. */
export interface Contest {
  label: string;
  load(server: Server, bench: Bench): Load;
  /** Further arguments of the programs. */
  args?: Partial<Record<Program, readonly string[]>>;
}

/** A server's figures in one round. */
interface Round extends LoadResult {
  /** Its resident bytes at the end. */
  readonly memory: number;
}

/** A server's results, one per round. */
export type Rounds = readonly Round[];

async function once(program: Program, contest: Contest, bench: Bench): Promise<Round> {
  const folder = temporaryFolder();
  const server = await launch(program, folder, true, contest.args?.[program]);
  try {
    const result = await runLoad(server, contest.load(server, bench));
    return { ...result, memory: server.memory() };
  } finally {
    await server.kill();
    removeFolder(folder);
  }
}

/**
 * Each round runs every contest on every server, each in a fresh process and an empty folder, next to each other in
 * time: what slows the machine for a while slows all of them.
 * @returns per contest (same order) the rounds of each program.
 */
export async function duel<P extends Program>(
  contests: readonly Contest[],
  programs: readonly P[],
  bench: Bench,
): Promise<Record<P, Rounds>[]> {
  const results = contests.map(
    () => Object.fromEntries(programs.map((it) => [it, [] as Round[]])) as Record<P, Round[]>,
  );
  for (let round = 1; round <= bench.pace.rounds; round++) {
    for (const [i, contest] of contests.entries()) {
      for (const program of programs) {
        bench.progress(`round ${round} of ${bench.pace.rounds}: ${contest.label}, ${program}`);
        results[i]?.[program].push(await once(program, contest, bench));
      }
    }
  }
  return results;
}

/** Requests a second, one figure per round. */
export const rates = (rounds: Rounds): number[] => rounds.map((it) => (it.requests / it.ms) * 1000);

/** The server's CPU per request in µs, one figure per round; NaN where the system does not report it. */
export const cpuPerRequest = (rounds: Rounds): number[] =>
  rounds.map((it) => (it.cpuMs === null ? Number.NaN : (it.cpuMs / it.requests) * 1000));

/** The server's resident bytes after the load, one figure per round. */
export const memories = (rounds: Rounds): number[] => rounds.map((it) => it.memory);

/** The median over the rounds of one figure. */
export const middle = (rounds: Rounds, figure: "p50" | "p99" | "max"): number => median(rounds.map((it) => it[figure]));
