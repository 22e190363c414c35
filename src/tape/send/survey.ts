import { eventsIn } from "../deck/events.ts";
import type { Placeholder } from "../redact/placeholders.ts";
import type { Exchange } from "../types.ts";
import { timeOf } from "./events.ts";
import { placeholdersOf } from "./keys.ts";
import { createKinship, type Kinship, personsOf } from "./persons.ts";
import { skipOf } from "./plan.ts";
import type { SkipReason } from "./types.ts";

/** What a tape has to send. */
export interface Survey {
  requests: number;
  /** Requests by route. */
  routes: Map<string, number>;
  /** Requests by the host they went to. */
  hosts: Map<string, number>;
  skipped: Partial<Record<SkipReason, number>>;
  /** Arrival of the first and the last, ms since the epoch; undefined: there is none. */
  first?: number;
  last?: number;
  /** Events in bodies that can be read, and the time of the last one. */
  events: number;
  lastEvent?: number;
  /** Placeholders by their text: the kind, requests that have it, and the number of the first of them. */
  placeholders: Map<string, { kind: string; requests: number; first: number }>;
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

function addPlaceholder(survey: Survey, { text, kind }: Placeholder, i: number): void {
  const found = survey.placeholders.get(text) ?? { kind, requests: 0, first: i };
  survey.placeholders.set(text, { ...found, requests: found.requests + 1 });
}

/** An event from the future, a wrong clock's, counts as of its arrival. */
function addEvents(survey: Survey, exchange: Exchange, at: number): void {
  const { body } = exchange.req;
  if (exchange.route !== "capture" || !body || !("json" in body)) return;
  for (const { event } of eventsIn(body.json)) {
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
  for (const placeholder of placeholdersOf(exchange)) addPlaceholder(survey, placeholder, exchange.i);
}

/** Looks through what is to be sent, before anything is. */
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
