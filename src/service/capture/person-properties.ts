import { isDeepStrictEqual } from "node:util";
import { isObject, type Json, type JsonObject } from "../../kernel/base/json.ts";
import { personProperties } from "../../state/journal/person-fields.ts";
import type { Item } from "./item.ts";

const withoutEffect: ReadonlySet<string> = new Set(["$exception", "$$heatmap", "$groupidentify"]);

/** Events whose every property updates the person. Upstream person-update.ts. */
const personEvents: ReadonlySet<string> = new Set(["$identify", "$create_alias", "$merge_dangerously", "$set"]);

const campaign = "source medium campaign content name term".split(" ").map((name) => `utm_${name}`);
const places = [
  ..."postal_code time_zone latitude longitude accuracy_radius city_confidence country_confidence".split(" "),
  ..."postal_code_confidence subdivision_1_code subdivision_1_name subdivision_2_code".split(" "),
  ..."subdivision_2_name subdivision_3_code subdivision_3_name".split(" "),
  ..."subdivision_1_confidence subdivision_2_confidence".split(" "),
].map((name) => `$geoip_${name}`);

/** A new value of these alone is no reason to update a person. Upstream person-property-utils.ts, without campaigns. */
const noReason: ReadonlySet<string> = new Set([
  ..."$current_url $pathname $referring_domain $referrer $screen_height $screen_width $viewport_height".split(" "),
  ..."$viewport_width $browser $browser_version $device_type $raw_user_agent $os $os_name $os_version".split(" "),
  ...campaign,
  ...places,
]);

export interface Patch {
  set: JsonObject;
  setOnce: JsonObject;
  unset: readonly string[];
  /** True if each change updates the person, also of properties that change often. */
  isForced: boolean;
}

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

export function patchOf(item: Item): Patch | undefined {
  if (withoutEffect.has(item.event)) return undefined;
  const { set, setOnce } = personProperties(item);
  const unset = item.properties.$unset === undefined ? [] : unsetNames(item.properties.$unset);
  if (set === undefined && setOnce === undefined && unset.length === 0) return undefined;
  return {
    set: storable(set ?? nothing),
    setOnce: storable(setOnce ?? nothing),
    unset,
    isForced: personEvents.has(item.event),
  };
}

const nul = "\0";
const withoutNul = (text: string): string => (text.includes(nul) ? text.replaceAll(nul, "\ufffd") : text);

function storableValue(value: Json): Json {
  if (typeof value === "string") return withoutNul(value);
  if (Array.isArray(value)) return value.map(storableValue);
  return isObject(value) ? storable(value) : value;
}

/** Properties as the service's database can store them: without NUL. The same object if it has none. */
function storable(properties: JsonObject): JsonObject {
  if (!JSON.stringify(properties).includes("\\u0000")) return properties;
  return Object.fromEntries(
    Object.entries(properties).map(([name, value]) => [withoutNul(name), storableValue(value)]),
  );
}

const isSame = (a: Json | undefined, b: Json | undefined): boolean =>
  a === b || (typeof a === "object" && typeof b === "object" && isDeepStrictEqual(a, b));

/** A null that is stored counts as absent, so that a first value can be set later. */
const isUnset = (properties: JsonObject, name: string, value: Json | undefined): boolean =>
  !Object.hasOwn(properties, name) || (properties[name] === null && value !== null);

function changes(properties: JsonObject, { set, setOnce, unset, isForced }: Patch): boolean {
  for (const name in set) {
    const isNew = !Object.hasOwn(properties, name);
    if (isNew || ((isForced || !noReason.has(name)) && !isSame(properties[name], set[name]))) return true;
  }
  for (const name in setOnce)
    if (isUnset(properties, name, setOnce[name]) && (isForced || !noReason.has(name))) return true;
  return unset.some((name) => Object.hasOwn(properties, name));
}

/** The properties after the patch: the very same object when nothing changes. */
export function patched(properties: JsonObject, patch: Patch | undefined): JsonObject {
  if (patch === undefined || !changes(properties, patch)) return properties;
  const late = Object.entries(patch.setOnce).filter(([name]) => properties[name] === null);
  const next = { ...patch.setOnce, ...properties, ...Object.fromEntries(late), ...patch.set };
  for (const name of patch.unset) delete next[name];
  return next;
}

/** The properties of a person that an event creates, with the event's uuid. Upstream person-create-service.ts. */
export const firstProperties = (patch: Patch | undefined, event: string | null): JsonObject => ({
  ...patched({}, patch),
  ...(event !== null && { $creator_event_uuid: event }),
});

export const groupPatched = (properties: JsonObject, set: JsonObject): JsonObject =>
  patched(properties, { set: storable(set), setOnce: {}, unset: [], isForced: true });
