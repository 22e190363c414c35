import type { Json } from "../../kernel/base/json.ts";
import type { Dialect } from "../../state/documents/dialect.ts";
import type { DropReason } from "../../state/journal/drop-reasons.ts";
import { type Person, personUuid } from "../../state/persons/person.ts";
import type { PersonData } from "../../state/persons/person-data.ts";
import type { Item } from "./item.ts";
import { firstProperties, type Patch, patched } from "./person-properties.ts";

const maxGroupKey = 400;

/** Two ids of an event: `other` is merged into `into`. */
export interface MergedIds {
  other: string;
  into: string;
  forced: boolean;
}

export interface SpecialEvent {
  refuse(item: Item): DropReason | undefined;
  merge?(item: Item, dialect: Dialect): MergedIds | undefined;
}

const isAbsent = (value: Json | undefined): boolean => value === undefined || value === null;

/** Person events cannot be personless. */
const refusePersonless = (item: Item): DropReason | undefined =>
  item.processPerson === false ? "invalid_event_when_process_person_profile_is_false" : undefined;

const refuseUnlessText =
  (name: string, reason: DropReason) =>
  (item: Item): DropReason | undefined => {
    const value = item.properties[name];
    return refusePersonless(item) ?? (isAbsent(value) || typeof value === "string" ? undefined : reason);
  };

const refuseAlias = refuseUnlessText("alias", "invalid_alias");

/** The live service merges `alias` into the distinct_id. */
function aliasIntoId(item: Item, forced: boolean): MergedIds | undefined {
  const { alias } = item.properties;
  return typeof alias === "string" && alias !== "" ? { other: alias, into: item.distinct_id, forced } : undefined;
}

/** Dialect row alias_direction: the contract makes `alias` the main id. */
function createAlias(item: Item, dialect: Dialect): MergedIds | undefined {
  const ids = aliasIntoId(item, false);
  if (ids === undefined || dialect === "production") return ids;
  return { other: ids.into, into: ids.other, forced: false };
}

function identify(item: Item): MergedIds | undefined {
  const other = item.properties.$anon_distinct_id;
  return typeof other === "string" ? { other, into: item.distinct_id, forced: false } : undefined;
}

const characters = (value: Json | undefined): number => (typeof value === "string" ? [...value].length : 0);

const refuseGroup = (item: Item): DropReason | undefined => {
  const { $group_key } = item.properties;
  const isLong = typeof $group_key === "string" && $group_key.length > maxGroupKey;
  const tooLong = isLong && characters($group_key) > maxGroupKey;
  return refusePersonless(item) ?? (tooLong ? "group_key_too_long" : undefined);
};

/** Upstream person-merge-service.ts and the validation steps of the event pipeline. */
export const specialEvents: ReadonlyMap<string, SpecialEvent> = new Map<string, SpecialEvent>([
  ["$identify", { refuse: refuseUnlessText("$anon_distinct_id", "invalid_anon_distinct_id"), merge: identify }],
  ["$create_alias", { refuse: refuseAlias, merge: createAlias }],
  ["$merge_dangerously", { refuse: refuseAlias, merge: (item) => aliasIntoId(item, true) }],
  ["$groupidentify", { refuse: refuseGroup }],
]);

interface MergeRequest {
  project: number;
  other: string;
  into: string;
  /** True: merges also if the other person is identified ($merge_dangerously). */
  forced: boolean;
  /** The event's own id: one of the two. */
  subject: string;
  time: number;
  patch: Patch | undefined;
  event: string | null;
}

type MergeDecision =
  | { action: "create" }
  | { action: "attach_into" | "attach_other" | "keep"; person: Person }
  | { action: "merge" | "refuse"; other: Person; into: Person };

/** The decision table. Upstream person-merge-service.ts. */
export function decideMerge(other: Person | undefined, into: Person | undefined, forced: boolean): MergeDecision {
  if (other === undefined) {
    return into === undefined ? { action: "create" } : { action: "attach_other", person: into };
  }
  if (into === undefined) return { action: "attach_into", person: other };
  if (other.uuid === into.uuid) return { action: "keep", person: into };
  return { action: forced || !other.is_identified ? "merge" : "refuse", other, into };
}

/** The person with the patch applied and marked as identified; the same object if nothing changes. */
function identified(person: Person, patch: Patch | undefined): Person {
  const properties = patched(person.properties, patch);
  if (person.is_identified && properties === person.properties) return person;
  return { ...person, properties, is_identified: true, version: person.version + 1 };
}

function save(people: PersonData, before: Person, after: Person): Person {
  if (after !== before) people.update(after);
  return after;
}

function create(people: PersonData, request: MergeRequest): Person {
  const { project, other, into, time, patch, event } = request;
  // events of an id that was personless have its uuid already
  const isOther = people.isPersonless(project, other) && !people.isPersonless(project, into);
  const person: Person = {
    project,
    uuid: personUuid(project, isOther ? other : into),
    created_at: time,
    is_identified: true,
    version: 0,
    properties: firstProperties(patch, event),
  };
  people.create(person, [into, other]);
  return person;
}

function attach(people: PersonData, person: Person, id: string, patch: Patch | undefined): Person {
  people.attach(person, id);
  return save(people, person, identified(person, patch));
}

function merge(people: PersonData, other: Person, into: Person, patch: Patch | undefined): Person {
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

/** Both persons stay; the event belongs to the person of its own id. */
function refuse(people: PersonData, other: Person, into: Person, request: MergeRequest): Person {
  if (request.subject === request.into) return save(people, into, identified(into, request.patch));
  save(people, into, identified(into, undefined));
  const properties = patched(other.properties, request.patch);
  if (properties === other.properties) return other;
  return save(people, other, { ...other, properties, version: other.version + 1 });
}

interface Merged {
  person: Person;
  refused: boolean;
}

export function applyMerge(people: PersonData, request: MergeRequest): Merged {
  const { project, patch } = request;
  const decision = decideMerge(
    people.personOf(project, request.other),
    people.personOf(project, request.into),
    request.forced,
  );
  const done = (person: Person): Merged => ({ person, refused: false });
  switch (decision.action) {
    case "create":
      return done(create(people, request));
    case "attach_into":
      return done(attach(people, decision.person, request.into, patch));
    case "attach_other":
      return done(attach(people, decision.person, request.other, patch));
    case "keep":
      return done(save(people, decision.person, identified(decision.person, patch)));
    case "merge":
      return done(merge(people, decision.other, decision.into, patch));
    case "refuse":
      return { person: refuse(people, decision.other, decision.into, request), refused: true };
  }
}
