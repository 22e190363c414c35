import { type Json, own } from "../../kernel/base/json.ts";
import type { StoredEvent } from "../../state/journal/event.ts";
import { groupKeyText } from "../../state/persons/person.ts";
import type { QueryGroup, QueryPerson } from "./kind.ts";
import type { EventTable, NameColumn, ValueColumn } from "./table.ts";

/** A kept event as queries read it. */
export interface QueryEvent {
  readonly seq: number;
  /** ms since the epoch */
  readonly time: number;
  readonly event: string;
  readonly distinct_id: string;
  /** Uuid of its person when it arrived; "" for none. */
  readonly person: string;
  property(name: string): Json | undefined;
  stored(): StoredEvent;
}

/** The kept events of a project in order of arrival, and its people as they are now. */
export interface ProjectEvents {
  readonly events: readonly QueryEvent[];
  /** Uuid of the person that has a distinct id now. */
  owner(distinctId: string): string | undefined;
  person(uuid: string): Pick<QueryPerson, "properties"> | undefined;
  group(type: number, key: string): Pick<QueryGroup, "properties"> | undefined;
}

/** The property that has the key of an event's group. */
const groupKey = (type: number): string => `$group_${type}`;

/** Objects and arrays are the same value if their texts are the same. */
function columnOf<T extends Json | undefined>(length: number, none: T, read: (row: number) => T) {
  const codes = new Uint32Array(length);
  const values: T[] = [none];
  const [plain, texts] = [new Map<T, number>([[none, 0]]), new Map<string, number>()];
  for (let row = 0; row < length; row++) {
    const value = read(row);
    const text = typeof value === "object" && value !== null ? JSON.stringify(value) : undefined;
    let code = text === undefined ? plain.get(value) : texts.get(text);
    if (code === undefined) {
      code = values.push(value) - 1;
      if (text === undefined) plain.set(value, code);
      else texts.set(text, code);
    }
    codes[row] = code;
  }
  return { codes, values };
}

/** The events of a project as columns, which are made when a query reads them. */
export function tableOf({ events, owner, person, group }: ProjectEvents): EventTable {
  const columns = new Map<string, ValueColumn>();
  const once = <C extends ValueColumn | NameColumn>(key: string, make: () => C): C => {
    const column = columns.get(key) ?? make();
    columns.set(key, column);
    // a key has columns of one type
    return column as C;
  };
  const texts = (key: string, read: (event: QueryEvent) => string): NameColumn =>
    once(key, () => columnOf(events.length, "", (row) => read(events[row] as QueryEvent)));
  const property = (name: string): ValueColumn =>
    once(`property ${name}`, () =>
      columnOf<Json | undefined>(events.length, undefined, (row) => events[row]?.property(name)),
    );
  /** A column made of another one, value by value. */
  const joined = (
    key: string,
    of: () => ValueColumn | NameColumn,
    read: (value: Json | undefined) => Json | undefined,
  ) =>
    once(key, (): ValueColumn => {
      const { codes, values } = of();
      const found = values.map(read);
      return columnOf<Json | undefined>(events.length, undefined, (row) => found[codes[row] ?? 0]);
    });
  const persons = () => texts("persons", (it) => owner(it.distinct_id) ?? it.person);
  return {
    length: events.length,
    times: Float64Array.from(events, (it) => it.time),
    seqs: Float64Array.from(events, (it) => it.seq),
    get names() {
      return texts("names", (it) => it.event);
    },
    get distinctIds() {
      return texts("distinct ids", (it) => it.distinct_id);
    },
    get persons() {
      return persons();
    },
    property,
    personProperty: (name) =>
      joined(`person property ${name}`, persons, (uuid) => own(person(String(uuid))?.properties ?? {}, name)),
    group: (type) => property(groupKey(type)),
    groupProperty: (type, name) =>
      joined(
        `group property ${type} ${name}`,
        () => property(groupKey(type)),
        (key) => own(group(type, groupKeyText(key))?.properties ?? {}, name),
      ),
    event: (row) => events[row]?.stored(),
  };
}
