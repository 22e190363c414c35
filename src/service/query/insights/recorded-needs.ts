import type { QueryContext, QueryKind, QueryProject } from "../kind.ts";
import type { EventTable, NameColumn, Needs, ValueColumn } from "../table.ts";

const noCodes = new Uint32Array(0);
const emptyColumn: ValueColumn = { codes: noCodes, values: [undefined] };
const emptyNames: NameColumn = { codes: noCodes, values: [""] };

/** A table without events, which takes note of the columns that are read. */
function recordingTable(): { readonly table: EventTable; needs(): Needs } {
  const properties = new Set<string>();
  const personProperties = new Set<string>();
  const groups = new Set<number>();
  const groupProperties = new Map<string, { group: number; name: string }>();
  let persons = false;
  const table: EventTable = {
    length: 0,
    times: new Float64Array(0),
    seqs: new Float64Array(0),
    names: emptyNames,
    distinctIds: emptyNames,
    get persons() {
      persons = true;
      return emptyNames;
    },
    property(name) {
      properties.add(name);
      return emptyColumn;
    },
    personProperty(name) {
      personProperties.add(name);
      return emptyColumn;
    },
    group(type) {
      groups.add(type);
      return emptyColumn;
    },
    groupProperty(group, name) {
      groupProperties.set(`${group} ${name}`, { group, name });
      return emptyColumn;
    },
    event: () => undefined,
  };
  return {
    table,
    needs: () => ({
      persons,
      properties: [...properties],
      personProperties: [...personProperties],
      groups: [...groups],
      groupProperties: [...groupProperties.values()],
    }),
  };
}

/**
 * The columns that a query reads: it runs on a table without events. A query must ask for its columns whatever the
 * events are.
 * @throws SimError as the query does
 */
function recordedNeeds<Query>(run: QueryKind<Query>["run"], query: Query, project: QueryProject): Needs {
  const { table, needs } = recordingTable();
  const steps = run(query, { ...project, table });
  while (!steps.next().done);
  return needs();
}

/** A kind whose needs are recorded. */
export const queryKind = <Query>(kind: Omit<QueryKind<Query>, "needs">): QueryKind<Query> => ({
  ...kind,
  needs: (query, project) => recordedNeeds(kind.run, query, project),
});

/** A kind that reads no events: it describes tables and queries. The service neither caches nor stamps its results. */
export const descriptiveKind = <Query>(
  kind: Pick<QueryKind<Query>, "kind" | "shape"> & {
    describe(query: Query, project: QueryContext): Record<string, unknown>;
  },
): QueryKind<Query> => ({
  kind: kind.kind,
  shape: kind.shape,
  isPlain: true,
  needs: () => ({}),
  // biome-ignore lint/correctness/useYield: there is nothing to wait for
  *run(query, context) {
    return kind.describe(query, { ...context, table: recordingTable().table });
  },
});
