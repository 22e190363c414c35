import type { Call } from "../../http/call.ts";
import type { Endpoint } from "../../http/endpoint.ts";
import { json } from "../../http/reply.ts";
import { queryNumber } from "../body.ts";
import type { ControlDesk } from "../desk.ts";
import { type ControlRow, endpointsOf } from "../rows.ts";
import { groupDetails, groupNamed, groupSearch } from "./groups.ts";
import { historyOf, personNamed } from "./person.ts";
import { showGroup, showPerson } from "./show.ts";
import { timelineOf } from "./timeline.ts";

const most = Number.MAX_SAFE_INTEGER;

const projectOf = (call: Call): number | undefined => queryNumber(call, "project", { min: 0, max: most });

const pageOf = (call: Call) => ({
  limit: queryNumber(call, "limit", { min: 1, max: 10_000 }) ?? 100,
  offset: queryNumber(call, "offset", { min: 0, max: most }) ?? 0,
});

async function listPersons(desk: ControlDesk, call: Call) {
  const project = projectOf(call);
  const distinctId = call.query.get("distinct_id");
  const search = call.query.get("search");
  const { results, more } = await desk.people.persons({
    ...pageOf(call),
    ...(project !== undefined && { project }),
    ...(distinctId !== null && { distinct_id: distinctId }),
    ...(search !== null && { search }),
  });
  return json({ persons: results.map((it) => showPerson(it, it.distinct_ids)), more });
}

function subjectOf(desk: ControlDesk, call: Call) {
  const person = personNamed(desk, call.params.id ?? "", projectOf(call));
  return { desk, person, ids: desk.people.distinctIds(person) };
}

function showOne(desk: ControlDesk, call: Call) {
  const { person, ids } = subjectOf(desk, call);
  return json({ ...showPerson(person, ids), history: historyOf(desk, person, ids) });
}

async function showTimeline(desk: ControlDesk, call: Call) {
  const limit = queryNumber(call, "limit", { min: 1, max: 500 }) ?? 50;
  const before = queryNumber(call, "before", { min: 1, max: most });
  return json(await timelineOf(subjectOf(desk, call), { before, limit }));
}

async function listGroups(desk: ControlDesk, call: Call) {
  const project = projectOf(call);
  const search = call.query.get("search");
  const { results, more } = await desk.people.groups({
    ...pageOf(call),
    ...(project !== undefined && { project }),
    ...(search && { where: groupSearch(desk, search) }),
  });
  return json({ groups: results.map((it) => showGroup(desk, it)), more });
}

async function showGroupDetails(desk: ControlDesk, call: Call) {
  const { type = "", key = "" } = call.params;
  const limit = queryNumber(call, "limit", { min: 1, max: 500 }) ?? 50;
  return json(await groupDetails(desk, groupNamed(desk, type, key, projectOf(call)), limit));
}

const rows: readonly ControlRow<ControlDesk>[] = [
  [
    "GET",
    "/__sim/persons",
    "Persons, newest first: project, distinct_id, search, limit, offset",
    listPersons,
  ],
  [
    "GET",
    "/__sim/persons/:id",
    "One person by uuid or distinct id: merged ids, properties, and the events that changed it",
    showOne,
  ],
  [
    "GET",
    "/__sim/persons/:id/timeline",
    "Its events, newest first, with what each did to it, which ids were joined, values over time: project, before, limit",
    showTimeline,
  ],
  ["GET", "/__sim/groups", "Groups, newest first: project, search, limit, offset", listGroups],
  [
    "GET",
    "/__sim/groups/:type/:key",
    "One group: what $groupidentify made of it, and its recent events: project, limit",
    showGroupDetails,
  ],
];

/** Rows about persons and groups. */
export const peopleEndpoints = (desk: ControlDesk): Endpoint[] => endpointsOf(rows, desk);
