import { fnv1a } from "../../../kernel/base/hash.ts";
import { isObject, type Json, type JsonObject, own } from "../../../kernel/base/json.ts";
import { type Exchange, jsonOf } from "../format/exchange.ts";
import { eventsIn } from "../match/requests.ts";
import type { Placeholder } from "../redact/placeholders.ts";
import { placeOfPlaceholder } from "./exclude.ts";
import { placeholdersOf, type SendSkipReason, skipOf, timeOf } from "./plan.ts";

/** A placeholder, the requests that have it, and the number of the first of them. */
interface FoundPlaceholder extends Placeholder {
  requests: number;
  first: number;
  /** Where it stands in the first request, if it can be left out there. */
  place: string | undefined;
}

export interface Survey {
  requests: number;
  routes: Map<string, number>;
  hosts: Map<string, number>;
  skipped: Partial<Record<SendSkipReason, number>>;
  /** Arrival of the first and the last, ms since the epoch; undefined: there is none. */
  first?: number;
  last?: number;
  /** Events in bodies that can be read, and the time of the last one. */
  events: number;
  lastEvent?: number;
  placeholders: Map<string, FoundPlaceholder>;
  kinship: Kinship;
}

/** Names beyond count as one: a tape can have any number of hosts and routes. */
const mostNames = 500;

function count(map: Map<string, number>, name: string): void {
  const key = map.has(name) || map.size < mostNames ? name : "others";
  map.set(key, (map.get(key) ?? 0) + 1);
}

const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : "(none)");

const later = (a: number | undefined, b: number): number => (a === undefined ? b : Math.max(a, b));

function addPlaceholder(survey: Survey, placeholder: Placeholder, exchange: Exchange): void {
  const { text } = placeholder;
  const found = survey.placeholders.get(text);
  if (found) found.requests++;
  else
    survey.placeholders.set(text, {
      ...placeholder,
      requests: 1,
      first: exchange.i,
      place: placeOfPlaceholder(exchange, text),
    });
}

/** An event from the future, a wrong clock's, counts as of its arrival. */
function addEvents(survey: Survey, exchange: Exchange, at: number): void {
  if (exchange.route !== "capture") return;
  for (const { event } of eventsIn(jsonOf(exchange.req.body))) {
    survey.events++;
    survey.lastEvent = later(survey.lastEvent, Math.min(at, timeOf(event, at)));
  }
}

function add(survey: Survey, exchange: Exchange): void {
  const skip = skipOf(exchange);
  if (skip !== undefined) {
    survey.skipped[skip] = (survey.skipped[skip] ?? 0) + 1;
    return;
  }
  survey.requests++;
  count(survey.routes, exchange.route);
  count(survey.hosts, hostOf(exchange.req.url));
  const at = Date.parse(exchange.at);
  if (!Number.isNaN(at)) {
    survey.first = survey.first === undefined ? at : Math.min(survey.first, at);
    survey.last = later(survey.last, at);
    addEvents(survey, exchange, at);
  }
  for (const ids of personsOf(exchange)) survey.kinship.join(ids);
  for (const placeholder of placeholdersOf(exchange)) addPlaceholder(survey, placeholder, exchange);
}

/** Reads what is to be sent, before anything is sent. */
export async function surveyTape(exchanges: AsyncIterable<Exchange>): Promise<Survey> {
  const survey: Survey = {
    requests: 0,
    routes: new Map(),
    hosts: new Map(),
    skipped: {},
    events: 0,
    placeholders: new Map(),
    kinship: createKinship(),
  };
  for await (const exchange of exchanges) add(survey, exchange);
  return survey;
}

const textOf = (value: Json | undefined): string[] =>
  (typeof value === "string" && value !== "") || typeof value === "number" ? [String(value)] : [];

const propertiesOf = (event: JsonObject): JsonObject => {
  const properties = own(event, "properties");
  return isObject(properties) ? properties : {};
};

/** The person of an event; the first field that names one counts. */
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

/** Other ids of the same person: `$identify`, `$create_alias`, `$merge_dangerously`, and flags' anonymous id. */
function othersOf(event: JsonObject): string[] {
  const properties = propertiesOf(event);
  return [own(event, "$anon_distinct_id"), own(properties, "$anon_distinct_id"), own(properties, "alias")].flatMap(
    textOf,
  );
}

/** The distinct ids that a request is about; none for the management API. Its own and merged ones, event by event. */
function personsOf(exchange: Exchange): string[][] {
  if (exchange.route.includes(" ")) return [];
  return eventsIn(jsonOf(exchange.req.body))
    .map(({ event }) => [...personOf(event), ...othersOf(event)])
    .filter((it) => it.length > 0);
}

function createKinship() {
  const parents = new Map<string, string>();
  function rootOf(id: string): string {
    let root = id;
    for (let parent = parents.get(root); parent !== undefined; parent = parents.get(root)) root = parent;
    if (root !== id) parents.set(id, root);
    return root;
  }
  return {
    rootOf,
    join([first, ...others]: readonly string[]) {
      for (const other of others) {
        if (first === undefined) return;
        const [into, from] = [rootOf(first), rootOf(other)];
        if (into !== from) parents.set(from, into);
      }
    },
  };
}

export type Kinship = ReturnType<typeof createKinship>;

/** The lanes that a request has to wait in; the first one if it belongs to no person. */
export function lanesOf(exchange: Exchange, kinship: Kinship, lanes: number): number[] {
  const persons = personsOf(exchange).map(([id = ""]) => fnv1a(kinship.rootOf(id)) % lanes);
  return persons.length === 0 ? [0] : [...new Set(persons)];
}
