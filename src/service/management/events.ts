import { z } from "zod";
import { SimError } from "../../kernel/base/errors.ts";
import { isObject, type Json } from "../../kernel/base/json.ts";
import { isUuid } from "../../kernel/base/text.ts";
import { containsText } from "../../kernel/base/wildcard.ts";
import type { Call } from "../../kernel/http/call.ts";
import type { Endpoint } from "../../kernel/http/endpoint.ts";
import { wireTime } from "../../state/documents/time.ts";
import type { StoredEvent } from "../../state/journal/event.ts";
import type { TimedQuery } from "../../state/journal/event-reader.ts";
import { numberIn } from "../api-frame/access.ts";
import { calmly } from "../api-frame/desk.ts";
import { invalid } from "../api-frame/fields.ts";
import { linkWith, pageQuery, parametersOf, propertyTest, readMoment, windowOf } from "../api-frame/lists.ts";
import { inProject, managementRow } from "../api-frame/row.ts";
import { actionOf } from "../query/named-documents.ts";
import type { ManagementDesk } from "./desk.ts";
import { eventsOfAction } from "./resources/action-rows.ts";

const EventShape = z
  .object({
    id: z.string(),
    distinct_id: z.string(),
    properties: z.record(z.string(), z.json()),
    event: z.string(),
    timestamp: z.string(),
    person: z
      .object({
        is_identified: z.boolean(),
        distinct_ids: z.array(z.string()),
        properties: z.record(z.string(), z.json()),
      })
      .nullable(),
    elements: z.array(z.json()),
    elements_chain: z.string(),
  })
  .meta({ title: "Event" });

const EventPage = z.object({ next: z.string().nullable(), results: z.array(EventShape) });

/** A time in Python's spelling, as events have it: `2026-03-04T05:06:07.089000+00:00`. */
const isoTime = (ms: number): string => wireTime(ms).replace("Z", "+00:00");

const shownProperties = ["email", "name", "username"];

/** The person that has the event's id now; the one whose it was may have been merged. */
function showOwner({ people }: ManagementDesk, { project, distinct_id: id }: StoredEvent) {
  const person = project === null ? undefined : people.personOf(project, id);
  if (!person) return null;
  const shown = Object.entries(person.properties).filter(([key]) => shownProperties.includes(key));
  return {
    is_identified: person.is_identified,
    distinct_ids: people.distinctIds(person).slice(0, 1),
    properties: Object.fromEntries(shown),
  };
}

function showEvent(desk: ManagementDesk, event: StoredEvent, isWithPerson: boolean): z.infer<typeof EventShape> {
  const { $elements_chain: chain, ...properties } = event.properties;
  return {
    id: event.uuid ?? "",
    distinct_id: event.distinct_id,
    properties,
    event: event.event,
    timestamp: isoTime(Date.parse(event.timestamp)),
    person: isWithPerson ? showOwner(desk, event) : null,
    elements: [],
    elements_chain: typeof chain === "string" ? chain : "",
  };
}

/** Most events read for one answer; a page that reaches it ends early, and its link continues there. */
const farthest = 20_000;

interface Wanted {
  readonly query: TimedQuery;
  fits(event: StoredEvent): boolean;
}

/** The ids of a person; none when there is no such person. */
function idsOf({ people }: ManagementDesk, project: number, uuid: string): ReadonlySet<string> {
  return new Set(people.person(project, uuid.toLowerCase())?.distinct_ids);
}

