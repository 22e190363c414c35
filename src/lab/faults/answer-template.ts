import { isObject, type Json, own } from "../../kernel/base/json.ts";

/** As a key of an object in a body: an entry for each uuid that was received, all with its value. */
const eachUuid = "$each_uuid";

/** Does a body ask for the uuids that were received? */
export function isTemplate(body: Json): boolean {
  if (Array.isArray(body)) return body.some(isTemplate);
  if (!isObject(body)) return false;
  return Object.hasOwn(body, eachUuid) || Object.values(body).some(isTemplate);
}

export function filled(body: Json, uuids: readonly (string | undefined)[]): Json {
  if (Array.isArray(body)) return body.map((it) => filled(it, uuids));
  if (!isObject(body)) return body;
  const entries = Object.entries(body).flatMap(([key, value]): [string, Json][] => {
    const inner = filled(value, uuids);
    return key === eachUuid ? uuids.flatMap((uuid) => (uuid === undefined ? [] : [[uuid, inner]])) : [[key, inner]];
  });
  return Object.fromEntries(entries);
}

/** The events of a body: its batch, a list, or the only one. */
function eventsOf(body: Json): readonly Json[] {
  if (Array.isArray(body)) return body;
  if (!isObject(body)) return [];
  const batch = own(body, "batch");
  return Array.isArray(batch) ? batch : [body];
}

function read(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** The uuid of each event in a request's decoded body, in their order; none where the body has no JSON. */
export function uuidsIn(text: string | undefined): (string | undefined)[] {
  if (text === undefined) return [];
  return eventsOf(read(text)).map((it) => {
    const uuid = isObject(it) ? own(it, "uuid") : undefined;
    return typeof uuid === "string" ? uuid : undefined;
  });
}
