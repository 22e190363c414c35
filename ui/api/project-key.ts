import { isObject, type Json, own } from "../../src/kernel/base/json.ts";

const keyNames = ["api_key", "token", "$token"] as const;

/** The project key in an item of a body, or in its properties. */
export function projectKeyIn(item: Json | undefined): string | undefined {
  if (!isObject(item)) return undefined;
  const found = keyNames.map((name) => own(item, name)).find((it) => typeof it === "string" && it !== "");
  return typeof found === "string" ? found : projectKeyIn(own(item, "properties"));
}

/** The first item of a batch, or of a body that is a list. */
export function firstItem(body: Json | undefined): Json | undefined {
  if (Array.isArray(body)) return body[0];
  const batch = isObject(body) ? own(body, "batch") : undefined;
  return Array.isArray(batch) ? batch[0] : undefined;
}
