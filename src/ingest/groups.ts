import { isObject, type Json, type JsonObject } from "../kernel/json.ts";
import type { EventFacts } from "../model/event.ts";
import type { People } from "../model/people.ts";
import { maxGroupTypes } from "../model/person.ts";
import { type Item, warn } from "./item.ts";
import { patched, personFieldsOf } from "./person-properties.ts";

/** A type's index, given at first sight; undefined when the project has five others already. */
function typeIndex(people: People, project: number, name: string): number | undefined {
  const names = people.groupTypes(project);
  const index = names.indexOf(name);
  if (index !== -1) return index;
  if (names.length >= maxGroupTypes) return undefined;
  const next = names.length;
  people.addGroupType(project, name);
  return next;
}

const keyText = (value: Json | undefined): string => {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
};

/** `$groups` of any event: notes the key under the type's index. It makes no group. */
function noteGroups(people: People, project: number, groups: JsonObject, facts: EventFacts): void {
  for (const name in groups) {
    const key = keyText(groups[name]);
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

/** `$groupidentify`: makes the group, or lays `$group_set` over what it has. */
function identifyGroup(people: People, project: number, item: Item, facts: EventFacts): void {
  const { $group_type: name, $group_key, $group_set } = item.properties;
  const key = keyText($group_key);
  const strips = personFieldsOf(item);
  if (strips.length > 0) facts.strips = [...(facts.strips ?? []), ...strips];
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
  const properties = patched(group?.properties ?? {}, { set, setOnce: {}, unset: [] });
  if (group !== undefined && properties === group.properties) return;
  people.saveGroup({ project, type, key, created_at: group?.created_at ?? item.time, properties });
}

/** Notes the event's groups and brings them up to date. Upstream process-event.ts. */
export function settleGroups(people: People, project: number, item: Item, facts: EventFacts): void {
  const { $groups } = item.properties;
  if (isObject($groups)) noteGroups(people, project, $groups, facts);
  if (item.event === "$groupidentify") identifyGroup(people, project, item, facts);
}
