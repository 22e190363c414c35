import { expect } from "vitest";
import type { Json, JsonObject } from "../../../src/kernel/base/json.ts";
import { memoryBytes } from "../../../src/kernel/store/bytes.ts";
import { openEventTables } from "../../../src/service/query/columns.ts";
import type { EventTable, NameColumn, Needs, ValueColumn } from "../../../src/service/query/table.ts";
import { tableFrom } from "../../../src/service/query/table-data.ts";
import type { EventFacts } from "../../../src/state/journal/event.ts";
import { entryWriter } from "../../../src/state/journal/log/traffic-entry.ts";
import { openTrafficLog, type TrafficLog, type TrafficLogOptions } from "../../../src/state/journal/log/traffic-log.ts";
import { keysOf, showEvent } from "../../../src/state/journal/show.ts";
import type { BodyShape, TrafficLine } from "../../../src/state/journal/traffic.ts";
import { personUuid } from "../../../src/state/persons/person.ts";
import { openPersonStore, type PersonStore, type PersonStoreOptions } from "../../../src/state/persons/person-store.ts";

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
  /** Bytes for columns. */
  budget?: number;
}

/** A journal and people, and the tables over them. */
export function openJournal({ log: logOptions, people: personOptions, budget }: JournalOptions = {}) {
  const people = openPersonStore(personOptions);
  const log = openTrafficLog({ bytes: memoryBytes(), keysOf, ...logOptions });
  const columns = openEventTables({ log, people, ...(budget !== undefined && { budget }) });
  const tables = {
    async tableFor(...given: Parameters<typeof columns.tableFor>): Promise<EventTable> {
      const data = await columns.tableFor(...given);
      return tableFrom(data, (row) => {
        const seq = data.seqs.values[data.from + row] ?? 0;
        for (const { line, index } of log.scan({ since: seq - 1, until: seq })) return showEvent(line, index);
        return undefined;
      });
    },
  };
  return {
    ...{ log, people, tables },
    /** Appends a request with these events, and waits until it is written. */
    async capture(events: readonly SentEvent[], options: RequestOptions = {}) {
      log.append(request(events, options));
      await log.written();
    },
    /** A project's table, compared with the events that the journal shows and the people that are stored. */
    async table(needs: Needs = {}, project = 1): Promise<EventTable> {
      const table = await tables.tableFor(project, needs);
      expectSame(table, needs, shownRows(log, people, needs, project));
      return table;
    },
  };
}

/** The values of a column by row. */
export const valuesOf = ({ codes, values }: ValueColumn | NameColumn, { length }: EventTable) =>
  Array.from({ length }, (_, row) => values[codes[row] ?? 0]);

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
function shownRows(log: TrafficLog, people: PersonStore, needs: Needs, project: number): ShownRow[] {
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
      properties: (needs.properties ?? []).map((name) => shown.properties[name]),
      personProperties: (needs.personProperties ?? []).map((name) => person?.properties[name]),
      groups: (needs.groups ?? []).map(keyOf),
      groupProperties: (needs.groupProperties ?? []).map(
        ({ group, name }) => people.group(project, group, String(keyOf(group)))?.properties[name],
      ),
    });
  }
  return rows;
}

function expectSame(table: EventTable, needs: Needs, rows: readonly ShownRow[]): void {
  const { properties = [], personProperties = [], groups = [], groupProperties = [] } = needs;
  const column = (of: ValueColumn | NameColumn) => valuesOf(of, table);
  expect([...table.seqs]).toEqual(rows.map((it) => it.seq));
  expect([...table.times]).toEqual(rows.map((it) => it.time));
  expect(column(table.names)).toEqual(rows.map((it) => it.event));
  expect(column(table.distinctIds)).toEqual(rows.map((it) => it.id));
  if (needs.persons !== false) expect(column(table.persons)).toEqual(rows.map((it) => it.person));
  for (const [i, name] of properties.entries())
    expect(column(table.property(name))).toEqual(rows.map((it) => it.properties[i]));
  for (const [i, name] of personProperties.entries())
    expect(column(table.personProperty(name))).toEqual(rows.map((it) => it.personProperties[i]));
  for (const [i, type] of groups.entries()) expect(column(table.group(type))).toEqual(rows.map((it) => it.groups[i]));
  for (const [i, { group, name }] of groupProperties.entries())
    expect(column(table.groupProperty(group, name))).toEqual(rows.map((it) => it.groupProperties[i]));
}
