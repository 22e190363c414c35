import { isDeepStrictEqual } from "node:util";
import { isObject, type Json, type JsonObject, own } from "../../kernel/json.ts";
import type { PropertyChange } from "./show.ts";

type By = PropertyChange["by"];

/** Which field of the event speaks of the property; a property of neither came with a merge. */
function sourceOf(property: string, event: JsonObject): By {
  const { $set, $set_once, $group_set } = event;
  if (isObject($set) && Object.hasOwn($set, property)) return "$set";
  if (isObject($set_once) && Object.hasOwn($set_once, property)) return "$set_once";
  return isObject($group_set) && Object.hasOwn($group_set, property) ? "$group_set" : "merge";
}

const isSame = (a: Json | undefined, b: Json | undefined): boolean => a === b || isDeepStrictEqual(a, b);

/** What is different between the properties before an event and after it, by name. */
export function changesBetween(before: JsonObject, after: JsonObject, event: JsonObject): PropertyChange[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  return names.flatMap((property): PropertyChange[] => {
    const [from, to] = [own(before, property), own(after, property)];
    if (isSame(from, to)) return [];
    const by = to === undefined ? "$unset" : sourceOf(property, event);
    return [{ property, by, ...(from !== undefined && { from }), ...(to !== undefined && { to }) }];
  });
}

/** A value that a property had from an event on; `gone` instead of a value: it was taken away. */
interface PropertyValue {
  readonly seq: number;
  readonly timestamp: string;
  readonly by: By;
  readonly value?: Json;
  readonly gone?: true;
}

/** The values of one property over time. */
export interface PropertyHistory {
  readonly property: string;
  /** Newest first, at most `valuesKept`. */
  readonly values: readonly PropertyValue[];
  /** How many older ones are left out. */
  readonly left_out: number;
}

const valuesKept = 20;

/** An event with what it changed, oldest first. */
export interface Changed {
  readonly event: { readonly seq: number; readonly timestamp: string };
  readonly changes: readonly PropertyChange[];
  /** What the one has of both, where two became one. */
  readonly merged?: JsonObject | undefined;
}

/** The values that each property had over time, by name. */
export function historiesOf(steps: readonly Changed[]): PropertyHistory[] {
  const histories = new Map<string, PropertyValue[]>();
  function note({ seq, timestamp }: Changed["event"], property: string, by: By, to: Json | undefined): void {
    const values = histories.get(property) ?? [];
    histories.set(property, values);
    const last = values.at(-1);
    if (last && isSame(last.value, to)) return;
    values.push({ seq, timestamp, by, ...(to === undefined ? { gone: true } : { value: to }) });
  }
  for (const { event, changes, merged } of steps) {
    for (const { property, by, to } of changes) note(event, property, by, to);
    if (!merged) continue;
    // Until then each of both had values of its own.
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
