import { isObject, type Json, type JsonObject } from "../kernel/json.ts";

const spellings: ReadonlyMap<string, boolean> = new Map([
  ["true", true],
  ["1", true],
  ["false", false],
  ["0", false],
]);

/** A boolean in any of the spellings that v1 takes. */
function toBoolean(value: Json): boolean | undefined {
  if (typeof value === "boolean") return value;
  if (typeof value === "number") return value !== 0;
  return typeof value === "string" ? spellings.get(value.trim().toLowerCase()) : undefined;
}

function toText(value: Json): string | undefined {
  if (typeof value === "string") return value;
  return typeof value === "number" && Number.isInteger(value) ? String(value) : undefined;
}

/** option → the property it becomes, and how its value is read. Upstream capture, v1/analytics/types.rs. */
const options: readonly { name: string; property: string; read: (value: Json) => Json | undefined }[] = [
  { name: "cookieless_mode", property: "$cookieless_mode", read: toBoolean },
  { name: "disable_skew_correction", property: "$ignore_sent_at", read: toBoolean },
  { name: "product_tour_id", property: "$product_tour_id", read: toText },
  { name: "process_person_profile", property: "$process_person_profile", read: toBoolean },
];

/** The properties that `options` become; undefined when an option cannot be read. */
export function optionProperties(value: Json | undefined): JsonObject | undefined {
  if (value === undefined || value === null) return {};
  if (!isObject(value)) return undefined;
  const properties: JsonObject = {};
  for (const { name, property, read } of options) {
    const option = value[name];
    if (option === undefined || option === null) continue;
    const known = read(option);
    if (known === undefined) return undefined;
    properties[property] = known;
  }
  return properties;
}
