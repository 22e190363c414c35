import { setImmediate as nextTurn } from "node:timers/promises";
import { SimError } from "../../kernel/base/errors.ts";
import type { BatchExport, BatchExportLog, BatchExportRun } from "../../state/documents/world.ts";
import { type Column, columnsOf, type EventRecord, type PersonRecord, personColumns } from "./columns.ts";
import { createSplitWriter, encoderFor, type WrittenFile } from "./file-writer.ts";
import { recordTest } from "./filters.ts";
import type { EventTime, ExportPorts, ExportSource, RunFiles } from "./ports.ts";
import { keysOf, type ObjectKeys, type Target, targetOf } from "./targets.ts";

export interface Note {
  level: BatchExportLog["level"];
  message: string;
}

export interface Exported {
  records: number;
  bytes: number;
  /** Position of the last record: the `seq` of an event, a person's id; null when there was none. */
  cursor: string | null;
}

interface Job {
  run: BatchExportRun;
  batchExport: BatchExport;
  ports: Pick<ExportPorts, "source" | "files">;
  isWanted(): boolean;
  note(level: Note["level"], message: string): void;
}

/** What went wrong with a run; nothing at all when it was stopped. */
type Outcome =
  | { result?: Exported; failure?: undefined }
  | { result?: undefined; failure: { status: "Failed" | "FailedRetryable"; latest_error: string } };

interface Selection<R> {
  columns: readonly Column<R>[];
  /** undefined: a record that was read and is not exported. */
  records: AsyncIterable<R | undefined>;
  positionOf(record: R): string;
}

/** Number read before other work gets its turn. */
const turnRecords = 250;

async function* eventRecords({ run, batchExport, ports }: Job): AsyncGenerator<EventRecord | undefined> {
  const { source } = ports;
  const by: EventTime = run.backfill === null ? "received_at" : "timestamp";
  const test = recordTest(batchExport);
  const start = run.data_interval_start === null ? null : Date.parse(run.data_interval_start);
  const { project } = batchExport;
  const span = { project, by, start, end: Date.parse(run.data_interval_end) };
  for await (const event of source.events(span)) {
    const { person_id } = event;
    const personProperties = () => (person_id === null ? undefined : propertiesOf(source, project, person_id));
    const record = { event, by, personProperties };
    yield test(record) ? record : undefined;
  }
}

const propertiesOf = (source: ExportSource, project: number, uuid: string) => source.person(project, uuid)?.properties;

async function* personRecords({ run, batchExport, ports }: Job): AsyncGenerator<PersonRecord> {
  const span = { project: batchExport.project, end: Date.parse(run.data_interval_end) };
  for await (const person of ports.source.persons(span)) {
    for (const distinctId of person.distinct_ids) yield { person, distinctId };
  }
}

const isRestricted = ({ filters, schema, destination: { config } }: BatchExport): boolean =>
  schema !== null ||
  [filters, config.include_events, config.exclude_events].some((it) => Array.isArray(it) && it.length > 0);

/** A destination that is no bucket, and nothing at all, gets its records counted, too. */
const noteDestination = ({ destination: { type } }: BatchExport, note: Job["note"]): void =>
  note(
    "INFO",
    type === "NoOp"
      ? "NoOp: records are counted, and nothing is written"
      : `The destination ${type} is not contacted: phx-sim writes files of its own`,
  );

/** Exports the data of a run. Nothing of it is seen before all of it is written. */
export async function exportRun(job: Job): Promise<Outcome> {
  try {
    return { result: await (job.batchExport.model === "persons" ? exportPersons(job) : exportEvents(job)) };
  } catch (error) {
    const latest_error = error instanceof Error ? error.message : String(error);
    // What the export asks for will fail again; a full disk may not.
    const status = error instanceof SimError ? "Failed" : "FailedRetryable";
    return { failure: { status, latest_error } };
  }
}

function exportEvents(job: Job): Promise<Exported | undefined> {
  // checked before the files are begun, whether or not there is an event
  recordTest(job.batchExport);
  return write(job, {
    columns: columnsOf(job.batchExport),
    records: eventRecords(job),
    positionOf: ({ event }) => String(event.seq),
  });
}

function exportPersons(job: Job): Promise<Exported | undefined> {
  if (isRestricted(job.batchExport)) {
    job.note("WARNING", "Queries, filters and lists of events are for events: persons are exported as they are");
  }
  return write(job, { columns: personColumns, records: personRecords(job), positionOf: ({ person }) => person.uuid });
}

async function write<R>(job: Job, selection: Selection<R>): Promise<Exported | undefined> {
  const { run, batchExport, ports, note } = job;
  const target = targetOf(batchExport.destination);
  const keys = keysOf(target, run, batchExport.model);
  noteDestination(batchExport, note);
  if (batchExport.destination.type === "NoOp") return count(job, selection);
  const encoder = await encoderFor(target, selection.columns);
  const files = await ports.files.begin(batchExport.id, run.id);
  try {
    const writer = createSplitWriter({ files, keys, encoder, maxBytes: target.maxBytes });
    const cursor = await each(job, selection, (record) => writer.add(record));
    const written = cursor.isStopped ? [] : await writer.end();
    if (cursor.isStopped || !job.isWanted()) {
      await files.discard();
      return undefined;
    }
    await publish({ files, keys, target, written, note });
    return { ...sumOf(written), cursor: cursor.last };
  } catch (error) {
    await files.discard();
    throw error;
  }
}

async function count<R>(job: Job, selection: Selection<R>): Promise<Exported | undefined> {
  let records = 0;
  const cursor = await each(job, selection, () => void records++);
  return cursor.isStopped ? undefined : { records, bytes: 0, cursor: cursor.last };
}

async function each<R>(
  { isWanted }: Job,
  { records, positionOf }: Selection<R>,
  take: (record: R) => Promise<void> | void,
): Promise<{ isStopped: boolean; last: string | null }> {
  let looked = 0;
  let last: R | undefined;
  for await (const record of records) {
    if (++looked % turnRecords === 0) {
      await nextTurn();
      if (!isWanted()) return { isStopped: true, last: null };
    }
    if (record === undefined) continue;
    await take(record);
    last = record;
  }
  return { isStopped: false, last: last === undefined ? null : positionOf(last) };
}

interface Publication {
  files: RunFiles;
  keys: ObjectKeys;
  target: Target;
  written: readonly WrittenFile[];
  note: Job["note"];
}

/** An interval without records has no file. Upstream: files of limited size have a manifest. */
async function publish({ files, keys, target, written, note }: Publication): Promise<void> {
  if (written.length === 0) {
    note("INFO", "There is nothing to export: no file was written");
    return files.discard();
  }
  if (target.maxBytes !== null) {
    const manifest = await files.create(keys.manifest);
    await manifest.write(Buffer.from(JSON.stringify({ files: written.map(({ key }) => key) })));
    await manifest.close();
  }
  await files.publish();
  for (const { key, records, bytes } of written) {
    note("DEBUG", `File ${key} written, records: ${records}, bytes: ${bytes}`);
  }
}

const sumOf = (written: readonly WrittenFile[]): Pick<Exported, "records" | "bytes"> => ({
  records: written.reduce((sum, it) => sum + it.records, 0),
  bytes: written.reduce((sum, it) => sum + it.bytes, 0),
});
