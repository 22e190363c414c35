import type { Json } from "../../kernel/base/json.ts";
import type { StoredEvent } from "../../state/journal/event.ts";
import type { EventTable, NameColumn, ValueColumn } from "./table.ts";

export type SeriesValues = Float64Array | Uint32Array | readonly (Json | undefined)[];

/** Values that only grow. */
export interface GrowingSeries<Values extends SeriesValues = SeriesValues> {
  /** Another object once values that were there have changed. */
  readonly of: object;
  /** Name of the series among those of one object. */
  readonly part: string;
  /** May be longer than the table. */
  readonly values: Values;
}

/** A column as series: the codes of its rows, and the value of each code. */
export interface ColumnSeries {
  readonly codes: GrowingSeries<Uint32Array>;
  readonly values: GrowingSeries<readonly (Json | undefined)[]>;
}

/** The columns of a table, by `columnKey`. Its rows are those from `from` to `end` of the series. */
export interface TableData {
  readonly from: number;
  readonly end: number;
  readonly times: GrowingSeries<Float64Array>;
  readonly seqs: GrowingSeries<Float64Array>;
  readonly columns: ReadonlyMap<string, ColumnSeries>;
}

/** The property that has the key of an event's group. */
export const groupKey = (type: number): string => `$group_${type}`;

/** Keys of columns. */
export const columnKey = {
  names: "names",
  distinctIds: "distinct ids",
  persons: "persons",
  property: (name: string): string => `the property ${name}`,
  personProperty: (name: string): string => `the person property ${name}`,
  group: (type: number): string => columnKey.property(groupKey(type)),
  groupProperty: (type: number, name: string): string => `the property ${name} of groups of type ${type}`,
} as const;

/** @param eventAt Reads the whole event of a row; undefined if its line was evicted. */
export function tableFrom(
  { from, end, times, seqs, columns }: TableData,
  eventAt: (row: number) => StoredEvent | undefined,
): EventTable {
  /** @throws Error if the query did not name it in its needs */
  function column(key: string): ValueColumn {
    const found = columns.get(key);
    if (!found) throw new Error(`a bug in phx-sim: a query reads ${key} without need`);
    return { codes: found.codes.values.subarray(from, end), values: found.values.values };
  }
  // the values of these are texts
  const names = (key: string) => column(key) as NameColumn;
  return {
    length: end - from,
    times: times.values.subarray(from, end),
    seqs: seqs.values.subarray(from, end),
    names: names(columnKey.names),
    distinctIds: names(columnKey.distinctIds),
    get persons() {
      return names(columnKey.persons);
    },
    property: (name) => column(columnKey.property(name)),
    personProperty: (name) => column(columnKey.personProperty(name)),
    group: (type) => column(columnKey.group(type)),
    groupProperty: (type, name) => column(columnKey.groupProperty(type, name)),
    event: eventAt,
  };
}
