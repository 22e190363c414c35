import type { QueryContext, QueryKind, QueryProject } from "../kind.ts";
import type { EventTable, NameColumn, Needs, ValueColumn } from "../table.ts";

const noCodes = new Uint32Array(0);
const emptyColumn: ValueColumn = { codes: noCodes, values: [undefined] };
const emptyNames: NameColumn = { codes: noCodes, values: [""] };

/**
 * The columns that a query reads: it runs on a table without events, which takes note of them. A query must ask for
 * its columns whatever the events are.
 * @throws SimError as the query does
 */
function recordedNeeds<Query>(run: QueryKind<Query>["run"], query: Query, project: QueryProject): Needs {
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
  const context: QueryContext = { ...project, table };
  const steps = run(query, context);
  while (!steps.next().done);
  return {
    persons,
    properties: [...properties],
    personProperties: [...personProperties],
    groups: [...groups],
    groupProperties: [...groupProperties.values()],
  };
}

/** A kind whose needs are recorded. */
export const queryKind = <Query>(kind: Omit<QueryKind<Query>, "needs">): QueryKind<Query> => ({
  ...kind,
  needs: (query, project) => recordedNeeds(kind.run, query, project),
});
