import type { Style } from "../kernel/command/style.ts";
import { lintLine } from "../lab/lint/lint-line.ts";
import type { LintFinding } from "../lab/lint/shapes.ts";
import type { Sim } from "../sim/types.ts";

/** Prints new findings on a terminal, each once. */
export type LintWatch = ReturnType<typeof createLintWatch>;

export interface LintWatchOptions {
  say(...lines: string[]): void;
  style: Style;
  /** Findings of events up to this seq are not new. */
  since: number;
  /** Calls `act` after `ms` and returns a function that cancels it (default: timers). */
  later?: (ms: number, act: () => void) => () => void;
}

/** Traffic has priority: the linter runs at most once a second, briefly, and catches up when it is quiet. */
const restMs = 1000;
const idleMs = 50;
const workMs = 40;

/** Findings printed at a time, and in total. */
const mostLines = 10;
const mostPrinted = 1000;

const timer = (ms: number, act: () => void): (() => void) => {
  const set = setTimeout(act, ms).unref();
  return () => clearTimeout(set);
};

const keyOf = ({ code, project, event, detail }: LintFinding): string => JSON.stringify([code, project, event, detail]);

export function createLintWatch(sim: Pick<Sim, "lint">, options: LintWatchOptions) {
  const { say, style, since, later = timer } = options;
  const printed = new Set<string>();
  let pending: (() => void) | undefined;
  let hasNew = false;
  let isClosed = false;

  const isNew = (it: LintFinding): boolean =>
    (it.last_seq === null || it.last_seq > since) && !printed.has(keyOf(it)) && printed.size < mostPrinted;

  function print(findings: readonly LintFinding[]): void {
    const fresh = findings.filter(isNew);
    for (const it of fresh) printed.add(keyOf(it));
    const more = fresh.length - mostLines;
    say(
      ...fresh.slice(0, mostLines).map((it) => `  ${lintLine(it, style)}`),
      ...(more > 0 ? [`  … and ${more} more: phx-sim lint`] : []),
    );
  }

  async function ask(): Promise<void> {
    hasNew = false;
    // the sim may be closing
    const page = await sim.lint({ maxMs: workMs }).catch(() => undefined);
    pending = undefined;
    if (isClosed || !page) return;
    print(page.findings);
    if (hasNew) plan(restMs);
    else if (page.behind > 0) plan(idleMs);
  }

  function plan(ms: number): void {
    if (!isClosed) pending ??= later(ms, () => void ask());
  }

  return {
    /** Call it after each answered request. */
    note(): void {
      hasNew = true;
      plan(restMs);
    },
    close(): void {
      isClosed = true;
      pending?.();
    },
  };
}
