import { type ChildProcess, spawn } from "node:child_process";
import { constants } from "node:os";
import { isatty } from "node:tty";
import { builtFile } from "../kernel/built-file.ts";
import { clean } from "./clean-text.ts";
import type { Signal, SignalSource } from "./signals.ts";

/** How a program ended, or why it could not be started. */
export interface ChildEnd {
  /** Its exit code; 128 and the signal's number when a signal ended it; 126, 127 when it could not be started. */
  readonly code: number;
  readonly problem?: string;
}

/** Passes signals on to a program, once there is one. */
export interface SignalRelay {
  /** The first signal that came. */
  readonly first: Signal | undefined;
  passTo(child: Pick<ChildProcess, "kill">): void;
}

/** Package runners send a signal twice; within this time, ms, they count as one. */
const sameMs = 1000;

/**
 * What a terminal sends, it sends to the program as well: only SIGTERM never comes from there.
 * @param onTerminal Is there a terminal?
 */
export function relaySignals(
  source: SignalSource,
  onTerminal: boolean,
  now: () => number = Date.now,
): SignalRelay {
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
    passTo(it) {
      child = it;
    },
  };
}

/** Does one of our streams belong to a terminal? */
export const hasTerminal = (): boolean => [0, 1, 2].some((fd) => isatty(fd));

/** Runs a program, without a shell, on our own streams. Never rejects. */
export function runChild(
  [program = "", ...args]: readonly string[],
  env: NodeJS.ProcessEnv,
  relay: SignalRelay,
): Promise<ChildEnd> {
  return new Promise((resolve) => {
    const refuse = (error: Error) => resolve(refusal(program, error));
    const watcher = startWatcher();
    try {
      const child = spawn(program, args, { stdio: "inherit", env });
      if (child.pid !== undefined) watcher?.begin(child.pid);
      relay.passTo(child);
      child.on("error", (error) => {
        watcher?.end();
        refuse(error);
      });
      child.on("exit", (code, signal) => {
        watcher?.end();
        resolve({ code: signal ? 128 + numberOf(signal) : (code ?? 1) });
      });
    } catch (error) {
      watcher?.end();
      // An empty name, a NUL in a word.
      refuse(error instanceof Error ? error : new Error(String(error)));
    }
  });
}

/**
 * Ends a child when this process is killed. It is started before the child, which may be quick: only its pid is missing
 * then. Windows has no signals to end a child with.
 */
function startWatcher(): { begin(pid: number): void; end(): void } | undefined {
  if (process.platform === "win32") return undefined;
  // In a session of its own: what kills our process group must not kill it as well.
  const watcher = spawn(process.execPath, [builtFile("cli/child-watch.js")], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
    env: { PATH: process.env.PATH },
  });
  // A command runs without it just as well.
  watcher.on("error", () => {});
  watcher.stdin.on("error", () => {});
  watcher.unref();
  return {
    begin: (pid) => void watcher.stdin.write(`${pid}\n`),
    end: () => void watcher.stdin.end("over\n"),
  };
}

const numberOf = (signal: NodeJS.Signals): number => constants.signals[signal];

const reasons: Readonly<Record<string, string>> = {
  ENOENT: "there is no such program",
  EACCES: "it may not be executed",
  ENOEXEC: "it is not a program",
  E2BIG: "the words are too many for the system",
};

function refusal(program: string, error: Error): ChildEnd {
  const code = "code" in error ? String(error.code) : "";
  const hint = /\s/.test(program) ? "; a line for the shell is written sh -c 'LINE' behind the --" : "";
  const problem = `cannot run ${clean(program) || '""'}: ${reasons[code] ?? clean(error.message)}${hint}`;
  return { code: code === "ENOENT" ? 127 : 126, problem };
}
