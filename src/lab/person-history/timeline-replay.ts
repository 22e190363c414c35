import type { JsonObject } from "../../kernel/base/json.ts";
import type { Desk } from "../../service/capture/desk.ts";
import { Item } from "../../service/capture/item.ts";
import { decideMerge, type MergedIds, specialEvents } from "../../service/capture/merge.ts";
import { isIllegalForMerge } from "../../service/capture/person-ids.ts";
import { settlePerson } from "../../service/capture/persons.ts";
import type { Warning } from "../../state/journal/drop-reasons.ts";
import type { EventFacts, StoredEvent } from "../../state/journal/event.ts";
import { type Person, personUuid } from "../../state/persons/person.ts";
import { openPersonStore, type PersonStore } from "../../state/persons/person-store.ts";
import { changesBetween } from "./changes.ts";
import type { Join, PersonStep, TimelineEntry } from "./shapes.ts";

/** A replayed event, its effect, and the person after it. */
export interface Replayed extends Pick<TimelineEntry, "step" | "after"> {
  readonly event: StoredEvent;
}

export interface Replay {
  readonly played: readonly Replayed[];
  readonly person: Person | undefined;
  /** True if every event found the same person as on arrival. */
  readonly isOnTrack: boolean;
}

const none: JsonObject = Object.freeze({});
const refusals: readonly Warning[] = ["cannot_merge_with_illegal_distinct_id", "cannot_merge_already_identified"];

const refusalOf = (event: StoredEvent): Warning | undefined => refusals.find((it) => event.warnings.includes(it));

const itemOf = (event: StoredEvent): Item => ({
  ...new Item(Date.parse(event.timestamp)),
  event: event.event,
  distinct_id: event.distinct_id,
  properties: event.properties,
});

const isPersonless = (event: StoredEvent): boolean =>
  event.person_mode !== "full" || event.properties.$process_person_profile === false;

const blank = (event: StoredEvent, uuid: string, is_identified: boolean): Person => ({
  project: event.project ?? 0,
  uuid,
  created_at: Date.parse(event.timestamp),
  is_identified,
  version: 0,
  properties: {},
});

/** Makes the persons that the outcome of an event implies, and without which the replay would differ. */
function ensurePersons(people: PersonStore, event: StoredEvent, merge: MergedIds | undefined): boolean {
  const project = event.project ?? 0;
  const known = (id: string) => people.personOf(project, id);
  if (merge && refusalOf(event) === "cannot_merge_already_identified") {
    const [other, into] = [known(merge.other), known(merge.into)];
    if (!other) people.create(blank(event, personUuid(project, merge.other), true), [merge.other]);
    else if (!other.is_identified) people.update({ ...other, is_identified: true });
    if (!into) people.create(blank(event, personUuid(project, merge.into), false), [merge.into]);
    return true;
  }
  const isJoin = merge !== undefined && merge.other !== merge.into && refusalOf(event) === undefined;
  if (isJoin || known(event.distinct_id) || event.person_id === null) return true;
  if (event.person_id === personUuid(project, event.distinct_id)) return true;
  const person = people.person(project, event.person_id);
  if (person) people.attach(person, event.distinct_id);
  else people.create(blank(event, event.person_id, false), [event.distinct_id]);
  return false;
}

const outcomes = {
  create: "created",
  attach_into: "attached",
  attach_other: "attached",
  keep: "same",
  merge: "merged",
  refuse: "refused",
} as const;

function joinOf(people: PersonStore, event: StoredEvent, merge: MergedIds | undefined): Join | null {
  if (!merge || merge.other === merge.into) return null;
  const { other, into } = merge;
  const project = event.project ?? 0;
  const reason = refusalOf(event) ?? null;
  const isRefused = reason !== null || isIllegalForMerge(other) || isIllegalForMerge(into);
  const { action } = decideMerge(people.personOf(project, other), people.personOf(project, into), true);
  return { by: event.event, other, into, outcome: isRefused ? "refused" : outcomes[action], reason };
}

/** The person before the event; in a merge the one that stays. */
function before(people: PersonStore, event: StoredEvent, join: Join | null): Person | undefined {
  const project = event.project ?? 0;
  if (!join || join.outcome === "refused") return people.personOf(project, event.distinct_id);
  return people.personOf(project, join.into) ?? people.personOf(project, join.other);
}

interface Scene {
  readonly desk: Desk;
  readonly people: PersonStore;
}

function stepOf(was: Person | undefined, is: Person, event: StoredEvent, join: Join | null): PersonStep | null {
  const step: PersonStep = {
    created: was === undefined,
    identified: is.is_identified && was?.is_identified !== true,
    join,
    changes: changesBetween(was?.properties ?? none, is.properties, event.properties),
  };
  const isStep = step.created || step.identified || join !== null || step.changes.length > 0;
  return isStep ? step : null;
}

const afterOf = (person: Person | undefined): Replayed["after"] =>
  person ? { is_identified: person.is_identified, properties: person.properties } : null;

function play({ desk, people }: Scene, event: StoredEvent): Replayed & { isOnTrack: boolean } {
  const project = event.project ?? 0;
  const current = () => people.personOf(project, event.distinct_id);
  if (event.outcome === "kept" && isPersonless(event) && !current())
    people.rememberPersonless(project, event.distinct_id);
  if (event.outcome === "dropped" || isPersonless(event))
    return { event, step: null, after: afterOf(current()), isOnTrack: true };
  const item = itemOf(event);
  const merge = specialEvents.get(event.event)?.merge?.(item, desk.dialect);
  const existed = ensurePersons(people, event, merge);
  const join = joinOf(people, event, merge);
  const was = before(people, event, join);
  const facts: EventFacts = { uuid: event.uuid, time: item.time, person: null };
  // a merge that succeeded must not fail because of unknown earlier events
  const again = merge && { ...merge, forced: join?.outcome !== "refused" };
  settlePerson({ ...desk, people }, project, item, again, facts);
  const is = current();
  const step = is ? stepOf(was, is, event, join) : null;
  return { event, step, after: afterOf(is), isOnTrack: existed && facts.person === event.person_id };
}

/** A person that exists before the first event. */
export interface Beginning {
  readonly person: Person;
  readonly distinctIds: readonly string[];
}

/**
 * Replays events, oldest first, with the rules of capture and a store of its own. Changes without an event (by the
 * management API) are missing: compare the result with the stored person.
 */
export function replay(desk: Desk, events: readonly StoredEvent[], beginnings: readonly Beginning[]): Replay {
  const people = openPersonStore();
  for (const { person, distinctIds } of beginnings) people.create(person, distinctIds);
  const played = events.map((event) => play({ desk, people }, event));
  const last = events.findLast((it) => it.outcome === "kept" && it.person_mode === "full") ?? events.at(-1);
  const [first] = beginnings;
  const id = last?.distinct_id ?? first?.distinctIds[0];
  const project = last?.project ?? first?.person.project ?? 0;
  const person = id === undefined ? undefined : people.personOf(project, id);
  people.close();
  return { played, person, isOnTrack: played.every((it) => it.isOnTrack) };
}
