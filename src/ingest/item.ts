import { isObject, type Json, type JsonObject } from "../base/json.ts";
import type { DropReason, Warning } from "../journal/outcome.ts";
import type { Place } from "../journal/places.ts";

/**
 * One item of a request, read: what the rest of the pipeline needs of it. It is its own index key
 * (`EventKey`), so that keeping one costs nothing.
 */
export interface Item {
  event: string;
  distinct_id: string;
  /** As sent, in its usual spelling; null when there was none. */
  uuid: string | null;
  /** ms since the epoch */
  time: number;
  properties: JsonObject;
  /** The item's top-level `$set` and `$set_once`: they win over those in the properties. */
  set: JsonObject | undefined;
  setOnce: JsonObject | undefined;
  /** The value of `$process_person_profile`, wherever it stood. */
  processPerson: Json | undefined;
  /** Where the item's address is, once that has been looked up. */
  place: Place | undefined;
  warnings: Warning[] | undefined;
  /** A placeholder id (capture v1): its events are kept without a person. */
  placeholder: boolean;
  dropped: DropReason | undefined;
  detail: string | undefined;
}

export const noProperties: JsonObject = Object.freeze({});

/** The value if it is an object. */
export const objectOf = (value: Json | undefined): JsonObject | undefined =>
  isObject(value) ? value : undefined;

/** An item of which nothing is known yet. */
export const unreadItem = (time: number): Item => ({
  event: "",
  distinct_id: "",
  uuid: null,
  time,
  properties: noProperties,
  set: undefined,
  setOnce: undefined,
  processPerson: undefined,
  place: undefined,
  warnings: undefined,
  placeholder: false,
  dropped: undefined,
  detail: undefined,
});

/** The service's limit for names and distinct ids, in characters. */
export const maxName = 200;

/** The text's first 200 characters. A character outside the BMP counts once, as in the service. */
export const cut = (text: string): string => [...text].slice(0, maxName).join("");

/** Is it longer than 200 characters? */
export const isTooLong = (text: string): boolean => text.length > maxName && [...text].length > maxName;

/** A printable ASCII character in front settles it for nearly every id. */
function isBlank(text: string): boolean {
  const first = text.charCodeAt(0);
  return !(first > 0x20 && first < 0x7f) && text.trim() === "";
}

/**
 * A distinct id as the service reads it: text as is, anything else as its JSON text, NUL replaced.
 * undefined when it is missing or blank. Upstream common/types event.rs.
 */
export function distinctIdText(value: Json | undefined): string | undefined {
  if (value === undefined || value === null) return undefined;
  const text = typeof value === "string" ? value : JSON.stringify(value);
  if (isBlank(text)) return undefined;
  return text.includes("\0") ? text.replaceAll("\0", "\ufffd") : text;
}

const usual = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const other =
  /^(?:urn:uuid:)?\{?([0-9a-f]{8})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{12})\}?$/i;

/** A UUID in its usual spelling, whichever it was sent in; undefined when it is none. */
export function uuidText(text: string): string | undefined {
  if (usual.test(text)) return text;
  return other.exec(text)?.slice(1).join("-").toLowerCase();
}

/** Adds a warning to an item or to an event's facts. */
export function warn(item: { warnings?: Warning[] | undefined }, warning: Warning): void {
  item.warnings = [...(item.warnings ?? []), warning];
}
