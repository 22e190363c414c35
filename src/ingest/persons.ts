import type { Desk } from "../model/desk.ts";
import type { EventFacts } from "../model/event.ts";
import type { Person } from "../model/person.ts";
import { isIllegalForMerge } from "./illegal-ids.ts";
import { type Item, warn } from "./item.ts";
import { applyMerge } from "./merge.ts";
import { type Patch, patched, patchOf, personFieldsOf } from "./person-properties.ts";
import { personUuid } from "./person-uuid.ts";
import type { MergeWish } from "./special-events.ts";

/** A personless event this much later than its person was made counts as a full one. */
const upgradeAfter = 60_000;

/** The event names its person and changes nothing; a person is not made. */
function passPersonless(desk: Desk, project: number, item: Item, facts: EventFacts): void {
  const { people } = desk;
  const person = people.personOf(project, item.distinct_id);
  const strips = personFieldsOf(item);
  if (strips.length > 0) facts.strips = strips;
  facts.person = person?.uuid ?? personUuid(project, item.distinct_id);
  if (person !== undefined && item.time > person.created_at + upgradeAfter) return;
  facts.mode = "propertyless";
  if (person === undefined && !people.isPersonless(project, item.distinct_id)) {
    people.rememberPersonless(project, item.distinct_id);
  }
}

function createPerson(desk: Desk, project: number, item: Item, patch: Patch | undefined): Person {
  const person: Person = {
    project,
    uuid: personUuid(project, item.distinct_id),
    created_at: item.time,
    is_identified: false,
    version: 0,
    properties: patched({}, patch),
  };
  desk.people.create(person, [item.distinct_id]);
  return person;
}

/** The person of the event's id, made or brought up to date; nothing is written when nothing changed. */
function updatePerson(desk: Desk, project: number, item: Item): string {
  const patch = patchOf(item);
  const person = desk.people.personOf(project, item.distinct_id);
  if (person === undefined) return createPerson(desk, project, item, patch).uuid;
  const properties = patched(person.properties, patch);
  if (properties !== person.properties) {
    desk.people.update({ ...person, properties, version: person.version + 1 });
  }
  return person.uuid;
}

function mergePersons(desk: Desk, project: number, item: Item, wish: MergeWish, facts: EventFacts): string {
  const { other, into, forced } = wish;
  if (other === into) return updatePerson(desk, project, item);
  if (isIllegalForMerge(other) || isIllegalForMerge(into)) {
    warn(facts, "cannot_merge_with_illegal_distinct_id");
    facts.detail = `${other} into ${into}`;
    return updatePerson(desk, project, item);
  }
  const { person, refused } = applyMerge(desk.people, {
    project,
    other,
    into,
    forced,
    subject: item.distinct_id,
    time: item.time,
    patch: patchOf(item),
  });
  if (refused) {
    warn(facts, "cannot_merge_already_identified");
    facts.detail = `${other} into ${into}`;
  }
  return person.uuid;
}

/**
 * Finds, makes, merges or updates the event's person and notes it in the facts.
 * Upstream person-merge-service.ts, person-event-processor.ts, person-property-service.ts.
 */
export function settlePerson(
  desk: Desk,
  project: number,
  item: Item,
  wish: MergeWish | undefined,
  facts: EventFacts,
): void {
  const { processPerson } = item;
  if (processPerson === false || item.placeholder) {
    passPersonless(desk, project, item, facts);
    return;
  }
  if (processPerson === true) facts.strips = ["$process_person_profile"];
  else if (processPerson !== undefined) warn(facts, "invalid_process_person_profile");
  facts.person =
    wish === undefined ? updatePerson(desk, project, item) : mergePersons(desk, project, item, wish, facts);
}
