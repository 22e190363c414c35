import { setImmediate as nextTurn } from "node:timers/promises";
import { groupedBy } from "../../kernel/base/grouped-by.ts";
import { wireTime } from "../../state/documents/time.ts";
import type { BatchExport, BatchExportRun } from "../../state/documents/world.ts";
import { log, mostRuns, runOf } from "./documents.ts";
import { type ExportPorts, isOpen } from "./ports.ts";
import { createRuns, type EngineDesk } from "./runs.ts";
import { createSchedules, lengthOf } from "./schedules.ts";
import type { ExportPerformed } from "./shapes.ts";

/** Steps in order of their time; of one time, the first added first. */
interface Agenda<T> {
  add(at: number, step: T): void;
  /** Takes the first out. */
  next(): { at: number; step: T } | undefined;
}

/** An agenda up to a time (ms); later steps are ignored. */
function createAgenda<T>(until: number): Agenda<T> {
  const entries: { at: number; step: T }[] = [];
  let first = 0;

  function placeOf(at: number): number {
    let low = first;
    let high = entries.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((entries[middle]?.at ?? 0) <= at) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  return {
    add(at, step) {
      if (at <= until) entries.splice(placeOf(at), 0, { at, step });
    },
    next: () => (first < entries.length ? entries[first++] : undefined),
  };
}

type Step =
  | { kind: "scheduled"; batchExport: string }
  /** The first open run of a backfill, or one that an earlier engine did not end; `waiting` come after it. */
  | { kind: "queued"; run: string; waiting: string[] }
  | { kind: "scripted_end"; run: string; waiting: string[] };

/** The open runs of one backfill, or a single run; the first is next. */
type Queue = readonly BatchExportRun[];

function queuesOf(runs: readonly BatchExportRun[]): Queue[] {
  const open = runs.filter((run) => run.driven && isOpen(run));
  return [...groupedBy(open, (run) => run.backfill ?? run.id).values()];
}

export function createTicker(desk: EngineDesk, ports: ExportPorts) {
  const { worlds, ids } = desk;
  const schedules = createSchedules(ports.since ?? desk.clock.now(), ports.seen);
  const runs = createRuns(desk, ports);
  let last: Promise<unknown> = Promise.resolve();

  const look = (now: number) => schedules.look(worlds.current.batch_exports, now);

  /** Writes the places of schedules into the exports: a later process continues from there. */
  function place(batchExports: readonly BatchExport[]): void {
    const placed = batchExports.flatMap((it) => schedules.placed(it) ?? []);
    if (placed.length === 0) return;
    worlds.change((draft) => {
      for (const it of placed) draft.put("batch_exports", it);
    });
  }

  function follow(now: number): void {
    look(now);
    place(worlds.current.batch_exports);
  }

  /** Time of a queue's next step; a run that was made before the clock was set back is due now. */
  function dueOf(queue: Queue, now: number): number {
    const [first] = queue;
    const end = first && runs.scriptedEnd(first.id);
    return end ?? Math.min(first ? Date.parse(first.created_at) : now, now);
  }

  /** All that is due up to `now`; false when nothing is. */
  function plan(agenda: Agenda<Step>, now: number): boolean {
    let isAny = false;
    const add = (at: number, step: Step) => {
      if (at > now) return;
      isAny = true;
      agenda.add(at, step);
    };
    for (const it of worlds.current.batch_exports) {
      const at = schedules.next(it);
      if (at !== undefined) add(at, { kind: "scheduled", batchExport: it.id });
    }
    for (const queue of queuesOf(worlds.current.batch_export_runs)) {
      const [first, ...rest] = queue.map(({ id }) => id);
      if (first === undefined) continue;
      const kind = runs.scriptedEnd(first) === undefined ? "queued" : "scripted_end";
      add(dueOf(queue, now), { kind, run: first, waiting: rest });
    }
    return isAny;
  }

  /** Of a very long time only the last runs are made. */
  function skipTheOldest(now: number): void {
    for (const it of worlds.current.batch_exports) {
      const next = schedules.next(it);
      if (next === undefined || (now - next) / lengthOf(it.interval) < mostRuns) continue;
      const from = now - mostRuns * lengthOf(it.interval);
      const message = `Intervals up to ${wireTime(from)} are left out: phx-sim makes at most ${mostRuns} runs at once`;
      worlds.change((draft) => log(draft, wireTime(now), { batch_export: it.id, level: "WARNING", message }));
      schedules.passed(it, from);
    }
  }

  async function perform(now: number): Promise<ExportPerformed[]> {
    const performed: ExportPerformed[] = [];
    follow(now);
    skipTheOldest(now);
    for (;;) {
      const agenda = createAgenda<Step>(now);
      if (runs.isClosed() || !plan(agenda, now)) return performed;
      for (let due = agenda.next(); due && !runs.isClosed(); due = agenda.next()) {
        await take(due.step, due.at, agenda, performed);
        await nextTurn();
      }
    }
  }

  async function take(step: Step, at: number, agenda: Agenda<Step>, performed: ExportPerformed[]): Promise<void> {
    if (step.kind === "scheduled") return runScheduled(step.batchExport, at, agenda, performed);
    const { run: id, waiting } = step;
    const run = worlds.get("batch_export_runs", id);
    if (run && isOpen(run)) {
      const isDone =
        step.kind === "queued" ? await runs.start(run, at, performed) : await runs.endScripted(run, at, performed);
      if (!isDone) return later(id, waiting, agenda);
    }
    const [next, ...rest] = waiting;
    if (next !== undefined) agenda.add(at, { kind: "queued", run: next, waiting: rest });
    else if (run) runs.settle(run, at, performed);
  }

  /** The run continues by script; runs that wait for it keep waiting. */
  function later(run: string, waiting: string[], agenda: Agenda<Step>): void {
    const end = runs.scriptedEnd(run);
    if (end !== undefined) agenda.add(end, { kind: "scripted_end", run, waiting });
  }

  async function runScheduled(id: string, at: number, agenda: Agenda<Step>, performed: ExportPerformed[]) {
    const batchExport = worlds.get("batch_exports", id);
    // It may have been paused, deleted or timed otherwise since this was planned.
    if (!batchExport || schedules.next(batchExport) !== at) return;
    const interval = {
      data_interval_start: wireTime(at - lengthOf(batchExport.interval)),
      data_interval_end: wireTime(at),
    };
    const run = runOf(ids.uuid(), { batch_export: id, backfill: null }, interval, wireTime(at));
    const until = schedules.after(batchExport, at);
    worlds.change((draft) => {
      draft.put("batch_export_runs", run);
      // In the same change: after a crash both are there, or none, and the interval is run once.
      draft.put("batch_exports", { ...batchExport, scheduled_until: wireTime(until) });
      if (until === at) return;
      const message = `Intervals from ${wireTime(at)} to ${wireTime(until)} are left out: phx-sim was not running`;
      log(draft, wireTime(at), { batch_export: id, level: "WARNING", message });
    });
    schedules.passed(batchExport, until);
    const isDone = await runs.start(run, at, performed);
    if (!isDone) later(run.id, [], agenda);
    const current = worlds.get("batch_exports", id);
    const next = current && schedules.next(current);
    if (next !== undefined) agenda.add(next, { kind: "scheduled", batchExport: id });
  }

  return {
    tick(now: number) {
      const mine = last.then(() => perform(now));
      last = mine.catch(() => {});
      return mine;
    },
    nextDue(now: number) {
      look(now);
      const scheduled = worlds.current.batch_exports.map((it) => schedules.next(it));
      const queued = queuesOf(worlds.current.batch_export_runs).map((queue) => dueOf(queue, now));
      const times = [...scheduled, ...queued].filter((it) => it !== undefined);
      return times.length === 0 ? undefined : times.reduce((a, b) => Math.min(a, b));
    },
    scheduled(batchExport: BatchExport, now: number) {
      schedules.changed(batchExport, now);
      place([batchExport]);
    },
    /** Follows exports that came without a call of `scheduled`. */
    follow,
    script: runs.script,
    async close() {
      runs.close();
      await last;
    },
  };
}
