import type { BatchExport, BatchExportRun } from "../../state/documents/world.ts";
import type { StoredEvent } from "../../state/journal/event.ts";
import type { Person } from "../../state/persons/person.ts";

/** The time that a backfill covers, as wire times; null is open. */
export interface BackfillRange {
  start_at: string | null;
  end_at: string | null;
}

export const isOpen = ({ status }: Pick<BatchExportRun, "status">): boolean =>
  status === "Starting" || status === "Running";

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

export interface ExportedPerson extends Person {
  distinct_ids: readonly string[];
}

/** Where exports read. What it hands out is read lazily, and never changed. */
export interface ExportSource {
  /** Kept events of a span, in order of arrival. A long search lets other work have its turn. */
  events(span: EventSpan): AsyncIterable<StoredEvent> | Iterable<StoredEvent>;
  /**
   * Persons of a project that were created before `end` (ms). Unlike upstream, whose runs hold the persons that
   * changed in their interval: the store does not know when a person changed last.
   */
  persons(span: { project: number; end: number }): AsyncIterable<ExportedPerson> | Iterable<ExportedPerson>;
  person(project: number, uuid: string): Pick<Person, "properties"> | undefined;
}

export interface ExportFileWriter {
  write(bytes: Uint8Array): Promise<void>;
  close(): Promise<void>;
}

export interface RunFiles {
  /** @param key relative, with `/` between its parts */
  create(key: string): Promise<ExportFileWriter>;
  publish(): Promise<void>;
  discard(): Promise<void>;
}

export interface ExportFiles {
  /** Starts the files of a run; what an earlier try left behind is removed. */
  begin(batchExport: string, run: string): Promise<RunFiles>;
  /** The published files of a run, by path: `<export>/<run>/<key>`. */
  list(batchExport: string, run: string): Promise<{ path: string; bytes: number }[]>;
  read(path: string): Promise<Buffer | undefined>;
  clear(): Promise<void>;
}

export interface ScriptedOutcome {
  /** ms from the start of the run (or from the call that sets it) during which it stays Running. */
  after: number;
  status: Exclude<BatchExportRun["status"], "Starting" | "Running">;
  latest_error?: string | null;
}

export interface ExportPorts {
  source: ExportSource;
  files: ExportFiles;
  script?(run: BatchExportRun, batchExport: BatchExport): ScriptedOutcome | undefined;
  /** Called when something may be due earlier than `nextDue` returned. */
  wake?(): void;
  /** Schedules count from here (ms). Default: the time when the engine is made. */
  since?: number;
  /** The last time (ms) that an earlier engine is known to have reached. */
  seen?: number;
}
