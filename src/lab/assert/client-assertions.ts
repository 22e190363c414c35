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
  readonly frames: string;
  again(): Promise<unknown>;
}

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

function areTimersFake(): boolean {
  const current: { clock?: unknown; _isMockFunction?: unknown; name: string } = globalThis.setTimeout;
  // @sinonjs/fake-timers (vitest, jest, sinon), jest's legacy ones, and node:test's
  return Object.hasOwn(current, "clock") || current._isMockFunction === true || isOfNode.test(current.name);
}

const isOfNode = /^bound #createTimer/;

const fakeTimers =
  'fake timers are in force: an SDK sends its queue, and tries again, only when the test moves the time; call `await client.flush()`, or leave the timers real, e.g. `useFakeTimers({ toFake: ["Date"] })`';

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

const resultText = (result: unknown): string =>
  typeof result === "object" && result !== null && "text" in result ? String(result.text) : "it holds now";

async function atMost<T>(ms: number, work: Promise<T>, otherwise: () => T): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const over = new Promise<T>((resolve) => {
    timer = setTimeout(() => resolve(otherwise()), ms);
  });
  return Promise.race([work, over]).finally(() => clearTimeout(timer));
}

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

export class Assertions {
  hasFailed = false;
  deadline: () => Deadline | undefined = () => undefined;
  /** How long waits without a limit of their own may take, ms. */
  waitMs = suiteWait();
  readonly #pending = new Set<Pending>();
  readonly #knowledge: Knowledge[] = [];
  #ending = newEnding();
  #isOver = false;

  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  /** Resolves when an event after the cursor is kept, at the latest after `ms`. */
  arrival: (since: number, ms: number) => Promise<unknown> = (_, ms) =>
    new Promise((resolve) => setTimeout(resolve, ms));

  /**
   * Runs an assertion. After `end` its promise stays pending: nothing awaits it.
   * @param above The function that the test called
   */
  run<T>(above: (...args: never[]) => unknown, title: string, assertion: () => Promise<T>): Promise<T> {
    // once more, for its report
    if (this.#isOver) return assertion();
    const entry = { title, frames: callerFrames(above), again: assertion };
    this.#pending.add(entry);
    return new Promise((resolve, reject) => {
      assertion().then(
        (result) => {
          if (this.#pending.delete(entry)) resolve(result);
        },
        (error: unknown) => {
          if (!this.#pending.delete(entry)) return;
          this.hasFailed = true;
          reject(withFrames(error, entry.frames));
        },
      );
    });
  }

  /** How long a wait may take, ms, so that its report comes before the runner's own timeout. */
  within(timeoutMs = this.waitMs): number {
    if (this.#isOver) return 0;
    const deadline = this.deadline();
    if (deadline === undefined) return timeoutMs;
    const left = Math.floor(deadline.at - performance.now() - reportTime(deadline));
    return Math.max(0, Math.min(timeoutMs, left));
  }

  async known(): Promise<KnownCauses> {
    const causes = await Promise.all(this.#knowledge.map((it) => atMost(knowledgePatience, it().catch(none), none)));
    return {
      certain: causes.flatMap((it) => it.certain ?? []),
      sdk: causes.flatMap((it) => it.sdk ?? []),
      absent: causes.flatMap((it) => it.absent ?? []),
      queue: [...(areTimersFake() ? [fakeTimers] : []), ...causes.flatMap((it) => it.queue ?? [])],
    };
  }

  learn(more: Knowledge): void {
    this.#knowledge.push(more);
  }

  /** What the assertions without a result would report now: the runner's own limit has ended the test. */
  reports(): Promise<readonly string[]> {
    return this.#reportsOf([...this.#pending]);
  }

  end(): NotAwaitedError | undefined {
    const left = this.#take();
    return left.length === 0 ? undefined : new NotAwaitedError(left, []);
  }

  /** As `end`, and the error has their reports: without a runner's hooks its own limit may have ended the test. */
  async endWithReports(): Promise<NotAwaitedError | undefined> {
    const left = this.#take();
    return left.length === 0 ? undefined : new NotAwaitedError(left, await this.#reportsOf(left));
  }

  /** Forgets the assertions without a result: their promises stay pending. */
  #take(): readonly Pending[] {
    const left = [...this.#pending];
    if (left.length === 0) return left;
    this.#pending.clear();
    this.#ending.abort();
    this.#ending = newEnding();
    return left;
  }

  async #reportsOf(left: readonly Pending[]): Promise<readonly string[]> {
    // a matcher runs another assertion, which has its title
    const first = new Map(left.toReversed().map((it) => [it.title, it]));
    if (first.size === 0) return [];
    this.#isOver = true;
    const works = [...first.values()]
      .reverse()
      .map(({ again }) =>
        again().then(resultText, (error: unknown) => (error instanceof Error ? error.message : String(error))),
      );
    return inTime(works).finally(() => {
      this.#isOver = false;
    });
  }
}

const place = Symbol.for("phx-sim.assertions");

/** Under a symbol of all copies of this package: a suite may hold one of each module system. */
export const withAssertions = <T extends object>(handle: T, assertions: Assertions): T =>
  Object.assign(handle, { [place]: assertions });

/** The assertions of a handle; none are kept for one that another version made. */
export const assertionsOf = (handle: object): Assertions =>
  (handle as { [place]?: Assertions })[place] ?? new Assertions();
