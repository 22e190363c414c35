import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { command } from "./machine.ts";

/** The servers that are measured against each other; each writes its address as one JSON line to stdout. */
const programs = {
  sim: (folder: string) => ["bin/phx-sim.js", "start", "--port", "0", "--json", "--quiet", "--data", folder],
  memory: (_folder: string) => ["bin/phx-sim.js", "start", "--port", "0", "--json", "--quiet", "--memory"],
  naive: (folder: string) => ["test/bench/servers/naive.mjs", folder, projectKey],
  grouping: (folder: string) => ["test/bench/servers/naive.mjs", folder, projectKey, "grouping"],
  drain: (folder: string) => ["test/bench/servers/drain.mjs", folder, projectKey],
  bare: (folder: string) => ["test/bench/servers/bare.mjs", folder, projectKey],
  record: (folder: string) => [
    ...["bin/phx-sim.js", "record", "--port", "0", "--json", "--quiet", "--no-proxy"],
    ...["--tape", `${folder}/bench.tape.ndjson`],
  ],
  pass: (folder: string) => ["test/bench/servers/pass.mjs", folder, projectKey],
  mockttp: (folder: string) => ["test/bench/servers/mockttp.mjs", folder, projectKey],
  recording: (folder: string) => ["test/bench/servers/mockttp-recording.mjs", folder, projectKey],
  hashing: (folder: string) => ["test/bench/servers/flags.mjs", folder, projectKey],
  canned: (folder: string) => ["test/bench/servers/canned.mjs", folder, projectKey],
} as const;

export type Program = keyof typeof programs;

/** The key that the comparison servers know; as long as a real one. */
const projectKey = "phc_bench000000000000000000000000000000000000000";

/** A running server. */
export interface Server {
  readonly pid: number;
  readonly url: string;
  readonly port: number;
  /** A project key that it accepts. */
  readonly key: string;
  /** Resident memory in bytes; NaN where the system does not report it. */
  memory(): number;
  /** Asks it to stop and waits until it did. */
  stop(): Promise<void>;
  /** Kills it without a warning and waits until it is gone. */
  kill(): Promise<void>;
}

const running = new Set<ChildProcess>();

/** No server outlives the bench, however it ends. */
process.on("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

/** A server that neither starts nor stops for that long has hung; it is killed, and the suite fails. */
const patience = 30_000;

async function end(child: ChildProcess, signal: "SIGTERM" | "SIGKILL"): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, "exit");
  child.kill(signal);
  let hung = false;
  const timer = setTimeout(() => {
    hung = child.kill("SIGKILL");
  }, patience);
  await exit;
  clearTimeout(timer);
  if (hung) throw new Error(`a server did not end on ${signal} within ${patience} ms`);
}

function residentBytes(pid: number): number {
  try {
    const found = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
    return Number(found?.[1]) * 1024;
  } catch {
    return Number.NaN;
  }
}

/** The first line on stdout, or the reason why there is none. */
function firstLine(child: ChildProcess, program: Program): Promise<string> {
  return new Promise((resolve, reject) => {
    const complaints: Buffer[] = [];
    const timer = setTimeout(() => child.kill("SIGKILL"), patience);
    child.once("exit", () => clearTimeout(timer));
    if (child.stdout) {
      createInterface({ input: child.stdout }).once("line", (line) => {
        clearTimeout(timer);
        resolve(line);
      });
    }
    child.stderr?.on("data", (chunk: Buffer) => complaints.push(chunk));
    child.once("error", reject);
    child.once("close", (code, signal) => {
      reject(new Error(`${program} ended with ${code ?? signal}: ${Buffer.concat(complaints).toString().trim()}`));
    });
  });
}

interface Announcement {
  url: string;
  project_api_key: string;
}

/** Spawns a process that ends with the bench, at the latest. */
export function spawnServer(file: string, args: readonly string[], options: SpawnOptions): ChildProcess {
  const child = spawn(file, args, options);
  running.add(child);
  child.once("exit", () => running.delete(child));
  return child;
}

/** The server that a process is, at an address that it listens on. */
export function serverOf(child: ChildProcess, url: string, key: string): Server {
  const pid = child.pid ?? Number.NaN;
  return {
    pid,
    url,
    port: Number(new URL(url).port),
    key,
    memory: () => residentBytes(pid),
    stop: () => end(child, "SIGTERM"),
    kill: () => end(child, "SIGKILL"),
  };
}

/** The Node that runs a server, and its environment in addition to this process's. */
export interface Runtime {
  readonly node?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/**
 * Starts a server on a free port and resolves once it listens.
 * @param pinned on the servers' core, where the system can do that.
 * @param more further arguments of the program.
 * @throws Error with its stderr if it ends instead.
 */
export async function launch(
  program: Program,
  folder: string,
  pinned: boolean,
  more: readonly string[] = [],
  { node, env }: Runtime = {},
): Promise<Server> {
  const role = pinned ? "server" : "anywhere";
  const [file, args] = command(role, [...programs[program](folder), ...more], node);
  const child = spawnServer(file, args, { stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, ...env } });
  const { url, project_api_key: key } = JSON.parse(await firstLine(child, program)) as Announcement;
  return serverOf(child, url, key);
}
