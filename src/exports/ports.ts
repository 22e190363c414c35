import type { StoredEvent } from "../model/event.ts";
import type { ExportEngine } from "../model/export-engine.ts";
import type { Person } from "../model/person.ts";
import type { BatchExport, BatchExportRun } from "../model/world.ts";

/**
 * By which of its times an event belongs to an interval. Upstream: a scheduled run exports what was ingested in
 * its interval, so that late events are not lost; a backfill (and so a retry) what happened in it.
 */
export type EventTime = "received_at" | "timestamp";

/** Which events are read: those of a project from `start` (ms; null is open) up to, but without `end`. */
export interface EventSpan {
  project: number;
  by: EventTime;
  start: number | null;
  end: number;
}

/** A stored person with its distinct ids. */
export interface ExportedPerson extends Person {
  distinct_ids: readonly string[];
}

/** Where exports read. What it hands out is read lazily, and never changed. */
export interface ExportSource {
  /** Kept events of a span, in order of arrival. A long search lets other work have its turn. */
  events(span: EventSpan): AsyncIterable<StoredEvent> | Iterable<StoredEvent>;
  /**
   * Persons of a project who were created before `end` (ms). Unlike upstream, whose runs hold the persons that
   * changed in their interval: the store does not know when a person changed last.
   */
  persons(span: { project: number; end: number }): AsyncIterable<ExportedPerson> | Iterable<ExportedPerson>;
  /** The person as it is now. */
  person(project: number, uuid: string): Pick<Person, "properties"> | undefined;
}

/** A file of a run while it is written. */
export interface ExportFile {
  write(bytes: Uint8Array): Promise<void>;
  close(): Promise<void>;
}

/** The files of a run while it runs: seen by nobody before `publish`. */
export interface RunFiles {
  /** @param key relative, with `/` between its parts */
  create(key: string): Promise<ExportFile>;
  /** Puts all of them in their place at once. */
  publish(): Promise<void>;
  /** Removes all of them. */
  discard(): Promise<void>;
}

/** Where exports write. */
export interface ExportFiles {
  /** Starts the files of a run; what an earlier try left behind is removed. */
  begin(batchExport: string, run: string): Promise<RunFiles>;
  /** The published files of a run, by path: `<export>/<run>/<key>`. */
  list(batchExport: string, run: string): Promise<{ path: string; bytes: number }[]>;
  /** Content of a published file; undefined when there is none. */
  read(path: string): Promise<Buffer | undefined>;
  /** Removes everything. */
  clear(): Promise<void>;
}

/** How a run ends instead of as it would. */
export interface ScriptedOutcome {
  /** ms from the start of the run (or from the moment when it is said) during which it stays Running. */
  after: number;
  status: Exclude<BatchExportRun["status"], "Starting" | "Running">;
  latest_error?: string | null;
}

/** What the engine needs in order to run exports. */
export interface ExportPorts {
  source: ExportSource;
  files: ExportFiles;
  /** Searches for a regular expression in time that does not explode; undefined when it is none. */
  searchFor(pattern: string): ((text: string) => boolean) | undefined;
  /** Asked when a run starts: does it end by script? */
  script?(run: BatchExportRun, batchExport: BatchExport): ScriptedOutcome | undefined;
  /** Told when something may be due earlier than `nextDue` said. */
  wake?(): void;
  /** Schedules count from here (ms). Default: the time when the engine is made. */
  since?: number;
}

/** Something that the engine did. */
export interface Performed {
  /** Wire time. */
  at: string;
  kind:
    | "run_started"
    | "run_completed"
    | "run_failed"
    | "run_cancelled"
    | "run_ended"
    | "backfill_completed"
    | "batch_export_paused";
  batch_export: string;
  /** Id of the run; null when it is about the export or one of its backfills. */
  run: string | null;
}

/** The engine, with what drives it. It has no timers: nothing happens outside of `tick`. */
export interface DrivenExportEngine extends ExportEngine {
  /**
   * Performs all that is due up to `now` (ms), in order, and answers with what it did. Ticks wait for each other.
   * @throws the system's error when documents cannot be kept; what was not done is still due
   */
  tick(now: number): Promise<Performed[]>;
  /** When (ms) the next tick has something to do; times that are over mean now. undefined: nothing is planned. */
  nextDue(): number | undefined;
  /** Says how an open run ends, from now on. @throws SimError invalid_input when it has ended */
  script(run: BatchExportRun, outcome: ScriptedOutcome): void;
  /** Stops what is being written and waits for it; the next engine of the same world starts it again. */
  close(): Promise<void>;
}
