import { expect } from "vitest";
import type { Json, JsonObject } from "../../../src/kernel/base/json.ts";
import { MemoryBytes } from "../../../src/kernel/store/bytes.ts";
import { createDataVersions } from "../../../src/service/query/data-version.ts";
import type { EventColumn, EventTable } from "../../../src/service/query/table.ts";
import { tableOf } from "../../../src/service/query/table.ts";
import { answerOf, listOf } from "../../../src/service/query/worker/feed.ts";
import type { AskedQuestion, AskSim } from "../../../src/service/query/worker/messages.ts";
import { ProjectData } from "../../../src/service/query/worker/project-data.ts";
import { memoryWorld } from "../../../src/state/documents/world-store.ts";
import type { EventFacts } from "../../../src/state/journal/event.ts";
import { entryWriter } from "../../../src/state/journal/log/traffic-entry.ts";
import { TrafficLog, type TrafficLogOptions } from "../../../src/state/journal/log/traffic-log.ts";
import { keysOf, showEvent } from "../../../src/state/journal/show.ts";
import type { BodyShape, TrafficLine } from "../../../src/state/journal/traffic.ts";
import { personUuid } from "../../../src/state/persons/person.ts";
import { openPersonStore, type PersonStore, type PersonStoreOptions } from "../../../src/state/persons/person-store.ts";
import { twoOrganizations } from "../management/world.ts";

/** An event of a test's journal. */
export interface SentEvent {
  event: string;
  id: string;
  properties?: JsonObject;
  facts?: Partial<EventFacts>;
}

const entryOf = entryWriter();

interface RequestOptions {
  project?: number;
  shape?: BodyShape;
}

/** A request with these events, as capture writes it. */
export function request(events: readonly SentEvent[], { project = 1, shape = "legacy" }: RequestOptions = {}) {
  const at = 1_700_000_000_000;
  const items = events.map(({ event, id, properties = {} }): JsonObject => ({ event, distinct_id: id, properties }));
  const body = shape === "v1" ? { batch: items } : items;
  const facts = events.map(({ id, facts: more }, i): EventFacts => {
    const uuid = `01900000-0000-7000-8000-${String(i).padStart(12, "0")}`;
    return { uuid, time: at + i, person: personUuid(project, id), ...more };
  });
  const target = "/batch/";
  // what is read of a line to make keys
  const keys = keysOf({ shape, target, events: facts, body, headers: [] as string[] } as TrafficLine);
  const text = JSON.stringify(body);
  const call = {
    ...{ method: "POST", target, rawHeaders: ["Host", "x"], body: Buffer.from(text) },
    ...{ peer: "127.0.0.1", at, started: performance.now() },
  };
  const reply = { status: 200, headers: ["content-type", "application/json"], body: "{}" };
  return entryOf(call, reply, { project, shape, text, events: facts, keys });
}

interface JournalOptions {
  log?: Partial<TrafficLogOptions>;
  people?: PersonStoreOptions;
  /** Bytes of lines that stay parsed. */
  most?: number;
}

