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
import type { EventSpan, ExportedPerson, ExportSource, ScriptedOutcome } from "./ports.ts";

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

/** Number read before other work gets its turn. */
const turnEvents = 1_000;

/** When the events of a project came and happened, in order of arrival: 24 bytes each. */
class Times {
  #cells = new Float64Array(1024 * 3);
  #length = 0;

  /** Seq of the last event; 0 without one. */
  get last(): number {
    return this.#cells[this.#length - 3] ?? 0;
  }

  add(seq: number, received: number, timestamp: number): void {
    if (this.#length === this.#cells.length) {
      const larger = new Float64Array(this.#length * 2);
      larger.set(this.#cells);
      this.#cells = larger;
    }
    this.#cells.set([seq, received, timestamp], this.#length);
    this.#length += 3;
  }

  *seqsWithin({ by, start, end }: Omit<EventSpan, "project">): Generator<number> {
    const column = by === "received_at" ? 1 : 2;
    const from = start ?? Number.NEGATIVE_INFINITY;
    for (let at = 0; at < this.#length; at += 3) {
      const time = this.#cells[at + column] ?? Number.NaN;
      if (time >= from && time < end) yield this.#cells[at] ?? 0;
    }
  }
}

/**
 * Reads events by their times. The log has no index of times, so that one is made of each project that is
 * exported: otherwise each run would read the whole log.
 */
export class ExportEvents {
  readonly #known = new Map<number, Times>();
  readonly #log: EventLog;
  readonly #show: (line: TrafficLine, index: number) => StoredEvent;

  /** @param show shows an event of a line */
  constructor(log: EventLog, show: (line: TrafficLine, index: number) => StoredEvent) {
    this.#log = log;
    this.#show = show;
  }

  async *events({ project, ...span }: EventSpan): AsyncGenerator<StoredEvent> {
    const times = await this.#timesOf(project);
    for (const seq of times.seqsWithin(span)) {
      for (const ref of this.#log.scanInSteps({ project, outcome: "kept", since: seq - 1, until: seq })) {
        const event = ref && this.#show(ref.line, ref.index);
        if (!event) await nextTurn();
        else if (!outsideEvents.has(event.event)) yield event;
      }
    }
  }

  /** To be called when events were forgotten: what is known of them goes, too. */
  forget(): void {
    this.#known.clear();
  }

  async #timesOf(project: number): Promise<Times> {
    const times = this.#known.get(project) ?? new Times();
    this.#known.set(project, times);
    let looked = 0;
    for (const ref of this.#log.scanInSteps({ project, outcome: "kept", since: times.last })) {
      if (ref) times.add(ref.seq, ref.line.at, ref.line.events?.[ref.index]?.time ?? Number.NaN);
      if (!ref || ++looked % turnEvents === 0) await nextTurn();
    }
    return times;
  }
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
export function openExports(sim: Desk, store: ExportStore, agenda: Agenda, seen?: number) {
  const { people, log, folder } = store;
  const desk: Desk = { ...sim, worlds: committed(store) };
  const events = new ExportEvents(log, showEvent);
  const source: ExportSource = {
    events: (span) => events.events(span),
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
  return { engine, files, forgetEvents: () => events.forget(), close: () => engine.close() };
}

export type RunningExports = ReturnType<typeof openExports>;
