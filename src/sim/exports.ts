import { join } from "node:path";
import { createExportEngine } from "../exports/engine.ts";
import { createEventSource } from "../exports/event-source.ts";
import { folderFiles, memoryFiles } from "../exports/files.ts";
import type { DrivenExportEngine, ExportedPerson, ExportFiles, ExportSource } from "../exports/ports.ts";
import { patternOf } from "../flags/pattern.ts";
import { showEvent } from "../ingest/show.ts";
import type { Agenda } from "../kernel/agenda.ts";
import type { Desk } from "../model/desk.ts";
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

/** Opens the engine over the store; its work goes on the agenda. */
export function openExports(desk: Desk, { people, log, folder }: Store, agenda: Agenda): Exports {
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
    wake: () => agenda.changed(),
  });
  agenda.add({
    nextDue: engine.nextDue,
    perform: async (until) => (await engine.tick(until)).map((it) => ({ ...it })),
  });
  return { engine, files, forgetEvents: events.forget, close: engine.close };
}