/** A journal and people, and what queries read of them. */
export function openJournal({ log: logOptions, people: personOptions, most }: JournalOptions = {}) {
  const people = openPersonStore(personOptions);
  const log = new TrafficLog({ bytes: new MemoryBytes(), keysOf, ...logOptions });
  const versions = createDataVersions({ log, people, worlds: memoryWorld(twoOrganizations()) });
  const known = new Map<number, ProjectData>();
  const questions: string[] = [];
  let interruption: (() => void) | undefined;

  /** The sim's replies without a process in between; what interrupts them comes behind the first line. */
  function* listed(all: Iterable<unknown>): Generator<unknown> {
    for (const it of all) {
      if (it !== undefined) yield it;
      interruption?.();
      interruption = undefined;
    }
  }
  const asking =
    (project: number): AskSim =>
    (what, of) => {
      const facts = {
        ...{ timeZone: "UTC", weekStart: 0 as const },
        persons: () => people.allPersons(project),
        groups: () => people.allGroups(project),
      };
      questions.push(what);
      const [question, ports] = [{ what, of } as AskedQuestion, { log, people, versions, project, facts }];
      const list = listOf(question, ports);
      return (list ? [...listed(list)] : answerOf(question, ports)) as never;
    };
  const dataOf = (project: number): ProjectData => {
    const data = known.get(project) ?? new ProjectData(asking(project), most);
    known.set(project, data);
    return data;
  };
  return {
    ...{ log, people, questions },
    /** Appends a request with these events, and waits until it is written. */
    async capture(events: readonly SentEvent[], options: RequestOptions = {}) {
      log.append(request(events, options));
      await log.written();
    },
    /** Does something while the next query reads. */
    interrupt(work: () => void) {
      interruption = work;
    },
    /** Seqs of the events of a project that queries read. */
    seqs(project = 1): number[] {
      const data = dataOf(project);
      data.update();
      return data.events.map((it) => it.seq);
    },
    /** Bytes of the lines that stay parsed. */
    parsed: (project = 1) => dataOf(project).size,
    /** A project's table, compared with the events that the journal shows and the people that are stored. */
    table(columns: Columns = {}, project = 1): EventTable {
      const data = dataOf(project);
      data.update();
      const table = tableOf(data);
      expectSame(table, columns, shownRows(log, people, columns, project));
      return table;
    },
  };
}

/** Columns that are compared, next to those of every table. */
interface Columns {
  readonly properties?: readonly string[];
  readonly personProperties?: readonly string[];
  readonly groups?: readonly number[];
  readonly groupProperties?: readonly { readonly group: number; readonly name: string }[];
}

/** The values of a column by row. */
export const valuesOf = (of: EventColumn, { length }: EventTable) => Array.from({ length }, (_, row) => of(row));

interface ShownRow {
  seq: number;
  time: number;
  event: string;
  id: string;
  person: string;
  properties: (Json | undefined)[];
  personProperties: (Json | undefined)[];
  groups: (Json | undefined)[];
  groupProperties: (Json | undefined)[];
}

/** What a table must hold, read event by event. */
function shownRows(log: TrafficLog, people: PersonStore, columns: Columns, project: number): ShownRow[] {
  const rows: ShownRow[] = [];
  for (const { line, index } of log.scan({ project, outcome: "kept" })) {
    if (line.shape === "recording") continue;
    const shown = showEvent(line, index);
    const owner = people.personOf(project, shown.distinct_id)?.uuid ?? shown.person_id ?? "";
    const person = people.person(project, owner);
    const keyOf = (type: number) => shown.properties[`$group_${type}`];
    rows.push({
      ...{ seq: shown.seq, time: Date.parse(shown.timestamp), event: shown.event, id: shown.distinct_id },
      person: owner,
      properties: (columns.properties ?? []).map((name) => shown.properties[name]),
      personProperties: (columns.personProperties ?? []).map((name) => person?.properties[name]),
      groups: (columns.groups ?? []).map(keyOf),
      groupProperties: (columns.groupProperties ?? []).map(
        ({ group, name }) => people.group(project, group, String(keyOf(group)))?.properties[name],
      ),
    });
  }
  return rows;
}

function expectSame(table: EventTable, columns: Columns, rows: readonly ShownRow[]): void {
  const { properties = [], personProperties = [], groups = [], groupProperties = [] } = columns;
  const column = (of: EventColumn) => valuesOf(of, table);
  expect(column(table.seq)).toEqual(rows.map((it) => it.seq));
  expect(column(table.time)).toEqual(rows.map((it) => it.time));
  expect(column(table.name)).toEqual(rows.map((it) => it.event));
  expect(column(table.distinctId)).toEqual(rows.map((it) => it.id));
  expect(column(table.person)).toEqual(rows.map((it) => it.person));
  for (const [i, name] of properties.entries())
    expect(column(table.property(name))).toEqual(rows.map((it) => it.properties[i]));
  for (const [i, name] of personProperties.entries())
    expect(column(table.personProperty(name))).toEqual(rows.map((it) => it.personProperties[i]));
  for (const [i, type] of groups.entries()) expect(column(table.group(type))).toEqual(rows.map((it) => it.groups[i]));
  for (const [i, { group, name }] of groupProperties.entries())
    expect(column(table.groupProperty(group, name))).toEqual(rows.map((it) => it.groupProperties[i]));
}
