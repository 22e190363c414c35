import { join } from "node:path";
import { createExportEngine } from "../exports/engine.ts";
import { createEventSource } from "../exports/event-source.ts";
import { folderFiles, memoryFiles } from "../exports/files.ts";
import type {
  DrivenExportEngine,
  ExportedPerson,
  ExportFiles,
  ExportSource,
  ScriptedOutcome,
} from "../exports/ports.ts";
import { patternOf } from "../flags/pattern.ts";
import { showEvent } from "../ingest/show.ts";
import type { Agenda } from "../kernel/agenda.ts";
import type { Desk } from "../model/desk.ts";
import type { BatchExport, Worlds } from "../model/world.ts";
import type { PeopleStore } from "../store/people.ts";
import type { Store } from "../store/store.ts";

/** Batch exports that run: by themselves as the clock goes on, or when somebody moves it. */
export interface Exports {
  readonly engine: DrivenExportEngine;
  readonly files: ExportFiles;
  /** To be called when events went, or came back. */
  forgetEvents(): void;
  close(): Promise<void>;
}

const personPage = 500;

async function* personsBefore(
  people: PeopleStore,
  { project, end }: { project: number; end: number },
): AsyncGenerator<ExportedPerson> {
  for (let offset = 0; ; offset += personPage) {
    const where = ({ created_at }: { created_at: number }) => created_at < end;
    const { results, more } = await people.persons({ project, limit: personPage, offset, where });
    yield* results;
    if (!more) return;
  }
}

/** What the engine does has no request whose answer waits for the disk: each change is written at once. */
const committed = ({ worlds, log }: Store): Worlds => ({
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

/** Opens the engine over the store; its work goes on the agenda. */
export function openExports(sim: Desk, store: Store, agenda: Agenda): Exports {
  const { people, log, folder } = store;
  const desk: Desk = { ...sim, worlds: committed(store) };
  const events = createEventSource(log, showEvent);
  const source: ExportSource = {
    events: events.events,
    persons: (span) => personsBefore(people, span),
    person: (project, uuid) => people.person(project, uuid),
  };
  const files = folder === null ? memoryFiles() : folderFiles(join(folder, "exports"));
  const engine = createExportEngine(desk, {
    source,
    files,
    searchFor: patternOf,
    script: (_, batchExport) => nextOutcome(desk.worlds, batchExport),
    wake: () => agenda.changed(),
  });
  agenda.add({
    nextDue: engine.nextDue,
    perform: async (until) => (await engine.tick(until)).map((it) => ({ ...it })),
  });
  return { engine, files, forgetEvents: events.forget, close: engine.close };
}
