import type { Json } from "../../kernel/base/json.ts";
import type { TrafficLog } from "../../state/journal/log/traffic-log.ts";
import type { PersonStore } from "../../state/persons/person-store.ts";
import { createBudget, type Held } from "./budget.ts";
import { createEventRows, createPropertyColumn, type EventRows, type PropertyColumn } from "./event-rows.ts";
import { createJoinedColumn, createJoins, type JoinedColumn, type Joins, type PersonJoin } from "./joins.ts";
import { finish, unlessAborted } from "./steps.ts";
import type { Needs, Steps } from "./table.ts";
import { type ColumnSeries, columnKey, type GrowingSeries, groupKey, type TableData } from "./table-data.ts";

interface TablePorts {
  readonly log: TrafficLog;
  readonly people: PersonStore;
  /** Memory for columns, in bytes (default: 256 MB). */
  readonly budget?: number;
}

/** The events of projects as columns. They are made for the first query, and grow with the journal. */
export interface EventTables {
  /**
   * The kept events of a project: those that are in the journal now, and perhaps later ones.
   * @throws SimError if a needed column takes too much memory; the signal's reason once it is aborted
   */
  tableFor(project: number, needs: Needs, signal?: AbortSignal): Promise<TableData>;
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
  ): Promise<TableData | undefined> {
    while (projects.get(project) === held) {
      for (const { refusal } of wanted.used) if (refusal) throw refusal;
      if (isReady(held.content, wanted, until)) return dataOf(held.content, wanted);
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

const mapOf = <T>(names: readonly string[], make: (name: string) => T): Map<string, T> =>
  new Map([...new Set(names)].map((name) => [name, make(name)]));

const personJoins = (columns: ReadonlyMap<string, Held<JoinedColumn>>): PersonJoin[] =>
  [...columns].map(([name, { content }]) => ({ name, column: content }));

/** The rows whose lines are held, as they are now. */
function dataOf({ rows, joins }: ProjectColumns, wanted: Wanted): TableData {
  const { nameTexts, idTexts, personTexts } = rows;
  const series = <Values extends GrowingSeries["values"]>(of: object, part: string, values: Values) => ({
    ...{ of, part, values },
  });
  const valuesOf = (values: readonly (Json | undefined)[]) => series(values, "values", values);
  const texts = (part: string, codes: Uint32Array, values: readonly string[]) => ({
    codes: series(rows, part, codes),
    values: valuesOf(values),
  });
  const columns = new Map<string, ColumnSeries>([
    [columnKey.names, texts("names", rows.names, nameTexts.values)],
    [columnKey.distinctIds, texts("ids", rows.ids, idTexts.values)],
  ]);
  if (wanted.needsPersons)
    columns.set(columnKey.persons, {
      codes: series(joins.version, "persons", joins.persons),
      values: valuesOf(personTexts.values),
    });
  for (const [name, { content }] of wanted.properties)
    columns.set(columnKey.property(name), {
      codes: series(content, "codes", content.codes),
      values: valuesOf(content.distinct.values),
    });
  const joined = (key: string, { content }: Held<JoinedColumn>) =>
    columns.set(key, { codes: series(content.version, "codes", content.codes), values: valuesOf(content.values) });
  for (const [name, it] of wanted.personProperties) joined(columnKey.personProperty(name), it);
  for (const { type, name, column } of wanted.groupProperties) joined(columnKey.groupProperty(type, name), column);
  return {
    from: rows.firstHeld(),
    end: rows.length,
    times: series(rows, "times", rows.times),
    seqs: series(rows, "seqs", rows.seqs),
    columns,
  };
}
