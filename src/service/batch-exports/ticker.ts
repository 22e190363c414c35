import { setImmediate as nextTurn } from "node:timers/promises";
import { groupedBy } from "../../kernel/base/grouped-by.ts";
import { wireTime } from "../../state/documents/time.ts";
import type { BatchExport, BatchExportRun } from "../../state/documents/world.ts";
import { log, mostRuns, runOf } from "./documents.ts";
import { type ExportPorts, isOpen } from "./ports.ts";
import { type EngineDesk, Runs } from "./runs.ts";
import { createSchedules, lengthOf } from "./schedules.ts";
import type { ExportPerformed } from "./shapes.ts";

interface Step {
  readonly at: number;
  perform(): Promise<void>;
}

export class Ticker {
  readonly #desk: EngineDesk;
  readonly #schedules: ReturnType<typeof createSchedules>;
  readonly #runs: Runs;
  #last: Promise<unknown> = Promise.resolve();
  /** What a tick still has to do up to its time: in order of time; of one time, what was planned first. */
  #agenda: Step[] = [];
  #until = 0;

  constructor(desk: EngineDesk, ports: ExportPorts) {
    this.#desk = desk;
    this.#schedules = createSchedules(ports.since ?? desk.clock.now(), ports.seen);
    this.#runs = new Runs(desk, ports);
  }

  tick(now: number): Promise<ExportPerformed[]> {
    const mine = this.#last.then(() => this.#perform(now));
    this.#last = mine.catch(() => {});
    return mine;
  }

  nextDue(now: number): number | undefined {
    const { batch_exports } = this.#desk.worlds.current;
    this.#schedules.look(batch_exports, now);
    const scheduled = batch_exports.map((it) => this.#schedules.next(it) ?? Number.POSITIVE_INFINITY);
    const queued = this.#queues().map((queue) => this.#dueOf(queue, now));
    const next = [...scheduled, ...queued].reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
    return next === Number.POSITIVE_INFINITY ? undefined : next;
  }

  scheduled(batchExport: BatchExport, now: number): void {
    this.#schedules.changed(batchExport, now);
    this.#place([batchExport]);
  }

  /** Follows exports that came without a call of `scheduled`. */
  follow(now: number): void {
    const { batch_exports } = this.#desk.worlds.current;
    this.#schedules.look(batch_exports, now);
    this.#place(batch_exports);
  }

  script: Runs["script"] = (...given) => this.#runs.script(...given);

  async close(): Promise<void> {
    this.#runs.isClosed = true;
    await this.#last;
  }

  /** Writes the places of schedules into the exports: a later process continues from there. */
  #place(batchExports: readonly BatchExport[]): void {
    const placed = batchExports.flatMap((it) => this.#schedules.placed(it) ?? []);
    if (placed.length === 0) return;
    this.#desk.worlds.change((draft) => {
      for (const it of placed) draft.put("batch_exports", it);
    });
  }

  /** The open runs of each backfill, and single runs; the first is next. */
  #queues(): BatchExportRun[][] {
    const open = this.#desk.worlds.current.batch_export_runs.filter((run) => run.driven && isOpen(run));
    return [...groupedBy(open, (run) => run.backfill ?? run.id).values()];
  }

  /** Time of a queue's next step; a run that was made before the clock was set back is due now. */
  #dueOf([first]: readonly BatchExportRun[], now: number): number {
    const end = first && this.#runs.scriptedEnd(first.id);
    return end ?? Math.min(first ? Date.parse(first.created_at) : now, now);
  }

  #plan(at: number, perform: () => Promise<void>): void {
    if (at > this.#until) return;
    this.#agenda.splice(this.#agenda.findLastIndex((it) => it.at <= at) + 1, 0, { at, perform });
  }

  #planScheduled(batchExport: BatchExport | undefined): void {
    const at = batchExport && this.#schedules.next(batchExport);
    if (batchExport && at !== undefined) this.#plan(at, () => this.#runScheduled(batchExport.id, at));
  }

  #planDue(now: number): boolean {
    this.#agenda = [];
    for (const it of this.#desk.worlds.current.batch_exports) this.#planScheduled(it);
    for (const queue of this.#queues()) {
      const at = this.#dueOf(queue, now);
      const ids = queue.map(({ id }) => id);
      this.#plan(at, () => this.#advance(ids, at));
    }
    return this.#agenda.length > 0;
  }

  /** Of a very long time only the last runs are made. */
  #skipTheOldest(now: number): void {
    const { worlds } = this.#desk;
    for (const it of worlds.current.batch_exports) {
      const next = this.#schedules.next(it);
      if (next === undefined || (now - next) / lengthOf(it.interval) < mostRuns) continue;
      const from = now - mostRuns * lengthOf(it.interval);
      const message = `Intervals up to ${wireTime(from)} are left out: phx-sim makes at most ${mostRuns} runs at once`;
      worlds.change((draft) => log(draft, wireTime(now), { batch_export: it.id, level: "WARNING", message }));
      this.#schedules.passed(it, from);
    }
  }

  async #perform(now: number): Promise<ExportPerformed[]> {
    this.#runs.takePerformed();
    this.follow(now);
    this.#skipTheOldest(now);
    this.#until = now;
    while (!this.#runs.isClosed && this.#planDue(now)) {
      for (let step = this.#agenda.shift(); step && !this.#runs.isClosed; step = this.#agenda.shift()) {
        await step.perform();
        await nextTurn();
      }
    }
    return this.#runs.takePerformed();
  }

  /** Performs the first run of a queue; the next ones follow when it has ended. */
  async #advance(queue: string[], at: number): Promise<void> {
    const [id = ""] = queue;
    const run = this.#desk.worlds.get("batch_export_runs", id);
    if (run && isOpen(run) && !(await this.#runs.advance(run, at))) {
      const end = this.#runs.scriptedEnd(id);
      if (end !== undefined) this.#plan(end, () => this.#advance(queue, end));
      return;
    }
    queue.shift();
    if (queue.length > 0) this.#plan(at, () => this.#advance(queue, at));
    else if (run) this.#runs.settle(run, at);
  }

  async #runScheduled(id: string, at: number): Promise<void> {
    const { worlds, ids } = this.#desk;
    const batchExport = worlds.get("batch_exports", id);
    // It may have been paused, deleted or timed otherwise since this was planned.
    if (!batchExport || this.#schedules.next(batchExport) !== at) return;
    const interval = {
      data_interval_start: wireTime(at - lengthOf(batchExport.interval)),
      data_interval_end: wireTime(at),
    };
    const run = runOf(ids.uuid(), { batch_export: id, backfill: null }, interval, wireTime(at));
    const until = this.#schedules.after(batchExport, at);
    worlds.change((draft) => {
      draft.put("batch_export_runs", run);
      // In the same change: after a crash both are there, or none, and the interval is run once.
      draft.put("batch_exports", { ...batchExport, scheduled_until: wireTime(until) });
      if (until === at) return;
      const message = `Intervals from ${wireTime(at)} to ${wireTime(until)} are left out: phx-sim was not running`;
      log(draft, wireTime(at), { batch_export: id, level: "WARNING", message });
    });
    this.#schedules.passed(batchExport, until);
    await this.#advance([run.id], at);
    this.#planScheduled(worlds.get("batch_exports", id));
  }
}
