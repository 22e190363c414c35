import { setMaxListeners } from "node:events";
import { performance } from "node:perf_hooks";
import { callerFrames } from "../egress/attempt.ts";
import { defaultWait } from "./limits.ts";

/** An assertion ended its test's project before it had a result: its `await` is missing. */
export class NotAwaitedError extends Error {
  /** The calls, e.g. `toHaveCaptured("signup")`. */
  readonly assertions: readonly string[];

  constructor(pending: readonly Pending[]) {
    const titles = [...new Set(pending.map(({ title }) => title))];
    const lines = titles.map((title) => `assertion not awaited: ${title}`);
    super(
      [...lines, "The test ended before the assertion had a result: write `await` before it."].join("\n"),
    );
    this.name = "NotAwaitedError";
    this.assertions = titles;
    const [first] = pending;
    if (first) this.stack = `${this.name}: ${this.message}\n${first.frames}`;
  }
}

interface Pending {
  readonly title: string;
  /** Where it was called: runners show this line. */
  readonly frames: string;
}

/** Assertions of one handle: which of them have no result yet, and how long they may wait. */
export interface Assertions {
  /** Ends the calls of assertions that `end` forgets. */
  readonly signal: AbortSignal;
  /** True if an assertion has failed: the test fails with its report. */
  readonly hasFailed: boolean;
  /** When the test runner ends the running test, on the clock of `performance.now()`; undefined: not known. */
  deadline: () => number | undefined;
  /**
   * Runs an assertion. After `end` its promise stays pending: nothing awaits it.
   * @param above The function that the test called
   */
  run<T>(above: (...args: never[]) => unknown, title: string, assertion: () => Promise<T>): Promise<T>;
  /** How long a wait may take, ms, so that its report comes before the runner's own timeout. */
  within(timeoutMs?: number): number;
  /** Forgets the assertions without a result and returns the error that reports them. */
  end(): NotAwaitedError | undefined;
}

/** Adds the caller's frames if the stack has lost them: runners show the first line of the test's own code. */
function withFrames(error: unknown, frames: string): unknown {
  if (!(error instanceof Error) || typeof error.stack !== "string") return error;
  const [first = ""] = frames.split("\n", 1);
  if (first !== "" && !error.stack.includes(first)) error.stack += `\n${frames}`;
  return error;
}

/** Left for the report to be made and sent before the runner ends the test, ms. */
const reportTime = 500;

/** Any number of assertions listen to it at the same time. */
function newEnding(): AbortController {
  const ending = new AbortController();
  try {
    setMaxListeners(0, ending.signal);
  } catch {
    // jsdom has a class of its own, without a limit
  }
  return ending;
}

export function createAssertions(): Assertions {
  const pending = new Set<Pending>();
  let ending = newEnding();
  let hasFailed = false;
  const assertions: Assertions = {
    get signal() {
      return ending.signal;
    },
    get hasFailed() {
      return hasFailed;
    },
    deadline: () => undefined,
    run: (above, title, assertion) => {
      const entry = { title, frames: callerFrames(above) };
      pending.add(entry);
      return new Promise((resolve, reject) => {
        assertion().then(
          (result) => {
            if (pending.delete(entry)) resolve(result);
          },
          (error: unknown) => {
            if (!pending.delete(entry)) return;
            hasFailed = true;
            reject(withFrames(error, entry.frames));
          },
        );
      });
    },
    within(timeoutMs = defaultWait) {
      const deadline = assertions.deadline();
      if (deadline === undefined) return timeoutMs;
      const left = Math.floor(deadline - performance.now() - reportTime);
      return Math.max(0, Math.min(timeoutMs, left));
    },
    end() {
      if (pending.size === 0) return undefined;
      const error = new NotAwaitedError([...pending]);
      pending.clear();
      ending.abort();
      ending = newEnding();
      return error;
    },
  };
  return assertions;
}

const place = Symbol.for("phx-sim.assertions");

/** Under a symbol of all copies of this package: a suite may hold one of each module system. */
export const withAssertions = <T extends object>(handle: T, assertions: Assertions): T =>
  Object.assign(handle, { [place]: assertions });

/** The assertions of a handle; none are kept for one that another version made. */
export const assertionsOf = (handle: object): Assertions =>
  (handle as { [place]?: Assertions })[place] ?? createAssertions();
