import type { TrafficLog } from "../journal/log/traffic-log.ts";
import { showEvent } from "../journal/show.ts";
import type { PeopleStore } from "../people/people-store.ts";
import { createBudget, type Held } from "./budget.ts";
import { createEventRows, createPropertyColumn, type EventRows, type PropertyColumn } from "./event-rows.ts";
import { createJoinedColumn, createJoins, type JoinedColumn, type Joins, type PersonJoin } from "./joins.ts";
import { finish } from "./steps.ts";
import type { EventTable, Needs, Steps, ValueColumn } from "./table.ts";

interface TablePorts {
  readonly log: TrafficLog;
  readonly people: PeopleStore;
  /** Memory for columns, in bytes (default: 256 MB). */
  readonly budget?: number;
}

/** The events of projects as columns. They are made for the first query, and grow with the journal. */
export interface EventTables {
  /**
   * The kept events of a project: those that are in the journal now, and perhaps later ones.
   * @throws SimError if a needed column takes too much memory; the signal's reason once it is aborted
   */
  tableFor(project: number, needs: Needs, signal?: AbortSignal): Promise<EventTable>;
}

/**
 * Memory for the columns of properties, and for all columns of projects that no query reads, in bytes: a column of
 * 1,000,000 events takes 4 MB and its distinct values.
 */
const usualBudget = 256 * 1024 * 1024;

/** The columns of one project. */
interface ProjectColumns {
  readonly rows: EventRows;
  readonly joins: Joins;
  readonly properties: Map<string, Held<PropertyColumn>>;
  /** By name, and by type and name. */
  readonly personProperties: Map<string, Held<JoinedColumn>>;
  readonly groupProperties: Map<string, Held<JoinedColumn>>;
  readonly bytes: number;
  /** Queries that wait, and what they need. */
  readonly waiting: Set<Wanted>;
  /** The work that all of them share. */
  working: Promise<void> | undefined;
}

/** The columns that a query needs. */
interface Wanted {
  /** All of them. */
  readonly used: readonly Held[];
  readonly needsPersons: boolean;
  readonly properties: ReadonlyMap<string, Held<PropertyColumn>>;
  readonly personProperties: ReadonlyMap<string, Held<JoinedColumn>>;
  readonly groupProperties: readonly {
    readonly type: number;
    readonly name: string;
    readonly keys: Held<PropertyColumn>;
    readonly column: Held<JoinedColumn>;
  }[];
}

/** The property that has the key of an event's group. */
const groupKey = (type: number): string => `$group_${type}`;
const groupPropertyKey = (type: number, name: string): string => `${type} ${name}`;

/** Steps between two looks at the memory. */
const stepsPerCheck = 256;

export function openEventTables({ log, people, budget: most = usualBudget }: TablePorts): EventTables {
  const projects = new Map<number, Held<ProjectColumns>>();
  const budget = createBudget(most);
  people.onChange((change) => {
    for (const { content } of projects.values()) content.joins.note(change);
  });

  function newProject(project: number): ProjectColumns {
    const rows = createEventRows(log, project);
    return {
      ...{ rows, joins: createJoins(people, project, rows), waiting: new Set(), working: undefined },
      ...{ properties: new Map(), personProperties: new Map(), groupProperties: new Map() },
      get bytes() {
        return rows.bytes;
      },
    };
  }

  const useProject = (project: number): Held<ProjectColumns> =>
    budget.use(projects, project, {
      make: () => newProject(project),
      parts: ({ properties, personProperties, groupProperties }) => [
        ...properties.values(),
        ...personProperties.values(),
        ...groupProperties.values(),
      ],
    });

  function useColumns(columns: ProjectColumns, needs: Needs): Wanted {
    const used: Held[] = [];
    function use<T extends { readonly bytes: number }>(
      all: Map<string, Held<T>>,
      key: string,
      title: string,
      make: () => T,
    ) {
      const held = budget.use(all, key, { make, title });
      used.push(held);
      return held;
    }
    const property = (name: string) =>
      use(columns.properties, name, `the property "${name}"`, () => createPropertyColumn(name));
    const { properties = [], personProperties = [], groups = [], groupProperties = [] } = needs;
    return {
      used,
      needsPersons: needs.persons !== false || personProperties.length > 0,
      properties: mapOf([...properties, ...groups.map(groupKey)], property),
      personProperties: mapOf(personProperties, (name) =>
        use(columns.personProperties, name, `the person property "${name}"`, createJoinedColumn),
      ),
      groupProperties: groupProperties.map(({ group: type, name }) => {
        const key = groupPropertyKey(type, name);
        const title = `the property "${name}" of groups of type ${type}`;
        const keys = property(groupKey(type));
        return { type, name, keys, column: use(columns.groupProperties, key, title, createJoinedColumn) };
      }),
    };
  }

  /** True if the columns have at least the events up to a seq, and what is joined to them. */
  function isReady({ rows, joins }: ProjectColumns, wanted: Wanted, until: number): boolean {
    const isWhole = (it: { readonly length: number }) => it.length >= rows.length;
    if (!rows.isCurrent() || rows.readTo < until) return false;
    if (![...wanted.properties.values()].every((it) => isWhole(it.content))) return false;
    if (wanted.needsPersons && (joins.isStale || !isWhole(joins))) return false;
    return (
      [...wanted.personProperties.values()].every((it) => isWhole(it.content)) &&
      wanted.groupProperties.every(({ column: { content } }) => isWhole(content) && joins.isCurrent(content))
    );
  }

  /** Reads what the waiting queries need. */
  function* read({ rows, joins, waiting, personProperties }: ProjectColumns): Steps<void> {
    const queries = [...waiting];
    const properties = new Set(
      queries.flatMap(({ properties: own, groupProperties }) =>
        [...own.values(), ...groupProperties.map((it) => it.keys)].map((it) => it.content),
      ),
    );
    yield* rows.read([...properties]);
    if (queries.some((it) => it.needsPersons)) {
      const needed = new Map(queries.flatMap((it) => [...it.personProperties]));
      yield* joins.readPersons(personJoins(needed), personJoins(personProperties));
    }
    const groups = queries.flatMap((it) => it.groupProperties);
    yield* joins.readGroups(
      groups.map(({ keys, column, ...it }) => ({ ...it, keys: keys.content, column: column.content })),
    );
  }

  /** Work that all waiting queries share; it ends early if none waits any more. */
  function* shared(held: Held<ProjectColumns>): Steps<void> {
    const { content: columns } = held;
    if (!(yield* columns.rows.check())) return budget.drop(held);
    let steps = 0;
    for (const _ of read(columns)) {
      if (++steps % stepsPerCheck === 0) budget.enforce();
      if (columns.waiting.size === 0) return;
      yield;
    }
    budget.enforce();
  }

  function work(held: Held<ProjectColumns>): Promise<void> {
    const { content } = held;
    content.working ??= finish(shared(held), { mostMs: Number.POSITIVE_INFINITY }).finally(() => {
      content.working = undefined;
    });
    return content.working;
  }

  /** The table once its columns are read; undefined if they became invalid. */
  async function tableOnce(
    held: Held<ProjectColumns>,
    wanted: Wanted,
    { project, until, signal }: { project: number; until: number; signal: AbortSignal | undefined },
  ): Promise<EventTable | undefined> {
    while (projects.get(project) === held) {
      for (const { refusal } of wanted.used) if (refusal) throw refusal;
      if (isReady(held.content, wanted, until)) return tableOf(log, held.content, wanted);
      await unlessAborted(work(held), signal);
    }
    return undefined;
  }

  return {
    async tableFor(project, needs, signal) {
      const until = log.lastWrittenSeq;
      for (;;) {
        signal?.throwIfAborted();
        const held = useProject(project);
        const wanted = useColumns(held.content, needs);
        held.content.waiting.add(wanted);
        try {
          const table = await tableOnce(held, wanted, { project, until, signal });
          if (table) return table;
        } finally {
          held.content.waiting.delete(wanted);
          for (const it of [held, ...wanted.used]) it.users--;
        }
      }
    },
  };
}

