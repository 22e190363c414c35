import { isObject, type Json, type JsonObject, own } from "../../kernel/json.ts";

/** One event of a capture body. */
export interface TapeEvent {
  event: JsonObject;
  /** Generic path of it: `req.body.batch[]`, `req.body[]`, `req.body`. */
  root: string;
}

const listed = (list: readonly Json[], root: string): TapeEvent[] =>
  list.filter(isObject).map((event) => ({ event, root: `${root}[]` }));

/** The fields that lists of events come in. */
const lists = ["batch", "data"];

/** The events of a capture body, as SDKs send them: a list, a batch, or one alone. */
export function eventsIn(body: Json | undefined): TapeEvent[] {
  if (Array.isArray(body)) return listed(body, "req.body");
  if (!isObject(body)) return [];
  for (const name of lists) {
    const inner = own(body, name);
    if (Array.isArray(inner)) return listed(inner, `req.body.${name}`);
    if (isObject(inner)) return [{ event: inner, root: `req.body.${name}` }];
  }
  return [{ event: body, root: "req.body" }];
}

/** What a report calls an event. */
export function nameOf({ event }: TapeEvent): string {
  const name = own(event, "event");
  return typeof name === "string" ? name : "(without a name)";
}
