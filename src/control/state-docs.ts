import type { EndpointDocs } from "../http/endpoint.ts";
import {
  always,
  boolean,
  described,
  dictionary,
  exact,
  integer,
  listOf,
  nullable,
  oneOf,
  text,
  time,
  titled,
} from "../http/json-schema.ts";
import { resetParts } from "./desk.ts";
import { bodyErrors, bodyOf, docsOf, whole } from "./docs-row.ts";

const cursor = described(integer, "For `since` of the next call");
const parts = listOf(oneOf(...resetParts));

const facts = {
  name: text,
  created_at: time,
  persons: described(integer, "Stored persons"),
  events: described(integer, "Events that could be seen"),
};

const snapshot = titled("Snapshot", exact(facts));

const stateFields = {
  phx_sim_state: always(1),
  world: described(dictionary, "All documents, as world.json has them"),
  people: described(listOf(dictionary), "Persons, their ids and hash keys, and groups, as lines"),
  journal: described(listOf(dictionary), "Requests with their events; `cleared` where the events are hidden"),
};

const state = titled("State", exact({ ...stateFields, saved_at: time }));

/** The rows that reset, copy and restore, by method and path. */
export const stateDocs: Readonly<Record<string, EndpointDocs>> = {
  "POST /__sim/reset": docsOf("What was reset", exact({ reset: parts, cursor }), {
    errors: [...bodyErrors, 404, 409],
    body: bodyOf({
      what: parts,
      project: described(
        whole(1),
        "Only this project's documents, people and events; one that was made for a test goes back to how it was made, and its faults and waiting answers go",
      ),
    }),
  }),
  "POST /__sim/stop": docsOf("It ends now", exact({ stopping: always(true), pid: integer }), {
    errors: [409],
  }),
  "GET /__sim/state": docsOf("The state", state, { errors: [409] }),
  "PUT /__sim/state": docsOf(
    "What there is now",
    exact({
      projects: integer,
      persons: integer,
      groups: integer,
      requests: integer,
      events: integer,
      cursor,
    }),
    {
      errors: bodyErrors,
      body: bodyOf({ saved_at: time }, stateFields),
    },
  ),
  "GET /__sim/snapshots": docsOf("Snapshots, oldest first", exact({ snapshots: listOf(snapshot) })),
  "POST /__sim/snapshots": docsOf(
    "The snapshot; `replaced` when there was one with the name",
    titled("SnapshotTaken", exact({ ...facts, replaced: boolean })),
    {
      errors: [...bodyErrors, 409],
      body: bodyOf({}, { name: described(text, "Upper and lower case are one") }),
    },
  ),
  "DELETE /__sim/snapshots/:name": docsOf("Its name", exact({ deleted: text }), { errors: [404] }),
  "POST /__sim/snapshots/:name/restore": docsOf(
    "The snapshot; a hint where something is gone for good",
    titled("SnapshotRestored", exact({ ...facts, has_events: boolean, cursor, hint: nullable(text) })),
    { errors: [404, 409] },
  ),
};
