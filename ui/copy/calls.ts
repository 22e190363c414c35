import { isObject, type Json, type JsonObject, own } from "../../src/kernel/json.ts";
import type { StoredEvent } from "../../src/model/stored-event.ts";
import type { Written } from "./quote.ts";
import { meantProperties } from "./subject.ts";

export type Sdk = "js" | "node" | "python";

/** A call of an SDK. */
export interface SdkCall {
  readonly name: string;
  /** What it is given: by place in the browser's SDK, by name in the others. */
  readonly args: readonly (readonly [name: string, value: Written | undefined])[];
  /** The event's own properties that the call has no place for. */
  readonly leavesOut: readonly string[];
}

/** The property that an argument is, or those that stand in it under their names. */
type Source = string | readonly string[];

interface CallRow {
  readonly event: string;
  readonly name: string;
  /** Its arguments, in their order. */
  readonly takes: Readonly<Record<string, Source>>;
}

const person = ["$set", "$set_once", "$anon_distinct_id"];

/**
 * The SDKs' own words for what they do to persons and groups.
 * Measured with posthog-js 1.449, posthog-node 5.70 and posthog 7.53 (Python).
 */
const callRows: Readonly<Record<Sdk, readonly CallRow[]>> = {
  js: [
    { event: "$identify", name: "identify", takes: { id: "distinct_id", set: "$set", once: "$set_once" } },
    { event: "$set", name: "setPersonProperties", takes: { set: "$set", once: "$set_once" } },
    {
      event: "$groupidentify",
      name: "group",
      takes: { type: "$group_type", key: "$group_key", set: "$group_set" },
    },
    { event: "$create_alias", name: "alias", takes: { alias: "alias", original: "distinct_id" } },
  ],
  node: [
    { event: "$identify", name: "identify", takes: { distinctId: "distinct_id", properties: person } },
    {
      event: "$set",
      name: "setPersonProperties",
      takes: { distinctId: "distinct_id", properties: "$set", propertiesOnce: "$set_once" },
    },
    {
      event: "$groupidentify",
      name: "groupIdentify",
      takes: {
        groupType: "$group_type",
        groupKey: "$group_key",
        properties: "$group_set",
        distinctId: "distinct_id",
      },
    },
    { event: "$create_alias", name: "alias", takes: { distinctId: "distinct_id", alias: "alias" } },
  ],
  // it has no identify() since version 6
  python: [
    { event: "$set", name: "set", takes: { distinct_id: "distinct_id", properties: "$set" } },
    { event: "$set_once", name: "set_once", takes: { distinct_id: "distinct_id", properties: "$set_once" } },
    {
      event: "$groupidentify",
      name: "group_identify",
      takes: {
        group_type: "$group_type",
        group_key: "$group_key",
        properties: "$group_set",
        distinct_id: "distinct_id",
      },
    },
    { event: "$create_alias", name: "alias", takes: { previous_id: "distinct_id", distinct_id: "alias" } },
  ],
};

/** By name: the order has changed between the Python SDK's versions. */
const namedArgs =
  (id: string) =>
  (event: StoredEvent): SdkCall["args"] => [
    [id, event.distinct_id],
    ["event", event.event],
    ["properties", sentWith(event)],
  ];

/** How each SDK captures what it has no word for. */
const captureArgs: Readonly<Record<Sdk, (event: StoredEvent) => SdkCall["args"]>> = {
  js: (event) => [
    ["event", event.event],
    ["properties", sentWith(event)],
  ],
  node: namedArgs("distinctId"),
  python: namedArgs("distinct_id"),
};

/** The id of before an `$identify`; undefined where it tells none. */
export function idBefore({ event, properties }: StoredEvent): string | undefined {
  const id = event === "$identify" ? own(properties, "$anon_distinct_id") : undefined;
  return typeof id === "string" && id !== "" ? id : undefined;
}

/** What was meant, and what tells whom an `$identify` is about. */
function sentWith(event: StoredEvent): JsonObject {
  const before = idBefore(event);
  return { ...meantProperties(event), ...(before !== undefined && { $anon_distinct_id: before }) };
}

type Given = ReadonlyMap<string, Json>;

const isText = (value: Json | undefined): boolean => typeof value === "string" && value !== "";
const isObjectOrNone = (value: Json | undefined): boolean => value === undefined || isObject(value);

/** What the calls take nothing else for. */
const shapes: ReadonlyMap<string, (value: Json | undefined) => boolean> = new Map([
  ["distinct_id", isText],
  ["alias", isText],
  ["$group_type", isText],
  ["$group_key", isText],
  ["$group_set", isObjectOrNone],
]);

/** What changes a person must have a place in the call. */
const changes = ["$set", "$set_once", "$unset"];

/** Does the call send what was sent? One that sets nothing sends nothing. */
function isFor(row: CallRow, event: StoredEvent, given: Given): boolean {
  const taken = Object.values(row.takes).flat();
  return (
    row.event === event.event &&
    taken.every((it) => shapes.get(it)?.(given.get(it)) ?? true) &&
    changes.every((it) => taken.includes(it) || !given.has(it)) &&
    (!changes.includes(row.event) || changes.some((it) => given.has(it)))
  );
}

function argument(from: Source, given: Given): Written | undefined {
  if (typeof from === "string") return given.get(from);
  const parts = from.flatMap((it): [string, Json][] => {
    const value = given.get(it);
    return value === undefined ? [] : [[it, value]];
  });
  return parts.length === 0 ? undefined : new Map(parts);
}

function inWords({ name, takes }: CallRow, given: Given): SdkCall {
  const taken = new Set(Object.values(takes).flat());
  return {
    name,
    args: Object.entries(takes).map(([it, from]) => [it, argument(from, given)]),
    leavesOut: [...given.keys()].filter(
      (it) => !it.startsWith("$") && it !== "distinct_id" && !taken.has(it),
    ),
  };
}

/** The call that sends the event: in the SDK's own word for it where there is one, else `capture()`. */
export function callFor(sdk: Sdk, event: StoredEvent): SdkCall {
  const given: Given = new Map([...Object.entries(sentWith(event)), ["distinct_id", event.distinct_id]]);
  const row = callRows[sdk].find((it) => isFor(it, event, given));
  return row ? inWords(row, given) : { name: "capture", args: captureArgs[sdk](event), leavesOut: [] };
}
