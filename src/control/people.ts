import type { Endpoint } from "../http/endpoint.ts";
import { json } from "../http/reply.ts";
import { showEvent } from "../ingest/show.ts";
import { SimError } from "../kernel/errors.ts";
import type { Json, JsonObject } from "../kernel/json.ts";
import type { Group, Person } from "../model/person.ts";
import { queryNumber } from "./body.ts";
import type { ControlDesk } from "./desk.ts";

const most = Number.MAX_SAFE_INTEGER;
const historyLength = 100;

const showPerson = (person: Person, distinctIds: readonly string[]) => ({
  uuid: person.uuid,
  project: person.project,
  distinct_ids: distinctIds,
  is_identified: person.is_identified,
  created_at: new Date(person.created_at).toISOString(),
  version: person.version,
  properties: person.properties,
});

const showGroup = (desk: ControlDesk, group: Group) => ({
  project: group.project,
  type: desk.people.groupTypes(group.project)[group.type] ?? null,
  type_index: group.type,
  key: group.key,
  created_at: new Date(group.created_at).toISOString(),
  properties: group.properties,
});

/** What an event did to its person, or undefined when it only happened. */
function stepOf(properties: Record<string, Json>): JsonObject | undefined {
  const step: JsonObject = {};
  for (const key of ["$set", "$set_once", "$unset", "$anon_distinct_id", "alias"]) {
    const value = Object.hasOwn(properties, key) ? properties[key] : undefined;
    if (value !== undefined) step[key] = value;
  }
  return Object.keys(step).length > 0 ? step : undefined;
}

/** The events of a person that changed it, newest first. */
function historyOf(desk: ControlDesk, person: Person, distinctIds: readonly string[]) {
  const steps = distinctIds.flatMap((distinct_id) => {
    const found: {
      seq: number;
      event: string;
      distinct_id: string;
      timestamp: string;
      change: JsonObject;
    }[] = [];
    for (const ref of desk.log.scan({
      project: person.project,
      distinct_id,
      outcome: "kept",
      order: "desc",
    })) {
      const event = showEvent(ref.line, ref.index);
      const change = stepOf(event.properties);
      if (change)
        found.push({ seq: event.seq, event: event.event, distinct_id, timestamp: event.timestamp, change });
      if (found.length === historyLength) break;
    }
    return found;
  });
  return steps.sort((a, b) => b.seq - a.seq).slice(0, historyLength);
}

/** By uuid or by distinct id; the first project that knows it, unless one is named. */
function personNamed(desk: ControlDesk, name: string, project: number | undefined): Person | undefined {
  const projects = project === undefined ? desk.worlds.current.projects.map((it) => it.id) : [project];
  for (const id of projects) {
    const person = desk.people.person(id, name) ?? desk.people.personOf(id, name);
    if (person) return person;
  }
  return undefined;
}

const pageOf = (call: Parameters<Endpoint["handle"]>[0]) => ({
  limit: queryNumber(call, "limit", { min: 1, max: 10_000 }) ?? 100,
  offset: queryNumber(call, "offset", { min: 0, max: most }) ?? 0,
});

export const peopleEndpoints = (desk: ControlDesk): Endpoint[] => [
  {
    methods: ["GET"],
    path: "/__sim/persons",
    family: "control",
    summary: "Persons, newest first: project, distinct_id, search, limit, offset",
    async handle(call) {
      const project = queryNumber(call, "project", { min: 0, max: most });
      const distinctId = call.query.get("distinct_id");
      const search = call.query.get("search");
      const { results, more } = await desk.people.persons({
        ...pageOf(call),
        ...(project !== undefined && { project }),
        ...(distinctId !== null && { distinct_id: distinctId }),
        ...(search !== null && { search }),
      });
      return json({ persons: results.map((it) => showPerson(it, it.distinct_ids)), more });
    },
  },
  {
    methods: ["GET"],
    path: "/__sim/persons/:id",
    family: "control",
    summary: "One person by uuid or distinct id: merged ids, properties, and the events that changed it",
    handle(call) {
      const id = call.params.id ?? "";
      const person = personNamed(desk, id, queryNumber(call, "project", { min: 0, max: most }));
      if (!person) throw new SimError("not_found", `no person has the uuid or distinct id "${id}"`);
      const ids = desk.people.distinctIds(person);
      return json({ ...showPerson(person, ids), history: historyOf(desk, person, ids) });
    },
  },
  {
    methods: ["GET"],
    path: "/__sim/groups",
    family: "control",
    summary: "Groups, newest first: project, limit, offset",
    async handle(call) {
      const project = queryNumber(call, "project", { min: 0, max: most });
      const { results, more } = await desk.people.groups({
        ...pageOf(call),
        ...(project !== undefined && { project }),
      });
      return json({ groups: results.map((it) => showGroup(desk, it)), more });
    },
  },
];
