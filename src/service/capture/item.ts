import type { Json, JsonObject } from "../../kernel/base/json.ts";
import type { DropReason, Warning } from "../../state/journal/drop-reasons.ts";
import { noProperties } from "../../state/journal/items.ts";
import type { GeoPlace } from "../../state/journal/places.ts";

/** One item of a request, read. It is its own index key (`EventKey`), so that keeping one costs nothing. */
export class Item {
  event = "";
  distinct_id = "";
  /** As sent, in its usual spelling; null when there was none. */
  uuid: string | null = null;
  /** ms since the epoch */
  time: number;
  properties: JsonObject = noProperties;
  /** The item's top-level `$set` and `$set_once`: they win over those in the properties. */
  set: JsonObject | undefined = undefined;
  setOnce: JsonObject | undefined = undefined;
  /** The value of `$process_person_profile`, wherever it stood. */
  processPerson: Json | undefined = undefined;
  place: GeoPlace | undefined = undefined;
  warnings: Warning[] | undefined = undefined;
  /** A placeholder id (capture v1): its events are kept without a person. */
  placeholder = false;
  /** The sender knows no id of the visitor: `$cookieless_mode`, wherever it stood. */
  isCookieless = false;
  /** True if the sent id is not the stored one. */
  hasOwnId = false;
  /** What the service adds to the properties, and names of those that it does not keep. */
  adds: JsonObject | undefined = undefined;
  strips: readonly string[] | undefined = undefined;
  dropped: DropReason | undefined = undefined;
  detail: string | undefined = undefined;

  constructor(time: number) {
    this.time = time;
  }
}

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
