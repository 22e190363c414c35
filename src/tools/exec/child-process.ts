import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { constants } from "node:os";
import { isatty } from "node:tty";
import { builtFile } from "../../kernel/base/built-file.ts";
import { clean } from "../../kernel/command/clean-text.ts";
import type { Signal, SignalSource } from "../../kernel/command/signals.ts";

export interface ChildEnd {
  /** Its exit code; 128 and the signal's number when a signal ended it; 126, 127 when it could not be started. */
  readonly code: number;
  readonly problem?: string;
}

/** Package runners send a signal twice; within this time, ms, they count as one. */
const sameMs = 1000;

/**
 * Passes signals on, except those that a terminal sends to the program itself: all but SIGTERM.
 * @param onTerminal True if one of our streams is a terminal
 */
export function relaySignals(source: SignalSource, onTerminal: boolean, now: () => number = Date.now) {
  const last = new Map<Signal, number>();
  let first: Signal | undefined;
  let child: Pick<ChildProcess, "kill"> | undefined;
  const hear = (signal: Signal): void => {
    first ??= signal;
    const before = last.get(signal);
    if (before !== undefined && now() - before < sameMs) return;
    last.set(signal, now());
    if (signal === "SIGTERM" || !onTerminal) child?.kill(signal);
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) source.on(signal, () => hear(signal));
  return {
    get first() {
      return first;
    },
    passTo(it: Pick<ChildProcess, "kill">) {
      child = it;
    },
  };
}

/** Passes signals on to a program, once there is one. */
export type SignalRelay = ReturnType<typeof relaySignals>;

export const hasTerminal = (): boolean => [0, 1, 2].some((fd) => isatty(fd));

/** Runs a program, without a shell, on our own streams; with `isStdoutOurs` its stdout is our stderr. Never rejects. */
export function runChild(
  [program = "", ...args]: readonly string[],
  env: NodeJS.ProcessEnv,
  relay: SignalRelay,
  { isStdoutOurs = false } = {},
): Promise<ChildEnd> {
  return new Promise((resolve) => {
    const refuse = (error: Error) => resolve(refusal(program, error));
    const mark = randomUUID();
    const watcher = startWatcher(mark);
    try {
      const stdio: StdioOptions = ["inherit", isStdoutOurs ? 2 : "inherit", "inherit"];
      const child = spawn(program, args, { stdio, env: { ...env, PHX_SIM_EXEC: mark } });
      if (child.pid !== undefined) watcher?.begin(child.pid);
      let isSignalled = false;
      relay.passTo({
        kill(signal) {
          isSignalled = true;
          watcher?.look();
          return child.kill(signal);
        },
      });
      child.on("error", (error) => {
        watcher?.end();
        refuse(error);
      });
      child.on("exit", (code, signal) => {
        // the signal reached the program only: what it has started may still run
        if (isSignalled) watcher?.endTree();
        else watcher?.end();
        resolve({ code: signal ? 128 + numberOf(signal) : (code ?? 1) });
      });
    } catch (error) {
      watcher?.end();
      // An empty name, a NUL in a word.
      refuse(error instanceof Error ? error : new Error(String(error)));
    }
  });
}

interface Watcher {
  begin(pid: number): void;
  /** Notes which processes are below the child: once it has ended, most systems do not know that. */
  look(): void;
  /** The child has ended by itself; what it left behind stays. */
  end(): void;
  endTree(): void;
}

/**
 * Ends a child and all below it when this process is killed, or calls `endTree`. It is started before the child and knows it by its environment, because the
 * child may run before this process has sent its pid. Windows has no signals to end a child with.
 */
export function startWatcher(mark: string): Watcher | undefined {
  if (process.platform === "win32") return undefined;
  // In its own session: a signal to our process group must not end it.
  const watcher = spawn(process.execPath, [builtFile("tools/exec/child-watch.js"), mark], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
    env: { PATH: process.env.PATH },
  });
  // The command can run without it.
  watcher.on("error", () => {});
  watcher.stdin.on("error", () => {});
  watcher.unref();
  return {
    begin: (pid) => void watcher.stdin.write(`${pid}\n`),
    look: () => void watcher.stdin.write("look\n"),
    end: () => void watcher.stdin.end("over\n"),
    endTree: () => void watcher.stdin.end(),
  };
}

const numberOf = (signal: NodeJS.Signals): number => constants.signals[signal];

const reasons: Readonly<Record<string, string>> = {
  ENOENT: "there is no such program",
  EACCES: "it may not be executed",
  ENOEXEC: "it is not a program",
  E2BIG: "the arguments are too long for the system",
};

function refusal(program: string, error: Error): ChildEnd {
  const code = "code" in error ? String(error.code) : "";
  const hint = /\s/.test(program) ? "; to run a shell command, write sh -c 'LINE' after --" : "";
  const problem = `cannot run ${clean(program) || '""'}: ${reasons[code] ?? clean(error.message)}${hint}`;
  return { code: code === "ENOENT" ? 127 : 126, problem };
}
