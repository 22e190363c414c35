import type { Json, JsonObject } from "../../kernel/base/json.ts";
import type { DropReason, Warning } from "../../state/journal/drop-reasons.ts";
import { noProperties } from "../../state/journal/items.ts";
import type { GeoPlace } from "../../state/journal/places.ts";

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
  place: GeoPlace | undefined;
  warnings: Warning[] | undefined;
  /** A placeholder id (capture v1): its events are kept without a person. */
  placeholder: boolean;
  /** The sender knows no id of the visitor: `$cookieless_mode`, wherever it stood. */
  isCookieless: boolean;
  /** True if the sent id is not the stored one. */
  hasOwnId: boolean;
  /** What the service adds to the properties, and names of those that it does not keep. */
  adds: JsonObject | undefined;
  strips: readonly string[] | undefined;
  dropped: DropReason | undefined;
  detail: string | undefined;
}

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
  isCookieless: false,
  hasOwnId: false,
  adds: undefined,
  strips: undefined,
  dropped: undefined,
  detail: undefined,
});

const usual = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const other = /^(?:urn:uuid:)?\{?([0-9a-f]{8})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{12})\}?$/i;

/** A UUID in its usual spelling, whichever it was sent in; undefined when it is none. */
export function uuidText(text: string): string | undefined {
  if (usual.test(text)) return text;
  return other.exec(text)?.slice(1).join("-").toLowerCase();
}

export function warn(item: { warnings?: Warning[] | undefined }, warning: Warning): void {
  item.warnings = [...(item.warnings ?? []), warning];
}
