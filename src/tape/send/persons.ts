import { fnv1a } from "../../kernel/hash.ts";
import { isObject, type Json, type JsonObject, own } from "../../kernel/json.ts";
import { eventsIn } from "../deck/events.ts";
import type { Exchange } from "../types.ts";

const textOf = (value: Json | undefined): string[] =>
  (typeof value === "string" && value !== "") || typeof value === "number" ? [String(value)] : [];

const propertiesOf = (event: JsonObject): JsonObject => {
  const properties = own(event, "properties");
  return isObject(properties) ? properties : {};
};

/** Whose an event is; the first place that has it counts. */
function personOf(event: JsonObject): string[] {
  const properties = propertiesOf(event);
  const found = [
    own(event, "distinct_id"),
    own(event, "$distinct_id"),
    own(properties, "distinct_id"),
    own(properties, "$distinct_id"),
  ].flatMap(textOf);
  return found.slice(0, 1);
}

/** Who becomes one person with the event's: `$identify`, `$create_alias`, `$merge_dangerously`, and flags' anonymous id. */
function othersOf(event: JsonObject): string[] {
  const properties = propertiesOf(event);
  return [
    own(event, "$anon_distinct_id"),
    own(properties, "$anon_distinct_id"),
    own(properties, "alias"),
  ].flatMap(textOf);
}

const bodyOf = ({ req }: Exchange): Json | undefined =>
  req.body && "json" in req.body ? req.body.json : undefined;

/** The distinct ids that a request is about; none for the management API. Its own and merged ones, event by event. */
export function personsOf(exchange: Exchange): string[][] {
  if (exchange.route.includes(" ")) return [];
  return eventsIn(bodyOf(exchange))
    .map(({ event }) => [...personOf(event), ...othersOf(event)])
    .filter((it) => it.length > 0);
}

/** Which distinct ids are one person: they share a lane. */
export interface Kinship {
  join(ids: readonly string[]): void;
  /** The same text for all ids of a person. */
  rootOf(id: string): string;
}

export function createKinship(): Kinship {
  const parents = new Map<string, string>();
  function rootOf(id: string): string {
    let root = id;
    for (let parent = parents.get(root); parent !== undefined; parent = parents.get(root)) root = parent;
    if (root !== id) parents.set(id, root);
    return root;
  }
  return {
    rootOf,
    join([first, ...others]) {
      for (const other of others) {
        if (first === undefined) return;
        const [into, from] = [rootOf(first), rootOf(other)];
        if (into !== from) parents.set(from, into);
      }
    },
  };
}

/** The lanes, of so many, that a request has to wait in; the first one where it is nobody's. */
export function lanesOf(exchange: Exchange, kinship: Kinship, lanes: number): number[] {
  const persons = personsOf(exchange).map(([id = ""]) => fnv1a(kinship.rootOf(id)) % lanes);
  return persons.length === 0 ? [0] : [...new Set(persons)];
}
