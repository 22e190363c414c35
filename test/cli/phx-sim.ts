import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";

const bin = join(import.meta.dirname, "../../bin/phx-sim.js");
if (!existsSync(join(import.meta.dirname, "../../dist/cli/main.js"))) {
  throw new Error("dist/ is missing: run `npm run build:code` first (`npm test` does)");
}

/** How a process ended, and all that it said. */
interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** A phx-sim process. */
export interface Process {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  /**
   * The first match in what the process said so far or will say; fails with all it said when it ends
   * before.
   */
  says(stream: "stdout" | "stderr", pattern: RegExp): Promise<RegExpExecArray>;
  signal(name: NodeJS.Signals): Promise<Ended>;
}

export interface RunOptions {
  cwd: string;
  env?: Record<string, string>;
  nodeOptions?: string[];
}

/** What would change the output or the settings stays out of the child's environment. */
const neutral = (): NodeJS.ProcessEnv => {
  const unwanted = /^(PHX_SIM_.*|CI|NO_COLOR|FORCE_COLOR|TERM|NODE_OPTIONS|NODE_ENV|GITHUB_STEP_SUMMARY)$/;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !unwanted.test(name)));
};

/** A stream that keeps what is written to it. */
function memorySink() {
  let text = "";
  return {
    writableLength: 0,
    write(more: string) {
      text += more;
      return true;
    },
    on() {},
    text: () => text,
  };
}

type Main = (argv: readonly string[], host: object) => Promise<number>;
const home = process.cwd();
let runsHere = 0;
const built: Promise<{ main: Main }> = import("../../dist/cli/main.js" as string);

/**
 * Runs the built command line in this process, which saves the start of another one. For commands that end by
 * themselves, where the process is not what the test is about. Those that run at the same time have one folder.
 */
export async function runHere(
  args: readonly string[],
  { cwd, env = {} }: Omit<RunOptions, "nodeOptions">,
): Promise<Ended> {
  const { main } = await built;
  const [stdout, stderr] = [memorySink(), memorySink()];
  if (runsHere++ === 0) process.chdir(cwd);
  try {
    const surroundings = { env: { ...neutral(), ...env }, cwd: () => cwd, exit() {} };
    const code = await main(args, { ...surroundings, stdout, stderr });
    return { code, stdout: stdout.text(), stderr: stderr.text() };
  } finally {
    if (--runsHere === 0) process.chdir(home);
  }
}

const running = new Set<Process>();

/** Starts the built command line. */
export function phxSim(args: readonly string[], { cwd, env = {}, nodeOptions = [] }: RunOptions): Process {
  const child = spawn(process.execPath, [...nodeOptions, bin, ...args], {
    cwd,
    env: { ...neutral(), ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const said = { stdout: "", stderr: "" };
  const watchers = new Set<() => void>();
  const look = () => {
    for (const watcher of [...watchers]) watcher();
  };
  for (const stream of ["stdout", "stderr"] as const) {
    child[stream].setEncoding("utf8").on("data", (text: string) => {
      said[stream] += text;
      look();
    });
  }
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => {
      running.delete(it);
      resolve({ code, ...said });
      look();
    });
  });
  const it: Process = {
    child,
    ended,
    says: (stream, pattern) =>
      new Promise((resolve, reject) => {
        const watcher = () => {
          const found = pattern.exec(said[stream]);
          const over = child.exitCode !== null || child.signalCode !== null;
          if (!found && !(over && !running.has(it))) return;
          watchers.delete(watcher);
          if (found) {
            // Waiting for a text is an assertion: what never comes fails the test.
            expect(found).not.toBeNull();
            resolve(found);
          } else
            reject(new Error(`ended (${child.exitCode}) without ${pattern}:\n${said.stdout}${said.stderr}`));
        };
        watchers.add(watcher);
        watcher();
      }),
    signal: (name) => {
      child.kill(name);
      return ended;
    },
  };
  running.add(it);
  return it;
}

/** Ends what a failed test left behind. */
export async function endAll(): Promise<void> {
  await Promise.all(
    [...running].map((it) => {
      const ended = it.signal("SIGKILL");
      // A program that it has started may have them open.
      it.child.stdout?.destroy();
      it.child.stderr?.destroy();
      return ended;
    }),
  );
}

/** A new empty folder, by the name that a process in it sees; removed by `removeFolders`. */
export function newFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "phx-cli-")));
  folders.push(folder);
  return folder;
}

const folders: string[] = [];

export function removeFolders(): void {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
}

/** What `start --json` printed. */
export interface Ready {
  url: string;
  project_api_key: string;
  personal_api_key: string;
  project_id: number;
  inspector_url: string;
  data: string | null;
  dialect: string;
  version: string;
  pid: number;
  control_token?: string;
}

/** Starts a sim on a free port and waits until it is ready. */
export async function startReady(
  args: readonly string[],
  options: RunOptions,
): Promise<{ sim: Process; ready: Ready }> {
  const sim = phxSim(["start", "--port", "0", "--json", ...args], options);
  const [line] = await sim.says("stdout", /^\{.*\}\n/);
  return { sim, ready: JSON.parse(line) };
}

/** Sends JSON, as an SDK would. */
export const post = (url: string, body: unknown): Promise<Response> =>
  fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
