import { isObject, type Json, type JsonObject, own } from "../../src/base/json.ts";
import type { StoredEvent } from "../../src/journal/stored-event.ts";
import type { Written } from "./quote.ts";
import { meantProperties } from "./subject.ts";

export type Sdk = "js" | "node" | "python";

export interface SdkCall {
  readonly name: string;
  /** Arguments: positional in the browser's SDK, named in the others. */
  readonly args: readonly (readonly [name: string, value: Written | undefined])[];
  /** Properties of the event that the call cannot take. */
  readonly leavesOut: readonly string[];
}

/** The property that is the argument, or the properties that it contains. */
type Source = string | readonly string[];

interface CallRow {
  readonly event: string;
  readonly name: string;
  readonly takes: Readonly<Record<string, Source>>;
}

const person = ["$set", "$set_once", "$anon_distinct_id"];

/**
 * Methods of the SDKs for persons and groups. Measured with posthog-js 1.449, posthog-node 5.70 and posthog 7.53
 * (Python).
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

/** Named arguments: their order differs between versions of the Python SDK. */
const namedArgs =
  (id: string) =>
  (event: StoredEvent): SdkCall["args"] => [
    [id, event.distinct_id],
    ["event", event.event],
    ["properties", sentWith(event)],
  ];

const captureArgs: Readonly<Record<Sdk, (event: StoredEvent) => SdkCall["args"]>> = {
  js: (event) => [
    ["event", event.event],
    ["properties", sentWith(event)],
  ],
  node: namedArgs("distinctId"),
  python: namedArgs("distinct_id"),
};

/** The anonymous id of an `$identify`. */
export function idBefore({ event, properties }: StoredEvent): string | undefined {
  const id = event === "$identify" ? own(properties, "$anon_distinct_id") : undefined;
  return typeof id === "string" && id !== "" ? id : undefined;
}

/** Intended properties, plus the anonymous id of an `$identify`. */
function sentWith(event: StoredEvent): JsonObject {
  const before = idBefore(event);
  return { ...meantProperties(event), ...(before !== undefined && { $anon_distinct_id: before }) };
}

type Given = ReadonlyMap<string, Json>;

const isText = (value: Json | undefined): boolean => typeof value === "string" && value !== "";
const isObjectOrNone = (value: Json | undefined): boolean => value === undefined || isObject(value);

const shapes: ReadonlyMap<string, (value: Json | undefined) => boolean> = new Map([
  ["distinct_id", isText],
  ["alias", isText],
  ["$group_type", isText],
  ["$group_key", isText],
  ["$group_set", isObjectOrNone],
]);

/** Properties that change a person: the call must take them. */
const changes = ["$set", "$set_once", "$unset"];

/** True if the call sends what the event sent. A call that sets nothing sends nothing. */
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

/** The SDK's own method for the event, else `capture()`. */
export function callFor(sdk: Sdk, event: StoredEvent): SdkCall {
  const given: Given = new Map([...Object.entries(sentWith(event)), ["distinct_id", event.distinct_id]]);
  const row = callRows[sdk].find((it) => isFor(it, event, given));
  return row ? inWords(row, given) : { name: "capture", args: captureArgs[sdk](event), leavesOut: [] };
}
