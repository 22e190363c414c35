import { setMaxListeners } from "node:events";
import { performance } from "node:perf_hooks";
import { clearTimeout, setTimeout } from "../../kernel/base/real-time.ts";
import { callerFrames } from "../egress/attempt.ts";
import { suiteWait } from "./limits.ts";
import type { KnownCauses } from "./match/causes.ts";

/** An assertion ended its test's project before it had a result: its `await` is missing. */
export class NotAwaitedError extends Error {
  /** The calls, e.g. `toHaveCaptured("signup")`. */
  readonly assertions: readonly string[];

  constructor(pending: readonly Pending[], reports: readonly string[]) {
    const titles = [...new Set(pending.map(({ title }) => title))];
    super(
      [
        ...titles.map((title) => `assertion not awaited: ${title}`),
        "The test ended before the assertion had a result: write `await` before it.",
        ...(reports.length === 0 ? [] : ["If it is awaited, the runner's own limit ended the test:", ...reports]),
      ].join("\n"),
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
  /** Starts it once more. */
  again(): Promise<unknown>;
}

/** The runner's limit of the running test. */
interface Deadline {
  /** When the runner ends the test, on the clock of `performance.now()`. */
  readonly at: number;
  /** The whole limit, ms. */
  readonly limit: number;
}

/** What a runner's fixture knows about missing events. */
export type Knowledge = () => Promise<Partial<KnownCauses>>;

/** A page that does not answer must not hold up a report, ms. */
const knowledgePatience = 1_000;

/** True if a timer that is started now waits for the test to move the time. */
function areTimersFake(): boolean {
  const current: { clock?: unknown; _isMockFunction?: unknown; name: string } = globalThis.setTimeout;
  // @sinonjs/fake-timers (vitest, jest, sinon), jest's legacy ones, and node:test's
  return Object.hasOwn(current, "clock") || current._isMockFunction === true || isOfNode.test(current.name);
}

const isOfNode = /^bound #createTimer/;

const fakeTimers =
  'fake timers are in force: an SDK sends its queue, and tries again, only when the test moves the time; call `await client.flush()`, or leave the timers real, e.g. `useFakeTimers({ toFake: ["Date"] })`';

/** Assertions of one handle: which of them have no result yet, and how long they may wait. */
export interface Assertions {
  /** Ends the calls of assertions that `end` forgets. */
  readonly signal: AbortSignal;
  /** True if an assertion has failed: the test fails with its report. */
  readonly hasFailed: boolean;
  /** Undefined: not known. */
  deadline: () => Deadline | undefined;
  /** How long waits without a limit of their own may take, ms. */
  waitMs: number;
  /** Resolves when an event after the cursor is kept, at the latest after `ms`. */
  arrival(since: number, ms: number): Promise<unknown>;
  /**
   * Runs an assertion. After `end` its promise stays pending: nothing awaits it.
   * @param above The function that the test called
   */
  run<T>(above: (...args: never[]) => unknown, title: string, assertion: () => Promise<T>): Promise<T>;
  /** How long a wait may take, ms, so that its report comes before the runner's own timeout. */
  within(timeoutMs?: number): number;
  /** What this process knows about missing events. */
  known(): Promise<KnownCauses>;
  /** Adds to what is known. */
  learn(more: Knowledge): void;
  /** What the assertions without a result would report now: the runner's own limit has ended the test. */
  reports(): Promise<readonly string[]>;
  /** Forgets the assertions without a result and returns the error that reports them. */
  end(): NotAwaitedError | undefined;
  /** As `end`, and the error has their reports: without a runner's hooks its own limit may have ended the test. */
  endWithReports(): Promise<NotAwaitedError | undefined>;
}

const none = (): Partial<KnownCauses> => ({});

/** Puts the caller's frames first: runners show the line of the first frame, which is to be the test's own. */
function withFrames(error: unknown, frames: string): unknown {
  if (!(error instanceof Error) || typeof error.stack !== "string") return error;
  const [first = ""] = frames.split("\n", 1);
  const at = error.stack.search(/\n\s+at /);
  const own = at < 0 ? "" : error.stack.slice(at);
  if (first === "" || own.startsWith(`\n${first}`)) return error;
  error.stack = `${error.stack.slice(0, error.stack.length - own.length)}\n${frames}${own}`;
  return error;
}

/** Left for the report to be made and sent before the runner ends the test, ms: a busy machine is slow. */
const reportTime = ({ limit }: Deadline): number => Math.min(limit / 2, Math.max(1_000, limit / 5));

/** Limit of the reports when the runner's own has ended the test, ms. */
const lastPatience = 2_000;

/** The text of an assertion that was started once more: of its error, or of a matcher's result. */
const resultText = (result: unknown): string =>
  typeof result === "object" && result !== null && "text" in result ? String(result.text) : "it holds now";

/** The result of the work, or the other value when the time is over. */
async function atMost<T>(ms: number, work: Promise<T>, otherwise: () => T): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const over = new Promise<T>((resolve) => {
    timer = setTimeout(() => resolve(otherwise()), ms);
  });
  return Promise.race([work, over]).finally(() => clearTimeout(timer));
}

/** The texts until the time is over. */
async function inTime(works: readonly Promise<string>[]): Promise<string[]> {
  const texts: string[] = [];
  const done = Promise.all(works.map(async (it) => void texts.push(await it)));
  return atMost(
    lastPatience,
    done.then(() => texts),
    () => texts,
  );
}

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
  let isOver = false;
  /** Forgets the assertions without a result: their promises stay pending. */
  const take = (): readonly Pending[] => {
    const left = [...pending];
    if (left.length === 0) return left;
    pending.clear();
    ending.abort();
    ending = newEnding();
    return left;
  };
  const reportsOf = async (left: Iterable<Pending>): Promise<readonly string[]> => {
    // a matcher runs another assertion, which has its title
    const first = new Map([...left].reverse().map((it) => [it.title, it]));
    if (first.size === 0) return [];
    isOver = true;
    const works = [...first.values()]
      .reverse()
      .map(({ again }) =>
        again().then(resultText, (error: unknown) => (error instanceof Error ? error.message : String(error))),
      );
    return inTime(works).finally(() => {
      isOver = false;
    });
  };
  const knowledge: Knowledge[] = [];
  const assertions: Assertions = {
    get signal() {
      return ending.signal;
    },
    get hasFailed() {
      return hasFailed;
    },
    deadline: () => undefined,
    waitMs: suiteWait(),
    arrival: (_, ms) => new Promise((resolve) => setTimeout(resolve, ms)),
    run: (above, title, assertion) => {
      // once more, for its report
      if (isOver) return assertion();
      const entry = { title, frames: callerFrames(above), again: assertion };
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
    within(timeoutMs = assertions.waitMs) {
      if (isOver) return 0;
      const deadline = assertions.deadline();
      if (deadline === undefined) return timeoutMs;
      const left = Math.floor(deadline.at - performance.now() - reportTime(deadline));
      return Math.max(0, Math.min(timeoutMs, left));
    },
    async known() {
      const found = await Promise.all(knowledge.map((it) => atMost(knowledgePatience, it().catch(none), none)));
      return {
        certain: found.flatMap((it) => it.certain ?? []),
        sdk: found.flatMap((it) => it.sdk ?? []),
        absent: found.flatMap((it) => it.absent ?? []),
        queue: [...(areTimersFake() ? [fakeTimers] : []), ...found.flatMap((it) => it.queue ?? [])],
      };
    },
    learn: (more) => void knowledge.push(more),
    reports: () => reportsOf(pending),
    end() {
      const left = take();
      return left.length === 0 ? undefined : new NotAwaitedError(left, []);
    },
    async endWithReports() {
      const left = take();
      return left.length === 0 ? undefined : new NotAwaitedError(left, await reportsOf(left));
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
