import { isObject, type Json, own } from "../../../src/kernel/json.ts";

const keyNames = ["api_key", "token", "$token"] as const;

const textIn = (value: Json | undefined, names: readonly string[]): string | undefined => {
  if (!isObject(value)) return undefined;
  return names.map((name) => own(value, name)).find((it): it is string => typeof it === "string");
};

/** The project key that came in a body: beside the events, or in the first of them. */
export function keyIn(body: Json | undefined): string | undefined {
  const first = Array.isArray(body) ? body[0] : body;
  if (!isObject(first)) return undefined;
  const batch = own(first, "batch");
  const inBatch = Array.isArray(batch) ? batch[0] : undefined;
  return [first, own(first, "properties"), inBatch]
    .map((it) => textIn(it, keyNames))
    .find((it) => it !== undefined);
}