function wantedBy(desk: ManagementDesk, call: Call, project: number): Wanted {
  const now = desk.clock.now();
  const { event, distinct_id, person_id, properties, orderBy = "", ...times } = parametersOf(call, eventQuery);
  const bound = (text: string | undefined, otherwise: number) =>
    // A plus that was not encoded arrives as a blank.
    text ? Date.parse(readMoment(text.replace(/ (\d\d:?\d\d)$/, "+$1"), now)) : otherwise;
  const ids = person_id ? idsOf(desk, project, person_id) : undefined;
  const test = propertyTest(properties, "event");
  return {
    query: {
      project,
      after: bound(times.after, Number.NEGATIVE_INFINITY),
      before: bound(times.before, now + 5_000),
      order: /^\[\s*"timestamp"/.test(orderBy) ? "asc" : "desc",
      ...(event && { event }),
      ...(distinct_id && { distinct_id }),
    },
    fits: (it) => (ids?.has(it.distinct_id) ?? true) && (test?.(it.properties) ?? true),
  };
}

interface Timed {
  readonly time: number;
  readonly event: StoredEvent;
}

const mostEvents = 50_000;

/**
 * The first `count` events in order of their time. `stoppedAt` is the time of the last event that was read
 * where the rest is for another page; events of one time stay together.
 */
async function firstEvents(
  { events }: ManagementDesk,
  { query, fits }: Wanted,
  count: number,
): Promise<{ found: Timed[]; stoppedAt: number | undefined }> {
  const found: Timed[] = [];
  let looked = 0;
  let last: number | undefined;
  for await (const event of calmly(events.byTime(query))) {
    const time = Date.parse(event.timestamp);
    if (looked++ >= farthest && time !== last) return { found, stoppedAt: last };
    last = time;
    if (fits(event) && found.push({ time, event }) === count) break;
  }
  return { found, stoppedAt: undefined };
}

/** With `action_id` only the events of that action. @throws SimError not_found, invalid_input */
async function wantedOfAction(desk: ManagementDesk, call: Call, project: number): Promise<Wanted> {
  const wanted = wantedBy(desk, call, project);
  const { action_id: id } = parametersOf(call, eventQuery);
  if (!id) return wanted;
  const action = numberIn(id);
  if (action === undefined || !actionOf(desk.worlds, project, action))
    throw invalid("Action does not exist", "action_id");
  const uuids = await eventsOfAction(desk, project, action);
  return { ...wanted, fits: (event) => uuids.has(event.uuid) && wanted.fits(event) };
}

async function listEvents(desk: ManagementDesk, call: Call, project: number) {
  const wanted = await wantedOfAction(desk, call, project);
  const { limit: asked, offset } = windowOf(call);
  if (offset > mostEvents) {
    throw invalid(`Offset is deprecated. Max supported offset value is ${mostEvents}`);
  }
  const limit = Math.min(asked, mostEvents);
  const { found, stoppedAt } = await firstEvents(desk, wanted, offset + limit + 1);
  const shown = found.slice(offset, offset + limit);
  const bound = wanted.query.order === "asc" ? "after" : "before";
  const last = found.length > offset + limit ? shown.at(-1)?.time : undefined;
  const left = Math.max(0, offset - found.length);
  const next =
    stoppedAt === undefined
      ? last !== undefined && { [bound]: isoTime(last) }
      : { [bound]: isoTime(stoppedAt), offset: left > 0 ? String(left) : null };
  return { next: next ? linkWith(call, next) : null, results: shown.map(({ event }) => showEvent(desk, event, true)) };
}

/** @throws SimError not_found; invalid_input when it is no uuid */
async function eventOf(desk: ManagementDesk, project: number, uuid: string): Promise<StoredEvent> {
  if (!isUuid(uuid)) throw invalid("Invalid UUID");
  // generated uuids are not in the index: those events are searched one by one
  for (const indexed of [uuid.toLowerCase(), null]) {
    for await (const event of calmly(desk.events.newest({ project, uuid: indexed })))
      if (event.uuid?.toLowerCase() === uuid.toLowerCase()) return event;
  }
  throw new SimError("not_found", `No events exist for event UUID ${uuid}`);
}

/** A property's value as a string, in Python's notation. */
function textOf(value: Json): string {
  if (typeof value === "string") return value;
  return Array.isArray(value) || isObject(value) ? JSON.stringify(value) : String(value);
}

const valuesShown = 10;
const valuesDays = 7;

/** An event's values for a key: its name, or the values of a property. */
function valuesIn({ event, properties }: StoredEvent, key: string): Json[] {
  if (key === "custom_event") return event.startsWith("$") ? [] : [event];
  const value = Object.hasOwn(properties, key) ? (properties[key] ?? null) : null;
  if (value === null) return [];
  return Array.isArray(value) ? value : [value];
}

async function listValues(desk: ManagementDesk, call: Call, project: number) {
  const { key, value: text = "" } = parametersOf(call, valuesQuery);
  if (!key) throw invalid("You must provide a key");
  const part = text.toLowerCase();
  const names = new Set(call.query.getAll("event_name"));
  const since = desk.clock.now() - valuesDays * 86_400_000;
  const values = new Set<string>();
  let looked = 0;
  for await (const event of calmly(desk.events.newest({ project }))) {
    if ((values.size >= valuesShown && key !== "custom_event") || looked++ === farthest) break;
    if (Date.parse(event.timestamp) < since || (names.size > 0 && !names.has(event.event))) continue;
    for (const value of valuesIn(event, key).map(textOf)) {
      if (containsText(value.toLowerCase(), part)) values.add(value);
    }
  }
  return [...values].map((name) => ({ name }));
}

const text = (description: string) => z.string().describe(description);

const eventQuery = pageQuery.extend({
  event: text("Name of the event"),
  distinct_id: text("Distinct id of the events"),
  person_id: text("Uuid of a person: the events of all its ids"),
  before: text("Only events before this time (default: in five seconds)"),
  after: text("Only events after this time"),
  action_id: text("Id of an action: only the events that match it"),
  orderBy: text('JSON list: ["timestamp"] for the earliest first'),
  properties: text("Property filters, as JSON"),
});

const valuesQuery = z.object({
  key: text("Name of a property, or custom_event for names of events"),
  value: text("Part of the value, in any case"),
  event_name: text("Only of these events; may be repeated"),
});

const Values = z.array(z.object({ name: z.string() }));

/** Kept events of a project, from the log. Upstream PostHog/posthog posthog/api/event.py. */
export const eventEndpoints = (desk: ManagementDesk): Endpoint[] => [
  ...managementRow(desk, {
    method: "GET",
    path: "/api/projects/:project_id/events",
    summary: "Events, the last first",
    access: inProject("query:read", "analytics"),
    query: eventQuery,
    reply: EventPage,
    handle: ({ call, project }) => listEvents(desk, call, project.id),
  }),
  ...managementRow(desk, {
    method: "GET",
    path: "/api/projects/:project_id/events/values",
    summary: "Values that a property had in the last days",
    access: inProject("query:read", "analytics"),
    query: valuesQuery,
    reply: Values,
    handle: ({ call, project }) => listValues(desk, call, project.id),
  }),
  ...managementRow(desk, {
    method: "GET",
    path: "/api/projects/:project_id/events/:id",
    summary: "An event",
    access: inProject("query:read", "analytics"),
    query: z.object({ include_person: text("Any value shows the person, too") }),
    reply: EventShape,
    async handle({ call, project, param }) {
      const event = await eventOf(desk, project.id, param("id"));
      return showEvent(desk, event, Boolean(call.query.get("include_person")));
    },
  }),
];
