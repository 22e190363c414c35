import type { JsonObject } from "../../kernel/base/json.ts";
import { copiedProperties } from "./copied-properties.ts";
import { objectOf } from "./items.ts";
import { type GeoPlace, personPlace } from "./places.ts";

/** Not copied from events that a server sends: they describe the server. */
const serverOwn: ReadonlySet<string> = new Set(["$os", "$os_version"]);

interface Copies {
  set: JsonObject;
  setOnce: JsonObject;
}

function copiesOf(properties: JsonObject): Copies | undefined {
  let found: Copies | undefined;
  for (const name in properties) {
    const initial = copiedProperties.get(name);
    if (initial === undefined || (properties.$is_server === true && serverOwn.has(name))) continue;
    const value = properties[name] ?? null;
    found ??= { set: {}, setOnce: {} };
    found.set[name] = value;
    found.setOnce[initial] = value;
  }
  return found;
}

type Layer = JsonObject | undefined;

/** The upper layers win. A single layer is returned without a copy. */
function layered(lowest: Layer, middle: Layer, highest: Layer): Layer {
  if (lowest === undefined && middle === undefined) return highest;
  if (highest === undefined && (lowest === undefined || middle === undefined)) return lowest ?? middle;
  return { ...lowest, ...middle, ...highest };
}

interface PersonProperties {
  set: JsonObject | undefined;
  setOnce: JsonObject | undefined;
}

/** An event's `$set` and `$set_once` as stored: copies below, then the properties', then the item's own, then its place's. */
export function personProperties(
  item: PersonProperties & { readonly properties: JsonObject; readonly place: GeoPlace | undefined },
): PersonProperties {
  const { properties, place } = item;
  const copies = copiesOf(properties);
  const set = layered(copies?.set, objectOf(properties.$set), item.set);
  const setOnce = layered(copies?.setOnce, objectOf(properties.$set_once), item.setOnce);
  if (place === undefined) return { set, setOnce };
  const located = personPlace(place);
  return { set: { ...set, ...located.set }, setOnce: { ...setOnce, ...located.setOnce } };
}
