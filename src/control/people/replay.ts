import { isIllegalForMerge } from "../../ingest/illegal-ids.ts";
import { type Item, unreadItem } from "../../ingest/item.ts";
import { decideMerge } from "../../ingest/merge.ts";
import { personUuid } from "../../ingest/person-uuid.ts";
import { settlePerson } from "../../ingest/persons.ts";
import { type MergeWish, specialEvents } from "../../ingest/special-events.ts";
import type { JsonObject } from "../../kernel/json.ts";
import type { EventFacts, StoredEvent } from "../../model/event.ts";
import type { Warning } from "../../model/outcome.ts";
import type { Person } from "../../model/person.ts";
import { openPeople, type PeopleStore } from "../../store/people.ts";
import type { ControlDesk } from "../desk.ts";
import { changesBetween } from "./changes.ts";
import type { PropertyChange } from "./show.ts";

/** Two ids that an event said are one person, and what came of it. */
export interface Join {
  readonly by: string;
  /** `other` was to go into `into`. */
  readonly other: string;
  readonly into: string;
  /**
   * `created`: neither was known, one person was made of both; `attached`: one was known, the other was added to
   * it; `merged`: two persons became one; `same`: they were one already; `refused`: both stayed as they were.
   */
  readonly outcome: "created" | "attached" | "merged" | "same" | "refused";
  /** The warning's code, where it was refused. */
  readonly reason: Warning | null;
}

/** What an event did to its person. */
interface Step {
  /** The person was made by it. */
  readonly created: boolean;
  /** The person counts as identified from here on. */
  readonly identified: boolean;
  readonly join: Join | null;
  readonly changes: readonly PropertyChange[];
}

/** An event that was played again: what it did, and the person after it. */
export interface Played {
  readonly event: StoredEvent;
  /** null: it only happened. */
  readonly step: Step | null;
  readonly after: { readonly is_identified: boolean; readonly properties: JsonObject } | null;
}

export interface Replay {
  readonly played: readonly Played[];
  /** The person in the end. */
  readonly person: Person | undefined;
  /** Did every event find the person that it found when it came? */
  readonly isOnTrack: boolean;
}

const none: JsonObject = Object.freeze({});
const refusals: readonly Warning[] = [
  "cannot_merge_with_illegal_distinct_id",
  "cannot_merge_already_identified",
];

const refusalOf = (event: StoredEvent): Warning | undefined =>
  refusals.find((it) => event.warnings.includes(it));

const itemOf = (event: StoredEvent): Item => ({
  ...unreadItem(Date.parse(event.timestamp)),
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

/** Whom the events do not tell of, but what came of them does: without them the same would not happen again. */
function summon(people: PeopleStore, event: StoredEvent, wish: MergeWish | undefined): boolean {
  const project = event.project ?? 0;
  const known = (id: string) => people.personOf(project, id);
  if (wish && refusalOf(event) === "cannot_merge_already_identified") {
    const [other, into] = [known(wish.other), known(wish.into)];
    if (!other) people.create(blank(event, personUuid(project, wish.other), true), [wish.other]);
    else if (!other.is_identified) people.update({ ...other, is_identified: true });
    if (!into) people.create(blank(event, personUuid(project, wish.into), false), [wish.into]);
    return true;
  }
  const isJoin = wish !== undefined && wish.other !== wish.into && refusalOf(event) === undefined;
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

function joinOf(people: PeopleStore, event: StoredEvent, wish: MergeWish | undefined): Join | null {
  if (!wish || wish.other === wish.into) return null;
  const { other, into } = wish;
  const project = event.project ?? 0;
  const reason = refusalOf(event) ?? null;
  const isRefused = reason !== null || isIllegalForMerge(other) || isIllegalForMerge(into);
  const { action } = decideMerge(people.personOf(project, other), people.personOf(project, into), true);
  return { by: event.event, other, into, outcome: isRefused ? "refused" : outcomes[action], reason };
}

/** Whose properties the event starts from: in a merge those of the person that stays. */
function before(people: PeopleStore, event: StoredEvent, join: Join | null): Person | undefined {
  const project = event.project ?? 0;
  if (!join || join.outcome === "refused") return people.personOf(project, event.distinct_id);
  return people.personOf(project, join.into) ?? people.personOf(project, join.other);
}

interface Scene {
  readonly desk: ControlDesk;
  readonly people: PeopleStore;
}

function stepOf(was: Person | undefined, is: Person, event: StoredEvent, join: Join | null): Step | null {
  const step: Step = {
    created: was === undefined,
    identified: is.is_identified && was?.is_identified !== true,
    join,
    changes: changesBetween(was?.properties ?? none, is.properties, event.properties),
  };
  const isStep = step.created || step.identified || join !== null || step.changes.length > 0;
  return isStep ? step : null;
}

const afterOf = (person: Person | undefined): Played["after"] =>
  person ? { is_identified: person.is_identified, properties: person.properties } : null;

/** Lets one event happen again, as ingest let it happen. */
function play({ desk, people }: Scene, event: StoredEvent): Played & { isOnTrack: boolean } {
  const project = event.project ?? 0;
  const current = () => people.personOf(project, event.distinct_id);
  if (event.outcome === "dropped" || isPersonless(event))
    return { event, step: null, after: afterOf(current()), isOnTrack: true };
  const item = itemOf(event);
  const wish = specialEvents.get(event.event)?.merge?.(item, desk.dialect);
  const wasThere = summon(people, event, wish);
  const join = joinOf(people, event, wish);
  const was = before(people, event, join);
  const facts: EventFacts = { uuid: event.uuid, time: item.time, person: null };
  // What was merged then must not be refused now, for want of what nobody remembers.
  const again = wish && { ...wish, forced: join?.outcome !== "refused" };
  settlePerson({ ...desk, people }, project, item, again, facts);
  const is = current();
  const step = is ? stepOf(was, is, event, join) : null;
  return { event, step, after: afterOf(is), isOnTrack: wasThere && facts.person === event.person_id };
}

/** A person that is there before the first event. */
export interface Beginning {
  readonly person: Person;
  readonly distinctIds: readonly string[];
}

/**
 * Plays the events of a person again, oldest first, with ingest's own rules and a store of their own. What was
 * changed without an event (the management API) is not in it: compare the outcome with what is stored.
 */
export function replay(
  desk: ControlDesk,
  events: readonly StoredEvent[],
  beginnings: readonly Beginning[],
): Replay {
  const people = openPeople();
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
