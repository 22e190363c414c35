import type { LintFinding, Sim } from "../index.ts";
import { lintLine } from "./lint-lines.ts";
import type { Style } from "./style.ts";

/** Tells findings on a terminal, each once, soon after they arise. */
export interface LintWatch {
  /** To be called when a request was answered. */
  note(): void;
  close(): void;
}

/** What it needs of a sim. */
type Linted = Pick<Sim, "lint">;

export interface WatchOptions {
  say(...lines: string[]): void;
  style: Style;
  /** Findings of events up to here were there before. */
  since: number;
  /** Calls back after so many ms, and returns what ends it; timers unless told. */
  later?: (ms: number, act: () => void) => () => void;
}

/** Traffic goes first: at most once a second, and then for a moment only; when it is quiet the rest is made up for. */
const restMs = 1000;
const idleMs = 50;
const workMs = 40;

/** Findings told at a time, and altogether. */
const mostLines = 10;
const mostTold = 1000;

const timer = (ms: number, act: () => void): (() => void) => {
  const set = setTimeout(act, ms).unref();
  return () => clearTimeout(set);
};

const keyOf = ({ code, project, event, detail }: LintFinding): string =>
  JSON.stringify([code, project, event, detail]);

export function createLintWatch(sim: Linted, options: WatchOptions): LintWatch {
  const { say, style, since, later = timer } = options;
  const told = new Set<string>();
  let pending: (() => void) | undefined;
  let hasNew = false;
  let isClosed = false;

  const isNew = (it: LintFinding): boolean =>
    (it.last_seq === null || it.last_seq > since) && !told.has(keyOf(it)) && told.size < mostTold;

  function tell(findings: readonly LintFinding[]): void {
    const fresh = findings.filter(isNew);
    for (const it of fresh) told.add(keyOf(it));
    const more = fresh.length - mostLines;
    say(
      ...fresh.slice(0, mostLines).map((it) => `  ${lintLine(it, style)}`),
      ...(more > 0 ? [`  … and ${more} more: phx-sim lint`] : []),
    );
  }

  async function ask(): Promise<void> {
    hasNew = false;
    // the sim may be closing; then nobody wants to know
    const page = await sim.lint({ maxMs: workMs }).catch(() => undefined);
    pending = undefined;
    if (isClosed || !page) return;
    tell(page.findings);
    if (hasNew) plan(restMs);
    else if (page.behind > 0) plan(idleMs);
  }

  function plan(ms: number): void {
    if (!isClosed) pending ??= later(ms, () => void ask());
  }

  return {
    note() {
      hasNew = true;
      plan(restMs);
    },
    close() {
      isClosed = true;
      pending?.();
    },
  };
}
