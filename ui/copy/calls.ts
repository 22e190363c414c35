import { isObject, type Json, type JsonObject, own } from "../../src/kernel/base/json.ts";
import type { StoredEvent } from "../../src/state/journal/stored-event.ts";
import type { Written } from "./quote.ts";
import { meantProperties } from "./subject.ts";

type Sdk = "js" | "node" | "python";

export interface SdkCall {
  readonly name: string;
  /** Arguments: positional in the browser's SDK, named in the others. */
  readonly args: readonly (readonly [name: string, value: Written | undefined])[];
  /** Properties of the event that the call cannot take. */
  readonly leavesOut: readonly string[];
}

/** The property that is the argument, or the properties that it contains. */
type Source = string | readonly string[];

/** The event that the method sends, its name, and its arguments. */
type CallRow = readonly [event: string, name: string, takes: Readonly<Record<string, Source>>];

const person = ["$set", "$set_once", "$anon_distinct_id"];
const id = "distinct_id";
const group = { key: "$group_key", type: "$group_type", set: "$group_set" } as const;

/**
 * Methods of the SDKs for persons and groups. Measured with posthog-js 1.449, posthog-node 5.70 and posthog 7.53
 * (Python).
 */
const callRows: Readonly<Record<Sdk, readonly CallRow[]>> = {
  js: [
    ["$identify", "identify", { id, set: "$set", once: "$set_once" }],
    ["$set", "setPersonProperties", { set: "$set", once: "$set_once" }],
    ["$groupidentify", "group", { type: group.type, key: group.key, set: group.set }],
    ["$create_alias", "alias", { alias: "alias", original: id }],
  ],
  node: [
    ["$identify", "identify", { distinctId: id, properties: person }],
    ["$set", "setPersonProperties", { distinctId: id, properties: "$set", propertiesOnce: "$set_once" }],
    [
      "$groupidentify",
      "groupIdentify",
      { groupType: group.type, groupKey: group.key, properties: group.set, distinctId: id },
    ],
    ["$create_alias", "alias", { distinctId: id, alias: "alias" }],
  ],
  python: [
    ["$set", "set", { distinct_id: id, properties: "$set" }],
    ["$set_once", "set_once", { distinct_id: id, properties: "$set_once" }],
    [
      "$groupidentify",
      "group_identify",
      { group_type: group.type, group_key: group.key, properties: group.set, distinct_id: id },
    ],
    ["$create_alias", "alias", { previous_id: id, distinct_id: "alias" }],
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
function isFor([sent, , takes]: CallRow, event: StoredEvent, given: Given): boolean {
  const taken = Object.values(takes).flat();
  return (
    sent === event.event &&
    taken.every((it) => shapes.get(it)?.(given.get(it)) ?? true) &&
    changes.every((it) => taken.includes(it) || !given.has(it)) &&
    (!changes.includes(sent) || changes.some((it) => given.has(it)))
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

function inWords([, name, takes]: CallRow, given: Given): SdkCall {
  const taken = new Set(Object.values(takes).flat());
  return {
    name,
    args: Object.entries(takes).map(([it, from]) => [it, argument(from, given)]),
    leavesOut: [...given.keys()].filter((it) => !it.startsWith("$") && it !== id && !taken.has(it)),
  };
}

/** The SDK's own method for the event, else `capture()`. */
export function callFor(sdk: Sdk, event: StoredEvent): SdkCall {
  const given: Given = new Map([...Object.entries(sentWith(event)), ["distinct_id", event.distinct_id]]);
  const row = callRows[sdk].find((it) => isFor(it, event, given));
  return row ? inWords(row, given) : { name: "capture", args: captureArgs[sdk](event), leavesOut: [] };
}
