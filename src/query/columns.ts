import { SimError } from "../base/errors.ts";
import type { TrafficLog } from "../journal/log/traffic-log.ts";
import { showEvent } from "../journal/show.ts";
import type { PeopleStore } from "../people/people-store.ts";
import { createEventRows, createPropertyColumn, type EventRows, type PropertyColumn } from "./event-rows.ts";
import { createJoins, type GroupJoin, groupPropertyName, type Joins } from "./joins.ts";
import { finish } from "./steps.ts";
import type { Column, EventTable, Needs } from "./table.ts";

interface TablePorts {
  readonly log: TrafficLog;
  readonly people: PeopleStore;
  /** Memory for the columns of properties of all projects, in bytes (default: 256 MB). */
  readonly budget?: number;
}

/** The events of projects as columns. They are made for the first query, and grow with the journal. */
export interface EventTables {
  /**
   * The kept events of a project: those that are in the journal now, and perhaps later ones.
   * @throws SimError if the needed columns take too much memory; the signal's reason once it is aborted
   */
  tableFor(project: number, needs: Needs, signal?: AbortSignal): Promise<EventTable>;
}

const megabyte = 1024 * 1024;
const usualBudget = 256 * megabyte;

const groupKey = (type: number): string => `$group_${type}`;

/** The columns of one project. */
interface ProjectColumns {
  readonly rows: EventRows;
  readonly joins: ReturnType<typeof createJoins>;
  readonly properties: Map<string, HeldColumn>;
  /** The work on the rows, which all queries share. */
  working: Promise<void> | undefined;
}

interface HeldColumn {
  readonly column: PropertyColumn;
  /** Number of queries that wait for it. */
  users: number;
  usedAt: number;
  refusal?: SimError;
}

export function openEventTables({ log, people, budget = usualBudget }: TablePorts): EventTables {
  const projects = new Map<number, ProjectColumns>();
  let uses = 0;

  function columnsOf(project: number): ProjectColumns {
    const known = projects.get(project);
    if (known) return known;
    const rows = createEventRows(log, project);
    const made: ProjectColumns = {
      rows,
      joins: createJoins(people, project, rows),
      properties: new Map(),
      working: undefined,
    };
    projects.set(project, made);
    return made;
  }

  function held({ properties }: ProjectColumns, name: string): HeldColumn {
    const found = properties.get(name) ?? { column: createPropertyColumn(name), users: 0, usedAt: 0 };
    properties.set(name, found);
    found.users++;
    found.usedAt = ++uses;
    return found;
  }

  /** Drops the columns that were not used for the longest time, until the others fit. */
  function keepBudget(): void {
    const all = [...projects.values()].flatMap(({ properties }) =>
      [...properties].map(([name, it]) => ({ properties, name, it })),
    );
    let total = all.reduce((sum, { it }) => sum + it.column.bytes, 0);
    if (total <= budget) return;
    const size = ({ it }: (typeof all)[number]) => it.column.bytes;
    const idle = all.filter(({ it }) => it.users === 0).sort((a, b) => a.it.usedAt - b.it.usedAt);
    const busy = all.filter(({ it }) => it.users > 0).sort((a, b) => size(b) - size(a));
    for (const one of [...idle, ...busy]) {
      if (total <= budget) return;
      total -= size(one);
      one.properties.delete(one.name);
      if (one.it.users > 0) one.it.refusal = tooLarge(one.name);
    }
  }

  function tooLarge(name: string): SimError {
    const most = Math.round(budget / megabyte);
    return new SimError(
      "invalid_input",
      `the query needs more than ${most} MB of memory for the values of the property "${name}"`,
    );
  }

  /** One step of the work that all waiting queries share: a check of the rows, then one reading of the journal. */
  async function work(project: number, columns: ProjectColumns): Promise<void> {
    const { rows, properties } = columns;
    if (!(await finish(rows.check(), { mostMs: Number.POSITIVE_INFINITY }))) {
      if (projects.get(project) === columns) projects.delete(project);
      return;
    }
    const wanted = [...properties.values()].filter((it) => it.users > 0).map((it) => it.column);
    await finish(reading(rows, wanted), { mostMs: Number.POSITIVE_INFINITY });
    keepBudget();
  }

  function* reading(rows: EventRows, wanted: readonly PropertyColumn[]) {
    let steps = 0;
    for (const _ of rows.read(wanted)) {
      if (++steps % 1_024 === 0) keepBudget();
      yield undefined;
    }
  }

  function tableOf(
    { rows }: ProjectColumns,
    used: ReadonlyMap<string, HeldColumn>,
    joins: Joins,
  ): EventTable {
    const length = joins.persons.codes.length;
    const from = Math.min(length, rows.firstHeld());
    const seqs = rows.seqs.subarray(from, length);
    const property = (name: string): Column => {
      const column = used.get(name)?.column;
      if (!column) throw new Error(`the query does not need the property ${name}`);
      return { codes: column.codes.subarray(from, length), values: column.distinct.values };
    };
    const joined = (columns: ReadonlyMap<string, Column>, name: string): Column => {
      const column = columns.get(name);
      if (!column) throw new Error(`the query does not need the property ${name}`);
      return { codes: column.codes.subarray(from, length), values: column.values };
    };
    return {
      length: length - from,
      times: rows.times.subarray(from, length),
      seqs,
      names: { codes: rows.names.subarray(from, length), values: rows.nameTexts.values },
      distinctIds: { codes: rows.ids.subarray(from, length), values: rows.idTexts.values },
      persons: { codes: joins.persons.codes.subarray(from, length), values: joins.persons.values },
      property,
      personProperty: (name) => joined(joins.personProperties, name),
      group: (type) => property(groupKey(type)),
      groupProperty: (type, name) => joined(joins.groupProperties, groupPropertyName(type, name)),
      event(row) {
        const seq = seqs[row];
        if (seq === undefined) return undefined;
        for (const ref of log.scan({ since: seq - 1, until: seq, outcome: "kept" }))
          return showEvent(ref.line, ref.index);
        return undefined;
      },
    };
  }

  return {
    async tableFor(project, needs, signal) {
      const until = log.lastWrittenSeq;
      const groups = new Set([
        ...(needs.groups ?? []),
        ...(needs.groupProperties ?? []).map((it) => it.group),
      ]);
      const names = new Set([...(needs.properties ?? []), ...[...groups].map(groupKey)]);
      for (;;) {
        signal?.throwIfAborted();
        const columns = columnsOf(project);
        const { rows } = columns;
        const used = new Map([...names].map((name) => [name, held(columns, name)]));
        try {
          const isRead = () =>
            rows.isCurrent() &&
            rows.readTo >= until &&
            [...used.values()].every((it) => it.column.length >= rows.length);
          while (!isRead() && projects.get(project) === columns) {
            columns.working ??= work(project, columns).finally(() => {
              columns.working = undefined;
            });
            await columns.working;
            signal?.throwIfAborted();
            for (const { refusal } of used.values()) if (refusal) throw refusal;
          }
          if (!isRead()) continue;
          const joinedGroups = (needs.groupProperties ?? []).flatMap(({ group, name }): GroupJoin[] => {
            const keys = used.get(groupKey(group))?.column;
            return keys ? [{ type: group, name, keys }] : [];
          });
          const reading = columns.joins.read(needs.personProperties ?? [], joinedGroups);
          const joins = await finish(reading, { ...(signal && { signal }) });
          if (!rows.isCurrent()) continue;
          return tableOf(columns, used, joins);
        } finally {
          for (const it of used.values()) it.users--;
        }
      }
    },
  };
}
