import { row } from "../../kernel/http/row.ts";
import { slice } from "../../kernel/http/slice.ts";
import { groupDetails, groupNamed, groupSearch } from "./groups.ts";
import { historyOf, type PersonPorts, peopleNeeds, personNamed, showGroup, showPerson } from "./persons.ts";
import {
  GroupDetails,
  GroupListQuery,
  GroupQuery,
  PersonListQuery,
  PersonQuery,
  PersonTimeline,
  StoredGroupPage,
  StoredPersonPage,
  StoredPersonWithHistory,
  TimelineQuery,
} from "./shapes.ts";
import { timelineOf } from "./timeline.ts";

export const peopleSlice = slice(peopleNeeds, (ports: PersonPorts) => [
  row({
    method: "GET",
    path: "/__sim/persons",
    access: "control",
    summary: "Lists persons, newest first",
    query: PersonListQuery,
    reply: StoredPersonPage,
    async handle({ query: { project, distinct_id, search, limit, offset } }) {
      const { results, more } = await ports.people.persons({ limit, offset, project, distinct_id, search });
      return { persons: results.map((it) => showPerson(it, it.distinct_ids)), more };
    },
  }),
  row({
    method: "GET",
    path: "/__sim/persons/:id",
    access: "control",
    summary: "Shows a person by uuid or distinct id: merged ids, properties, and the events that changed it",
    query: PersonQuery,
    errors: [404],
    reply: StoredPersonWithHistory,
    async handle({ params, query }) {
      const person = personNamed(ports, params.id, query.project);
      const ids = ports.people.distinctIds(person);
      return { ...showPerson(person, ids), history: await historyOf(ports, person, ids) };
    },
  }),
  row({
    method: "GET",
    path: "/__sim/persons/:id/timeline",
    access: "control",
    summary: "Lists the events of a person, newest first, with the effect of each, merges of ids, and values over time",
    query: TimelineQuery,
    errors: [404],
    reply: PersonTimeline,
    handle({ params, query: { project, before, limit } }) {
      const person = personNamed(ports, params.id, project);
      const ids = ports.people.distinctIds(person);
      return timelineOf({ ports, person, ids }, { before, limit });
    },
  }),
  row({
    method: "GET",
    path: "/__sim/groups",
    access: "control",
    summary: "Lists groups, newest first",
    query: GroupListQuery,
    reply: StoredGroupPage,
    async handle({ query: { project, search, limit, offset } }) {
      const { results, more } = await ports.people.groups({
        limit,
        offset,
        ...(project !== undefined && { project }),
        ...(search && { where: groupSearch(ports.people, search) }),
      });
      return { groups: results.map((it) => showGroup(ports.people, it)), more };
    },
  }),
  row({
    method: "GET",
    path: "/__sim/groups/:type/:key",
    access: "control",
    summary: "Shows a group: the effects of its $groupidentify events, and its recent events",
    query: GroupQuery,
    errors: [404],
    reply: GroupDetails,
    handle: ({ params, query }) =>
      groupDetails(ports, groupNamed(ports, params.type, params.key, query.project), query.limit),
  }),
]);
