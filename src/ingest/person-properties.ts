import { isDeepStrictEqual } from "node:util";
import { isObject, type Json, type JsonObject } from "../base/json.ts";
import { personProperties } from "../journal/person-fields.ts";
import type { Item } from "./item.ts";

/** Events that change no person. */
const withoutEffect: ReadonlySet<string> = new Set(["$exception", "$$heatmap", "$groupidentify"]);

/** What an event wants changed in a person's properties. */
export interface Patch {
  set: JsonObject;
  setOnce: JsonObject;
  unset: readonly string[];
}

/** What the service keeps of an event for its person. */
const personFields = ["$set", "$set_once", "$unset"] as const;

/** Which of the fields for a person the event would be stored with; events that change none go without. */
export function personFieldsOf(item: Item): string[] {
  const { set, setOnce } = personProperties(item);
  const made: JsonObject = { ...(set && { $set: set }), ...(setOnce && { $set_once: setOnce }) };
  return personFields.filter((name) => made[name] !== undefined || item.properties[name] !== undefined);
}

function unsetNames(value: Json | undefined): readonly string[] {
  if (Array.isArray(value)) return value.filter((name) => typeof name === "string");
  return isObject(value) ? Object.keys(value) : [];
}

const nothing: JsonObject = Object.freeze({});

/** What the event changes in its person; undefined when it changes nothing. */
export function patchOf(item: Item): Patch | undefined {
  if (withoutEffect.has(item.event)) return undefined;
  const { set, setOnce } = personProperties(item);
  const unset = item.properties.$unset === undefined ? [] : unsetNames(item.properties.$unset);
  if (set === undefined && setOnce === undefined && unset.length === 0) return undefined;
  return { set: set ?? nothing, setOnce: setOnce ?? nothing, unset };
}

const isSame = (a: Json | undefined, b: Json | undefined): boolean =>
  a === b || (typeof a === "object" && typeof b === "object" && isDeepStrictEqual(a, b));

function changes(properties: JsonObject, { set, setOnce, unset }: Patch): boolean {
  for (const name in set) {
    if (!Object.hasOwn(properties, name) || !isSame(properties[name], set[name])) return true;
  }
  for (const name in setOnce) if (!Object.hasOwn(properties, name)) return true;
  return unset.some((name) => Object.hasOwn(properties, name));
}

/** The properties after the patch: the very same object when nothing changes. */
export function patched(properties: JsonObject, patch: Patch | undefined): JsonObject {
  if (patch === undefined || !changes(properties, patch)) return properties;
  const next = { ...patch.setOnce, ...properties, ...patch.set };
  for (const name of patch.unset) delete next[name];
  return next;
}
