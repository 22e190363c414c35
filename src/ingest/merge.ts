import type { People } from "../model/people.ts";
import type { Person } from "../model/person.ts";
import { personUuid } from "./person-uuid.ts";
import { type Patch, patched } from "./person-properties.ts";

/** Two ids that an event says are the same person: `other` goes into `into`. */
export interface MergeRequest {
  project: number;
  other: string;
  into: string;
  /** Merge even when the other person is identified ($merge_dangerously). */
  forced: boolean;
  /** The event's own id: one of the two. */
  subject: string;
  /** The event's time, ms since the epoch. */
  time: number;
  patch: Patch | undefined;
}

export type MergeAction = "create" | "attach_into" | "attach_other" | "keep" | "merge" | "refuse";

/** The decision table of the service's person-merge-service.ts. */
export function decideMerge(other: Person | undefined, into: Person | undefined, forced: boolean): MergeAction {
  if (other === undefined) return into === undefined ? "create" : "attach_other";
  if (into === undefined) return "attach_into";
  if (other.uuid === into.uuid) return "keep";
  return forced || !other.is_identified ? "merge" : "refuse";
}

/** The person with the patch applied and marked as identified: the same object when both change nothing. */
function identified(person: Person, patch: Patch | undefined): Person {
  const properties = patched(person.properties, patch);
  if (person.is_identified && properties === person.properties) return person;
  return { ...person, properties, is_identified: true, version: person.version + 1 };
}

function save(people: People, before: Person, after: Person): Person {
  if (after !== before) people.update(after);
  return after;
}

function create(people: People, request: MergeRequest): Person {
  const { project, other, into, time, patch } = request;
  const person: Person = {
    project,
    uuid: personUuid(project, into),
    created_at: time,
    is_identified: true,
    version: 0,
    properties: patched({}, patch),
  };
  people.create(person, [into, other]);
  return person;
}

function attach(people: People, person: Person, id: string, patch: Patch | undefined): Person {
  people.attach(person, id);
  return save(people, person, identified(person, patch));
}

function merge(people: People, other: Person, into: Person, patch: Patch | undefined): Person {
  const person: Person = {
    ...into,
    properties: patched({ ...other.properties, ...into.properties }, patch),
    created_at: Math.min(other.created_at, into.created_at),
    is_identified: true,
    version: Math.max(other.version, into.version) + 1,
  };
  people.merge(other, person);
  return person;
}

/** Both stay; the event goes on with the person of its own id. */
function refuse(people: People, other: Person, into: Person, request: MergeRequest): Person {
  if (request.subject === request.into) return save(people, into, identified(into, request.patch));
  save(people, into, identified(into, undefined));
  const properties = patched(other.properties, request.patch);
  if (properties === other.properties) return other;
  return save(people, other, { ...other, properties, version: other.version + 1 });
}

/** What came of a merge: the event's person, and whether the merge was refused. */
export interface Merged {
  person: Person;
  refused: boolean;
}

/** Merges as decided and applies the event's patch, in one write per person. */
export function applyMerge(people: People, request: MergeRequest): Merged {
  const other = people.personOf(request.project, request.other);
  const into = people.personOf(request.project, request.into);
  const { patch } = request;
  if (other === undefined) {
    const person = into === undefined ? create(people, request) : attach(people, into, request.other, patch);
    return { person, refused: false };
  }
  if (into === undefined) return { person: attach(people, other, request.into, patch), refused: false };
  switch (decideMerge(other, into, request.forced)) {
    case "merge":
      return { person: merge(people, other, into, patch), refused: false };
    case "refuse":
      return { person: refuse(people, other, into, request), refused: true };
    default:
      return { person: save(people, into, identified(into, patch)), refused: false };
  }
}
