import { isDeepStrictEqual } from "node:util";
import { isObject, type Json, type JsonObject, own } from "../../kernel/base/json.ts";
import type { ChangeSource, PropertyChange, PropertyHistory } from "./shapes.ts";

function sourceOf(property: string, event: JsonObject): ChangeSource {
  const { $set, $set_once, $group_set } = event;
  if (isObject($set) && Object.hasOwn($set, property)) return "$set";
  if (isObject($set_once) && Object.hasOwn($set_once, property)) return "$set_once";
  return isObject($group_set) && Object.hasOwn($group_set, property) ? "$group_set" : "merge";
}

const isSame = (a: Json | undefined, b: Json | undefined): boolean => a === b || isDeepStrictEqual(a, b);

/** The service's own property of a person: it is no change that an event makes. */
const creator = "$creator_event_uuid";

/** The differences between the properties before and after an event, by name. */
export function changesBetween(before: JsonObject, after: JsonObject, event: JsonObject): PropertyChange[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  return names.flatMap((property): PropertyChange[] => {
    const [from, to] = [own(before, property), own(after, property)];
    if (property === creator || isSame(from, to)) return [];
    const by = to === undefined ? "$unset" : sourceOf(property, event);
    return [{ property, by, ...(from !== undefined && { from }), ...(to !== undefined && { to }) }];
  });
}

const valuesKept = 20;

export interface Changed {
  readonly event: { readonly seq: number; readonly timestamp: string };
  readonly changes: readonly PropertyChange[];
  readonly merged?: JsonObject | undefined;
}

/** The values of each property over time, by name. @param steps Oldest first */
export function historiesOf(steps: readonly Changed[]): PropertyHistory[] {
  const histories = new Map<string, PropertyHistory["values"]>();
  function note({ seq, timestamp }: Changed["event"], property: string, by: ChangeSource, to: Json | undefined): void {
    const values = histories.get(property) ?? [];
    histories.set(property, values);
    const last = values.at(-1);
    if (last && isSame(last.value, to)) return;
    values.push({ seq, timestamp, by, ...(to === undefined ? { gone: true } : { value: to }) });
  }
  for (const { event, changes, merged } of steps) {
    for (const { property, by, to } of changes) note(event, property, by, to);
    if (!merged) continue;
    // before the merge each person had values of its own
    for (const property of histories.keys()) note(event, property, "merge", own(merged, property));
  }
  return [...histories]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([property, values]) => ({
      property,
      values: values.slice(-valuesKept).reverse(),
      left_out: Math.max(0, values.length - valuesKept),
    }));
}
