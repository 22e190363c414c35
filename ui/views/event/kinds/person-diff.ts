import { isObject, type Json, type JsonObject, own } from "../../../../src/kernel/base/json.ts";
import { isEqual } from "../../../../src/kernel/base/json-differences.ts";
import type { GroupStep, PersonStep, TimelineEntry } from "../../../../src/lab/person-history/shapes.ts";
import type { StoredEvent } from "../../../../src/state/journal/stored-event.ts";
import { isCopy } from "../../../copy/subject.ts";

type Changes = PersonStep["changes"];

/** `±` changed, `+` new, `−` removed, `=` as before, `?` the state before is not known. */
export type Sign = "±" | "+" | "−" | "=" | "?";

const order: readonly Sign[] = ["±", "+", "−", "=", "?"];

/** What became of a property. */
export interface DiffRow {
  readonly sign: Sign;
  readonly name: string;
  readonly by: string;
  readonly from: Json | undefined;
  readonly to: Json | undefined;
  /** The value of the event, where the property has another one. */
  readonly sent: Json | undefined;
}

/** A property of the event that may change one of the person. */
interface Intent {
  readonly by: "$set" | "$set_once" | "$unset" | "$group_set";
  readonly name: string;
  readonly value: Json | undefined;
}

const valuesOf = (properties: JsonObject, by: Exclude<Intent["by"], "$unset">): Intent[] => {
  const values = own(properties, by);
  return isObject(values) ? Object.entries(values).map(([name, value]) => ({ by, name, value })) : [];
};

function intentsOf(properties: JsonObject): Intent[] {
  const unset = own(properties, "$unset");
  const names = Array.isArray(unset) ? unset : isObject(unset) ? Object.keys(unset) : [];
  return [
    ...valuesOf(properties, "$set"),
    ...valuesOf(properties, "$set_once"),
    ...names.flatMap((name) => (typeof name === "string" ? [{ by: "$unset" as const, name, value: undefined }] : [])),
  ];
}

const signOf = ({ from, to }: Pick<Changes[number], "from" | "to">): Sign =>
  from === undefined ? "+" : to === undefined ? "−" : "±";

function diffOf(intents: readonly Intent[], changes: Changes | undefined, after: JsonObject | undefined): DiffRow[] {
  if (changes === undefined)
    return intents.map(({ by, name, value }) => ({
      ...{ sign: "?" as const, name, by, from: undefined },
      ...{ to: value, sent: undefined },
    }));
  const changed = new Set(changes.map(({ property }) => property));
  const same = intents.filter(({ name }) => !changed.has(name));
  const rows: DiffRow[] = [
    ...changes.map((it) => ({
      ...{ sign: signOf(it), name: it.property, by: it.by, from: it.from, to: it.to },
      sent: undefined,
    })),
    ...same.map(({ by, name, value }) => {
      const to = after && own(after, name);
      const isOther = value !== undefined && to !== undefined && !isEqual(value, to);
      return { sign: "=" as const, name, by, from: to, to, sent: isOther ? value : undefined };
    }),
  ];
  return rows.sort((a, b) => order.indexOf(a.sign) - order.indexOf(b.sign));
}

export interface PersonDiffData {
  /** Changes that the app asked for. */
  readonly meant: readonly DiffRow[];
  /** Properties that the service copies from the event by itself. */
  readonly copied: readonly DiffRow[];
  /** Properties of the person that did not change; undefined if not known. */
  readonly others: number | undefined;
}

/** What an event changed; without an entry of the timeline, only what it was to change. */
export function personDiff(event: StoredEvent, entry: TimelineEntry | undefined): PersonDiffData {
  const isKnown = entry?.is_known === true;
  const changes = isKnown ? (entry.step?.changes ?? []) : undefined;
  const after = (isKnown && entry.after?.properties) || undefined;
  const rows = diffOf(intentsOf(event.properties), changes, after);
  const changed = rows.filter(({ sign }) => sign === "±" || sign === "+").length;
  return {
    meant: rows.filter(({ name }) => !isCopy(name)),
    copied: rows.filter(({ name }) => isCopy(name)),
    others: after && Math.max(0, Object.keys(after).length - changed),
  };
}

/** What a `$groupidentify` changed; without its step, only what it was to change. */
export function groupDiff(event: StoredEvent, step: GroupStep | undefined): DiffRow[] {
  return diffOf(valuesOf(event.properties, "$group_set"), step?.changes, step?.after);
}
