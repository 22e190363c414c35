import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { existsSync } from "node:fs";
import type { Socket } from "node:net";
import { join } from "node:path";
import { expect } from "vitest";
import { closeAtEnd } from "./opened.ts";

export { newFolder } from "./folder.ts";

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
  readonly isOwn: boolean;
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
  /** In a process of its own: its start, its exit or its streams are what the test is about. */
  isOwn?: true;
  /** Options of Node for a process of its own. */
  nodeOptions?: string[];
}

/** What would change the output or the settings stays out of the child's environment. */
const neutral = (): NodeJS.ProcessEnv => {
  const unwanted = /^(PHX_SIM_.*|CI|NO_COLOR|FORCE_COLOR|TERM|NODE_OPTIONS|NODE_ENV|GITHUB_STEP_SUMMARY)$/;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !unwanted.test(name)));
};

/** What a process said, and who waits for it to say something. */
function listener() {
  const said = { stdout: "", stderr: "" };
  const watchers = new Set<() => void>();
  let over: number | null | undefined;
  const look = () => {
    for (const watcher of [...watchers]) watcher();
  };
  return {
    said,
    hear(stream: "stdout" | "stderr", text: string) {
      said[stream] += text;
      look();
    },
    end(code: number | null): Ended {
      over = code;
      look();
      return { code, ...said };
    },
    says: (stream: "stdout" | "stderr", pattern: RegExp) =>
      new Promise<RegExpExecArray>((resolve, reject) => {
        const watcher = () => {
          const found = pattern.exec(said[stream]);
          if (!found && over === undefined) return;
          watchers.delete(watcher);
          if (found) {
            // Waiting for a text is an assertion: what never comes fails the test.
            expect(found).not.toBeNull();
            resolve(found);
          } else reject(new Error(`ended (${over}) without ${pattern}:\n${said.stdout}${said.stderr}`));
        };
        watchers.add(watcher);
        watcher();
      }),
  };
}

const running = new Set<Process>();

function started(isOwn: boolean, child: ChildProcess, ended: Promise<Ended>, says: Process["says"]): Process {
  const it: Process = {
    isOwn,
    child,
    ended: ended.finally(() => running.delete(it)),
    says,
    signal: (name) => {
      child.kill(name);
      return ended;
    },
  };
  closeAtEnd(endAll);
  running.add(it);
  return it;
}

/**
 * Starts the built command line; as a rule in a process that ran others before, which saves the start of one. There, too,
 * a command is over when its own process would end: one that hangs, or leaves something open, never is.
 */
export const phxSim = (args: readonly string[], options: RunOptions): Process =>
  options.isOwn || options.nodeOptions ? own(args, options) : reused(args, options);

/** How a command ended. */
export const runHere = (args: readonly string[], options: RunOptions): Promise<Ended> => phxSim(args, options).ended;

function own(args: readonly string[], { cwd, env = {}, nodeOptions = [] }: RunOptions): Process {
  const child = spawn(process.execPath, [...nodeOptions, bin, ...args], {
    cwd,
    env: { ...neutral(), ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const { hear, says, end } = listener();
  for (const stream of ["stdout", "stderr"] as const)
    child[stream].setEncoding("utf8").on("data", (text: string) => hear(stream, text));
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => resolve(end(code)));
  });
  return started(true, child, ended, says);
}

/** A process that runs commands, one at a time. */
interface Reusable {
  readonly child: ChildProcess;
  readonly isReady: Promise<unknown>;
  /** What its present command says and how it ends. */
  hear(stream: "stdout" | "stderr", text: string): void;
  answer(reply: { code: number }): void;
  close(code: number | null): void;
}

const rested: Reusable[] = [];
const atRest = { hear() {}, answer() {}, close() {} };

function startReusable(): Reusable {
  const stdio: StdioOptions = ["ignore", "pipe", "pipe", "ipc"];
  const child = spawn(process.execPath, [join(import.meta.dirname, "reused.mjs")], { env: neutral(), stdio });
  const it: Reusable = { child, isReady: once(child, "message"), ...atRest };
  for (const stream of ["stdout", "stderr"] as const)
    child[stream]?.setEncoding("utf8").on("data", (text: string) => it.hear(stream, text));
  it.isReady.then(() => child.on("message", (reply: { code: number }) => it.answer(reply)));
  child.on("close", (code) => {
    it.close(code);
    if (rested.includes(it)) rested.splice(rested.indexOf(it), 1);
  });
  return it;
}

/** One that rests ends with the process of these tests. */
function keepAlive({ child }: Reusable, keeps: boolean): void {
  const name = keeps ? "ref" : "unref";
  for (const it of [child, child.channel, child.stdout as Socket | null, child.stderr as Socket | null]) it?.[name]();
}

/** What is killed is not used again. */
function reused(args: readonly string[], { cwd, env = {} }: RunOptions): Process {
  const it = rested.pop() ?? startReusable();
  keepAlive(it, true);
  const { said, hear, says, end } = listener();
  const mark = `\0${randomUUID()}\0`;
  const ended = new Promise<Ended>((resolve, reject) => {
    let code: number | undefined;
    const finish = () => {
      if (code === undefined || !said.stdout.endsWith(mark) || !said.stderr.endsWith(mark)) return;
      for (const stream of ["stdout", "stderr"] as const) said[stream] = said[stream].slice(0, -mark.length);
      // One that got a signal may still be ending.
      if (it.child.killed) it.child.kill("SIGKILL");
      else {
        keepAlive(it, false);
        rested.push(Object.assign(it, atRest));
      }
      resolve(end(code));
    };
    it.hear = (stream, text) => {
      hear(stream, text);
      finish();
    };
    it.answer = (reply) => {
      code = reply.code;
      finish();
    };
    it.close = (code) => resolve(end(code));
    it.isReady.then(() => it.child.send({ args, cwd, env: { ...neutral(), ...env }, mark }), reject);
  });
  return started(false, it.child, ended, says);
}

/** The time, ms, that a sim has to stop in. */
const patience = 5_000;

/** Ends what still runs: after the tests of a file by itself, and where a test must not find it. */
export async function endAll(): Promise<void> {
  await Promise.all(
    [...running].map(async (it) => {
      const kill = () => {
        it.child.kill("SIGKILL");
        // A program that it has started may have them open.
        it.child.stdout?.destroy();
        it.child.stderr?.destroy();
      };
      if (it.isOwn) kill();
      else it.child.kill("SIGTERM");
      const late = setTimeout(kill, patience);
      await it.ended;
      clearTimeout(late);
    }),
  );
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

/**
 * For the script of a command that a test runs: `await call(method, path, body)` asks the sim for a path. The first
 * `fetch` of a process takes longer than all else that it does.
 */
export const childCall = `const call = (method, path, body) => new Promise((resolve, reject) => {
  const options = { method, headers: { "content-type": "application/json" } };
  const answered = async (answer) => {
    let text = "";
    for await (const part of answer) text += part;
    resolve({ status: answer.statusCode, headers: answer.headers, text });
  };
  const { request } = process.getBuiltinModule("node:http");
  request(process.env.POSTHOG_HOST + path, options, answered).on("error", reject).end(body);
});`;

/** Sends JSON, as an SDK would. */
export const post = (url: string, body: unknown): Promise<Response> =>
  fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