/** @throws the signal's reason once it is aborted */
async function unlessAborted(work: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  if (!signal) return work;
  let stop = () => {};
  const aborted = new Promise<void>((resolve) => {
    stop = resolve;
    signal.addEventListener("abort", stop, { once: true });
  });
  try {
    await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
  signal.throwIfAborted();
}

const mapOf = <T>(names: readonly string[], make: (name: string) => T): Map<string, T> =>
  new Map([...new Set(names)].map((name) => [name, make(name)]));

const personJoins = (columns: ReadonlyMap<string, Held<JoinedColumn>>): PersonJoin[] =>
  [...columns].map(([name, { content }]) => ({ name, column: content }));

/** The rows whose lines are held, as they are now. */
function tableOf(log: TrafficLog, { rows, joins }: ProjectColumns, wanted: Wanted): EventTable {
  const { length: end, nameTexts, idTexts, personTexts } = rows;
  const from = rows.firstHeld();
  const seqs = rows.seqs.subarray(from, end);
  const part = <V>(codes: Uint32Array, values: readonly V[]) => ({
    codes: codes.subarray(from, end),
    values,
  });
  const persons = wanted.needsPersons ? part(joins.persons, personTexts.values) : undefined;
  const properties = new Map(
    [...wanted.properties].map(([name, { content }]) => [name, part(content.codes, content.distinct.values)]),
  );
  const joined = ({ content }: Held<JoinedColumn>): ValueColumn => part(content.codes, content.values);
  const personProperties = new Map([...wanted.personProperties].map(([name, it]) => [name, joined(it)]));
  const groupProperties = new Map(
    wanted.groupProperties.map(({ type, name, column }) => [groupPropertyKey(type, name), joined(column)]),
  );
  return {
    length: end - from,
    times: rows.times.subarray(from, end),
    seqs,
    names: part(rows.names, nameTexts.values),
    distinctIds: part(rows.ids, idTexts.values),
    get persons() {
      return needed(persons, "persons");
    },
    property: (name) => needed(properties.get(name), `the property ${name}`),
    personProperty: (name) => needed(personProperties.get(name), `the person property ${name}`),
    group: (type) => needed(properties.get(groupKey(type)), `the groups of type ${type}`),
    groupProperty: (type, name) =>
      needed(
        groupProperties.get(groupPropertyKey(type, name)),
        `the property ${name} of groups of type ${type}`,
      ),
    event(row) {
      const seq = seqs[row] ?? 0;
      for (const { line, index } of log.scan({ since: seq - 1, until: seq })) return showEvent(line, index);
      return undefined;
    },
  };
}

/** @throws Error if the query did not name it in its needs */
function needed<T>(column: T | undefined, what: string): T {
  if (column === undefined) throw new Error(`a bug in phx-sim: a query reads ${what} without need`);
  return column;
}
