import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Agenda } from "../../kernel/base/agenda.ts";
import type { BatchExport, Worlds } from "../../state/documents/world.ts";
import type { StoredEvent } from "../../state/journal/event.ts";
import { outsideEvents } from "../../state/journal/items.ts";
import { showEvent } from "../../state/journal/show.ts";
import type { TrafficLine } from "../../state/journal/traffic.ts";
import type { PersonStore } from "../../state/persons/person-store.ts";
import type { Desk } from "../capture/desk.ts";
import { ExportEngine } from "./engine.ts";
import { folderFiles, memoryFiles } from "./files.ts";
import type { EventSpan, EventTime, ExportedPerson, ExportFiles, ExportSource, ScriptedOutcome } from "./ports.ts";

interface Found {
  seq: number;
  line: TrafficLine;
  index: number;
}

export interface EventLog {
  /** Yields `undefined` so that other work gets a turn. */
  scanInSteps(filter: {
    project: number;
    outcome: "kept";
    since?: number;
    until?: number;
  }): Iterable<Found | undefined>;
}

interface EventSource extends Pick<ExportSource, "events"> {
  /** To be called when events were forgotten: what is known of them goes, too. */
  forget(): void;
}

/** Number read before other work gets its turn. */
const turnEvents = 1_000;

type Times = Record<EventTime, number> & { seq: number };

/** When the events of a project came and happened, in order of arrival: 24 bytes each. */
function createTimes() {
  const width = 3;
  let cells = new Float64Array(1024 * width);
  let count = 0;
  return {
    last: () => (count === 0 ? 0 : (cells[(count - 1) * width] ?? 0)),
    add({ seq, received_at, timestamp }: Times) {
      if ((count + 1) * width > cells.length) {
        const larger = new Float64Array(cells.length * 2);
        larger.set(cells);
        cells = larger;
      }
      cells.set([seq, received_at, timestamp], count * width);
      count++;
    },
    /** Seqs of the events of a span. */
    *within({ by, start, end }: Omit<EventSpan, "project">): Generator<number> {
      const column = by === "received_at" ? 1 : 2;
      const from = start ?? Number.NEGATIVE_INFINITY;
      for (let row = 0; row < count; row++) {
        const time = cells[row * width + column] ?? Number.NaN;
        if (time >= from && time < end) yield cells[row * width] ?? 0;
      }
    },
  };
}

/**
 * Reads events by their times. The log has no index of times, so that one is made of each project that is
 * exported: otherwise each run would read the whole log.
 * @param show shows an event of a line
 */
export function createEventSource(log: EventLog, show: (line: TrafficLine, index: number) => StoredEvent): EventSource {
  const known = new Map<number, ReturnType<typeof createTimes>>();

  async function timesOf(project: number) {
    const times = known.get(project) ?? createTimes();
    known.set(project, times);
    let looked = 0;
    for (const ref of log.scanInSteps({ project, outcome: "kept", since: times.last() })) {
      const timestamp = ref?.line.events?.[ref.index]?.time ?? Number.NaN;
      if (ref) times.add({ seq: ref.seq, received_at: ref.line.at, timestamp });
      if (!ref || ++looked % turnEvents === 0) await nextTurn();
    }
    return times;
  }

  return {
    async *events({ project, ...span }) {
      const times = await timesOf(project);
      for (const seq of times.within(span)) {
        for (const ref of log.scanInSteps({ project, outcome: "kept", since: seq - 1, until: seq })) {
          const event = ref && show(ref.line, ref.index);
          if (!event) await nextTurn();
          else if (!outsideEvents.has(event.event)) yield event;
        }
      }
    },
    forget: () => known.clear(),
  };
}

/** Batch exports that run when the clock reaches their time. */
export interface RunningExports {
  readonly engine: ExportEngine;
  readonly files: ExportFiles;
  /** To be called when events went, or came back. */
  forgetEvents(): void;
  close(): Promise<void>;
}

const personPage = 500;

async function* personsBefore(
  people: PersonStore,
  { project, end }: { project: number; end: number },
): AsyncGenerator<ExportedPerson> {
  for (let offset = 0; ; offset += personPage) {
    const where = ({ created_at }: { created_at: number }) => created_at < end;
    const { results, more } = await people.persons({ project, limit: personPage, offset, where });
    yield* results;
    if (!more) return;
  }
}

interface ExportStore {
  readonly worlds: Worlds;
  readonly people: PersonStore;
  readonly log: EventLog & { commit(): void };
  /** Absolute path of the data folder, or null in memory. */
  readonly folder: string | null;
}

/** Writes each change of the engine at once: no request waits for it. */
const committed = ({ worlds, log }: ExportStore): Worlds => ({
  ...worlds,
  change(edit) {
    const result = worlds.change(edit);
    log.commit();
    return result;
  },
});

/** Takes the next outcome that the export's scenario wrote down. */
function nextOutcome(worlds: Worlds, { id }: BatchExport): ScriptedOutcome | undefined {
  const current = worlds.get("batch_exports", id);
  const [outcome, ...rest] = current?.scripted_runs ?? [];
  if (!current || !outcome) return undefined;
  worlds.change((draft) => draft.put("batch_exports", { ...current, scripted_runs: rest }));
  return outcome;
}

/**
 * Opens the engine over the store; its work goes on the agenda.
 * @param seen a time (ms) that the clock has shown before this process
 */
export function openExports(sim: Desk, store: ExportStore, agenda: Agenda, seen?: number): RunningExports {
  const { people, log, folder } = store;
  const desk: Desk = { ...sim, worlds: committed(store) };
  const events = createEventSource(log, showEvent);
  const source: ExportSource = {
    events: events.events,
    persons: (span) => personsBefore(people, span),
    person: (project, uuid) => people.person(project, uuid),
  };
  const files = folder === null ? memoryFiles() : folderFiles(join(folder, "exports"));
  const engine = new ExportEngine(desk, {
    source,
    files,
    script: (_, batchExport) => nextOutcome(desk.worlds, batchExport),
    wake: () => agenda.changed(),
    ...(seen !== undefined && { seen }),
  });
  agenda.add({
    nextDue: () => engine.nextDue(),
    perform: async (until) => (await engine.tick(until)).map((it) => ({ ...it })),
  });
  try {
    engine.follow();
  } catch {
    // The disk is full: it is tried again before something is performed.
  }
  return { engine, files, forgetEvents: events.forget, close: () => engine.close() };
}
