import { type Json, own } from "../base/json.ts";
import type { PeopleStore } from "../people/people-store.ts";
import { groupKeyText } from "../people/person.ts";
import type { EventRows, PropertyColumn } from "./event-rows.ts";
import { type Column, type NameColumn, rowsPerStep, type Steps } from "./table.ts";
import { type Distinct, distinctJson } from "./values.ts";

/** What is joined to a project's events: the persons and groups of now. */
export interface Joins {
  readonly persons: NameColumn;
  readonly personProperties: ReadonlyMap<string, Column>;
  /** By `groupPropertyName`. */
  readonly groupProperties: ReadonlyMap<string, Column>;
}

export interface GroupJoin {
  readonly type: number;
  readonly name: string;
  /** The keys of the events' groups. */
  readonly keys: PropertyColumn;
}

export const groupPropertyName = (type: number, name: string): string => `${type} ${name}`;

/** What is known of a project's persons, by the code of a distinct id or of a person. */
interface Known {
  readonly revision: number;
  /** Person of each distinct id; 0: none is stored. */
  owners: Uint32Array;
  ids: number;
}

/** Joins persons and groups to the events of a project. Persons are read again once people changed. */
export function createJoins(people: PeopleStore, project: number, rows: EventRows) {
  let known: Known | undefined;

  /** The code of the person that has each distinct id, and one property of each person for each name. */
  function* readOwners(): Steps<Uint32Array> {
    const { revision } = people;
    if (known?.revision !== revision) known = { revision, owners: new Uint32Array(0), ids: 0 };
    const ids = rows.idTexts.values;
    const owners = new Uint32Array(ids.length);
    owners.set(known.owners);
    for (let code = known.ids; code < owners.length; code++) {
      const person = people.personOf(project, ids[code] ?? "");
      if (person) owners[code] = rows.personTexts.codeOf(person.uuid);
      yield;
    }
    if (known.revision === people.revision) known = { revision, owners, ids: owners.length };
    return owners;
  }

  function* personsOf(owners: Uint32Array): Steps<Uint32Array> {
    const codes = new Uint32Array(rows.length);
    const { ids, persons } = rows;
    for (let row = 0; row < codes.length; row++) {
      codes[row] = owners[ids[row] ?? 0] || (persons[row] ?? 0);
      if (row % rowsPerStep === 0) yield;
    }
    return codes;
  }

  /** The values of a column by the codes of another. */
  function* mapped(
    codes: Uint32Array,
    count: number,
    valueAt: (code: number) => Json | undefined,
  ): Steps<Column> {
    const distinct: Distinct<Json | undefined> = distinctJson();
    const byCode = new Uint32Array(count);
    for (let code = 1; code < count; code++) {
      byCode[code] = distinct.codeOf(valueAt(code));
      yield;
    }
    const result = new Uint32Array(codes.length);
    for (let row = 0; row < codes.length; row++) {
      result[row] = byCode[codes[row] ?? 0] ?? 0;
      if (row % rowsPerStep === 0) yield;
    }
    return { codes: result, values: distinct.values };
  }

  return {
    *read(personNames: readonly string[], groups: readonly GroupJoin[]): Steps<Joins> {
      const owners = yield* readOwners();
      const codes = yield* personsOf(owners);
      const { values } = rows.personTexts;
      const persons: NameColumn = { codes, values };
      const personProperties = new Map<string, Column>();
      for (const name of personNames) {
        const valueAt = (code: number): Json | undefined => {
          const person = people.person(project, values[code] ?? "");
          return person && own(person.properties, name);
        };
        personProperties.set(name, yield* mapped(codes, values.length, valueAt));
      }
      const groupProperties = new Map<string, Column>();
      for (const { type, name, keys } of groups) {
        const valueAt = (code: number): Json | undefined => {
          const group = people.group(project, type, groupKeyText(keys.distinct.values[code]));
          return group && own(group.properties, name);
        };
        const column = yield* mapped(
          keys.codes.subarray(0, rows.length),
          keys.distinct.values.length,
          valueAt,
        );
        groupProperties.set(groupPropertyName(type, name), column);
      }
      return { persons, personProperties, groupProperties };
    },
  };
}
