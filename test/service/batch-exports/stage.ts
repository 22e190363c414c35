import { fixedClock } from "../../../src/kernel/base/clock.ts";
import { randomIds } from "../../../src/kernel/base/ids.ts";
import { ExportEngine } from "../../../src/service/batch-exports/engine.ts";
import { memoryFiles } from "../../../src/service/batch-exports/files.ts";
import type { ExportedPerson, ExportPorts, ExportSource } from "../../../src/service/batch-exports/ports.ts";
import type { BatchExport, World } from "../../../src/state/documents/world.ts";
import { openWorld } from "../../../src/state/documents/world-store.ts";
import type { StoredEvent } from "../../../src/state/journal/event.ts";
import { aBatchExport, aProject, aWorld, uuidFor } from "../../support/documents.ts";

export const hour = 3_600_000;
export const minute = 60_000;
/** A Wednesday, half an hour before a boundary of every interval but the week's. */
export const start = Date.UTC(2026, 2, 4, 9, 30);

export const iso = (ms: number): string => new Date(ms).toISOString();

/** An event that came, and happened, at a time. */
export const anEvent = (seq: number, at: number, more: Partial<StoredEvent> = {}): StoredEvent => ({
  seq,
  outcome: "kept",
  reason: null,
  detail: null,
  warnings: [],
  project: 1,
  uuid: uuidFor(seq, "e"),
  event: "signed_up",
  distinct_id: "ann",
  timestamp: iso(at),
  received_at: iso(at),
  person_id: uuidFor(1, "f"),
  person_mode: "full",
  properties: { plan: "pro" },
  request: seq,
  ...more,
});

export const aPerson = (more: Partial<ExportedPerson> = {}): ExportedPerson => ({
  project: 1,
  uuid: uuidFor(1, "f"),
  created_at: start - hour,
  is_identified: true,
  version: 3,
  properties: { email: "ann@example.com" },
  distinct_ids: ["ann", "ann-phone"],
  ...more,
});

/** A source of events and persons that are at hand. */
export const sourceOf = (events: Iterable<StoredEvent>, persons: readonly ExportedPerson[] = []): ExportSource => ({
  *events({ project, by, start: from, end }) {
    for (const it of events) {
      const time = Date.parse(it[by]);
      if (it.project === project && (from === null || time >= from) && time < end) yield it;
    }
  },
  *persons({ project, end }) {
    for (const it of persons) if (it.project === project && it.created_at < end) yield it;
  },
  person: (project, uuid) => persons.find((it) => it.project === project && it.uuid === uuid),
});

export const anS3 = (config: BatchExport["destination"]["config"] = {}): BatchExport["destination"] => ({
  type: "S3",
  config: {
    bucket_name: "b",
    region: "eu-central-1",
    prefix: "",
    aws_access_key_id: "***",
    aws_secret_access_key: "***",
    ...config,
  },
});

interface Setting {
  batchExport?: Partial<BatchExport>;
  world?: Partial<World>;
  events?: Iterable<StoredEvent>;
  persons?: readonly ExportedPerson[];
  ports?: Partial<ExportPorts>;
  now?: number;
}

/** An engine over a world with one hourly export, with a clock that stands still and files in memory. */
export async function stage({ batchExport, world, events = [], persons, ports, now = start }: Setting = {}) {
  const it = aBatchExport({ destination: anS3(), ...batchExport });
  const worlds = await openWorld({
    seedWorld: () => aWorld({ projects: [aProject()], batch_exports: [it], ...world }),
  });
  const clock = fixedClock(now);
  const files = ports?.files ?? memoryFiles();
  const desk = { worlds, clock, ids: randomIds(clock) };
  const engine = new ExportEngine(desk, { source: sourceOf(events, persons), ...ports, files });
  return {
    engine,
    worlds,
    clock,
    files,
    desk,
    /** The export as it is now. */
    current: () => worlds.get("batch_exports", it.id) ?? it,
    runs: () => worlds.current.batch_export_runs,
    logs: (run?: string) => worlds.current.batch_export_logs.filter((line) => run === undefined || line.run === run),
    backfills: () => worlds.current.batch_export_backfills,
    /** Sets the clock, and performs what became due. */
    advance(by: number) {
      clock.set(clock.now() + by);
      return engine.tick(clock.now());
    },
    /** Files of a run: the keys below its folder. */
    async keysOf(run: string): Promise<string[]> {
      const listed = await files.list(it.id, run);
      return listed.map(({ path }) => path.slice(`${it.id}/${run}/`.length));
    },
    async contentOf(run: string, key: string): Promise<Buffer> {
      const content = await files.read(`${it.id}/${run}/${key}`);
      if (!content) throw new Error(`no file ${key}`);
      return content;
    },
    /** Changes the export and reports the engine, as the management API does. */
    change(changes: Partial<BatchExport>) {
      const changed = worlds.change((draft) =>
        draft.put("batch_exports", { ...(worlds.get("batch_exports", it.id) ?? it), ...changes }),
      );
      engine.scheduled(changed);
    },
  };
}

/** The first of a list that has one. */
export function first<T>(list: readonly T[]): T {
  const [it] = list;
  if (it === undefined) throw new Error("the list is empty");
  return it;
}

/** The records of a file of JSON lines. */
export const linesIn = (content: Buffer): unknown[] =>
  content
    .toString("utf8")
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
