import { isObject, type JsonObject } from "../../kernel/base/json.ts";
import type { EventFacts } from "../../state/journal/event.ts";
import { outsideEvents } from "../../state/journal/items.ts";
import { groupKeyText, maxGroupTypes, type Person, personUuid } from "../../state/persons/person.ts";
import type { PersonData } from "../../state/persons/person-data.ts";
import type { Desk } from "./desk.ts";
import { type Item, warn } from "./item.ts";
import { applyMerge, type MergedIds } from "./merge.ts";
import { isIllegalForMerge } from "./person-ids.ts";
import { firstProperties, groupPatched, type Patch, patched, patchOf, personFieldsOf } from "./person-properties.ts";

function strip(facts: EventFacts, names: readonly string[]): void {
  if (names.length > 0) facts.strips = [...(facts.strips ?? []), ...names];
}

/** The event is kept elsewhere than in the table of events, and concerns no person. */
function passOutside(desk: Desk, project: number, item: Item, facts: EventFacts): void {
  facts.person = desk.people.personOf(project, item.distinct_id)?.uuid ?? personUuid(project, item.distinct_id);
  facts.mode = "propertyless";
  strip(facts, personFieldsOf(item));
}

/** A personless event this long after the creation of its person counts as a full one, ms. */
const upgradeAfter = 60_000;

/** The event gets the id of its person, and neither creates nor changes one. */
function passPersonless(desk: Desk, project: number, item: Item, facts: EventFacts): void {
  const { people } = desk;
  const person = people.personOf(project, item.distinct_id);
  strip(facts, personFieldsOf(item));
  facts.person = person?.uuid ?? personUuid(project, item.distinct_id);
  if (person !== undefined && item.time > person.created_at + upgradeAfter) return;
  facts.mode = "propertyless";
  if (person === undefined && !people.isPersonless(project, item.distinct_id)) {
    people.rememberPersonless(project, item.distinct_id);
  }
}

function createPerson(desk: Desk, project: number, item: Item, patch: Patch | undefined, event: string | null): Person {
  const person: Person = {
    project,
    uuid: personUuid(project, item.distinct_id),
    created_at: item.time,
    is_identified: false,
    version: 0,
    properties: firstProperties(patch, event),
  };
  desk.people.create(person, [item.distinct_id]);
  return person;
}

/** Creates or updates the person of the event's id. @returns its uuid */
function updatePerson(desk: Desk, project: number, item: Item, { uuid }: EventFacts): string {
  const patch = patchOf(item);
  const person = desk.people.personOf(project, item.distinct_id);
  if (person === undefined) return createPerson(desk, project, item, patch, uuid).uuid;
  const properties = patched(person.properties, patch);
  if (properties !== person.properties) {
    desk.people.update({ ...person, properties, version: person.version + 1 });
  }
  return person.uuid;
}

function mergePersons(desk: Desk, project: number, item: Item, ids: MergedIds, facts: EventFacts): string {
  const { other, into, forced } = ids;
  if (other === into) return updatePerson(desk, project, item, facts);
  if (isIllegalForMerge(other) || isIllegalForMerge(into)) {
    warn(facts, "cannot_merge_with_illegal_distinct_id");
    facts.detail = `${other} into ${into}`;
    return updatePerson(desk, project, item, facts);
  }
  const { person, refused } = applyMerge(desk.people, {
    project,
    other,
    into,
    forced,
    subject: item.distinct_id,
    time: item.time,
    patch: patchOf(item),
    event: facts.uuid,
  });
  if (refused) {
    warn(facts, "cannot_merge_already_identified");
    facts.detail = `${other} into ${into}`;
  }
  return person.uuid;
}

/** Finds, creates, merges or updates the event's person. Upstream person-merge-service, person-event-processor. */
export function settlePerson(
  desk: Desk,
  project: number,
  item: Item,
  ids: MergedIds | undefined,
  facts: EventFacts,
): void {
  const { processPerson } = item;
  if (outsideEvents.has(item.event)) {
    passOutside(desk, project, item, facts);
    return;
  }
  if (processPerson === false || item.placeholder) {
    passPersonless(desk, project, item, facts);
    return;
  }
  if (processPerson === true) strip(facts, ["$process_person_profile"]);
  else if (processPerson !== undefined) warn(facts, "invalid_process_person_profile");
  facts.person =
    ids === undefined ? updatePerson(desk, project, item, facts) : mergePersons(desk, project, item, ids, facts);
}

/** A type's index, assigned on first use; undefined if the project already has five others. */
function typeIndex(people: PersonData, project: number, name: string): number | undefined {
  const names = people.groupTypes(project);
  const index = names.indexOf(name);
  if (index !== -1) return index;
  if (names.length >= maxGroupTypes) return undefined;
  const next = names.length;
  people.addGroupType(project, name);
  return next;
}

/** `$groups` of any event: adds the keys to the facts by the types' indexes. It creates no group. */
function noteGroups(people: PersonData, project: number, groups: JsonObject, facts: EventFacts): void {
  for (const name in groups) {
    const key = groupKeyText(groups[name]);
    if (key === "") continue;
    const index = typeIndex(people, project, name);
    if (index === undefined) {
      warn(facts, "group_type_limit_reached");
    } else {
      facts.groups ??= {};
      facts.groups[index] = key;
    }
  }
}

/** `$groupidentify`: creates the group, or updates its properties with `$group_set`. */
function identifyGroup(people: PersonData, project: number, item: Item, facts: EventFacts): void {
  const { $group_type: name, $group_key, $group_set } = item.properties;
  const key = groupKeyText($group_key);
  strip(facts, personFieldsOf(item));
  if (typeof name !== "string" || name === "" || key === "") {
    warn(facts, "missing_group_identity");
    return;
  }
  const type = typeIndex(people, project, name);
  if (type === undefined) {
    warn(facts, "group_type_limit_reached");
    return;
  }
  const group = people.group(project, type, key);
  const set = isObject($group_set) ? $group_set : {};
  const properties = groupPatched(group?.properties ?? {}, set);
  if (group !== undefined && properties === group.properties) return;
  people.saveGroup({ project, type, key, created_at: group?.created_at ?? item.time, properties });
}

/** Adds the event's groups to the facts, and updates them. Upstream process-event.ts and groups.ts, `addGroupProperties`. */
export function settleGroups(people: PersonData, project: number, item: Item, facts: EventFacts): void {
  const { $groups } = item.properties;
  if (isObject($groups)) noteGroups(people, project, $groups, facts);
  else if ($groups !== undefined && $groups !== null) warn(facts, "malformed_groups");
  if (item.event === "$groupidentify") identifyGroup(people, project, item, facts);
}
