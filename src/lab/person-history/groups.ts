import { isDeepStrictEqual } from "node:util";
import { isoOf } from "../../kernel/base/clock.ts";
import { SimError } from "../../kernel/base/errors.ts";
import { isObject, type JsonObject } from "../../kernel/base/json.ts";
import { containsText } from "../../kernel/base/wildcard.ts";
import { groupPatched } from "../../service/capture/person-properties.ts";
import type { StoredEvent } from "../../state/journal/event.ts";
import { type Group, groupKeyText } from "../../state/persons/person.ts";
import type { PersonStore } from "../../state/persons/person-store.ts";
import { changesBetween, historiesOf } from "./changes.ts";
import { type PersonPorts, projectsOf, showGroup, showShort } from "./persons.ts";
import type { Gap, GroupDetails, GroupStep, Origin, ShortEvent } from "./shapes.ts";
import { eventsWithin, taken } from "./walk.ts";

/** `$groupidentify` events of a project that are examined, of all its groups. */
const mostIdentified = 5_000;
const mostSearched = 5_000;

/** True for groups whose key, type or name contains the text; case-insensitive. */
export function groupSearch(people: PersonStore, search: string): (group: Group) => boolean {
  const part = search.toLowerCase();
  const has = (value: unknown): boolean => typeof value === "string" && containsText(value.toLowerCase(), part);
  return ({ project, type, key, properties }) =>
    has(key) || has(people.groupTypes(project)[type]) || has(properties.name);
}

/** Index of a group type by name or number; -1 if the project does not have it. */
function typeIndex(people: PersonStore, project: number, type: string): number {
  const names = people.groupTypes(project);
  const index = names.indexOf(type);
  return index === -1 && /^[0-4]$/.test(type) && Number(type) < names.length ? Number(type) : index;
}

/**
 * The group with a type (name or index) and key; without a project the first one that has such a group.
 * @throws SimError not_found
 */
export function groupNamed(ports: PersonPorts, type: string, key: string, project: number | undefined): Group {
  const projects = projectsOf(ports, project);
  for (const id of projects) {
    const group = ports.people.group(id, typeIndex(ports.people, id, type), key);
    if (group) return group;
  }
  const known = [...new Set(projects.flatMap((id) => ports.people.groupTypes(id)))];
  const hint = known.length > 0 ? `known types: ${known.join(", ")}` : "no $groupidentify event has arrived";
  throw new SimError("not_found", `there is no group "${key}" of the type "${type}"`, { hint });
}

const gaps = {
  too_many_events: `only the newest ${mostIdentified} $groupidentify events of the project were examined`,
  events_lost: "earlier events were cleared, or removed from memory: their effects are unknown",
  changed_elsewhere: "something other than these events changed the group: the scenario, or the management API",
} as const;

/** Oldest first. */
function stepsOf(events: readonly StoredEvent[], beginning: JsonObject | undefined): GroupStep[] {
  let properties = beginning;
  return events.map((event) => {
    const { $group_set } = event.properties;
    const was = properties ?? {};
    const set = isObject($group_set) ? $group_set : {};
    const after = groupPatched(was, set);
    const created = properties === undefined;
    properties = after;
    return { event: showShort(event), created, changes: changesBetween(was, after, event.properties), after };
  });
}

const endsAs = (steps: readonly GroupStep[], group: Group): boolean => {
  const end = steps.at(-1)?.after;
  return end !== undefined && isDeepStrictEqual(end, group.properties);
};

interface Explanation {
  readonly origin: Origin;
  readonly steps: readonly GroupStep[];
}

function explain(ports: PersonPorts, group: Group, events: readonly StoredEvent[]): Explanation {
  const seed = ports.authored
    .people()
    .groups.find((it) => it.project === group.project && it.type === group.type && it.key === group.key);
  const seeded = seed ? stepsOf(events, seed.properties) : [];
  if (seed && (endsAs(seeded, group) || isDeepStrictEqual(seed.properties, group.properties)))
    return { origin: "scenario", steps: seeded };
  const steps = stepsOf(events, undefined);
  const isWhole = endsAs(steps, group) && steps[0]?.event.timestamp === isoOf(group.created_at);
  return { origin: isWhole ? "event" : "unknown", steps };
}

function gapsOf(ports: PersonPorts, group: Group, { origin }: Explanation, isAll: boolean): Gap[] {
  const reasons: (keyof typeof gaps)[] = [];
  if (!isAll) reasons.push("too_many_events");
  else if (origin === "unknown") reasons.push(ports.log.lost(1, group.project) ? "events_lost" : "changed_elsewhere");
  return reasons.map((reason) => ({ reason, sentence: gaps[reason] }));
}

/** The newest; `isAll`: all of the project were examined. */
async function identifying(ports: PersonPorts, group: Group) {
  const { project, type, key } = group;
  const name = ports.people.groupTypes(project)[type];
  const filter = { project, event: "$groupidentify", outcome: "kept" } as const;
  const all = await taken(eventsWithin(ports.log, filter, mostIdentified + 1), mostIdentified + 1);
  const events = all
    .slice(0, mostIdentified)
    .filter(({ properties: it }) => it.$group_type === name && groupKeyText(it.$group_key) === key);
  return { events, isAll: all.length <= mostIdentified };
}

async function recentOf(ports: PersonPorts, { project, type, key }: Group, limit: number) {
  const place = `$group_${type}`;
  const found: ShortEvent[] = [];
  let searched = 0;
  for await (const event of eventsWithin(ports.log, { project, outcome: "kept" }, mostSearched)) {
    searched++;
    if (groupKeyText(event.properties[place]) === key) found.push(showShort(event));
    if (found.length === limit) break;
  }
  return { events: found, searched };
}

export async function groupDetails(ports: PersonPorts, group: Group, limit: number): Promise<GroupDetails> {
  const { events, isAll } = await identifying(ports, group);
  const explained = explain(ports, group, [...events].reverse());
  return {
    ...showGroup(ports.people, group),
    origin: explained.origin,
    gaps: gapsOf(ports, group, explained, isAll),
    history: [...explained.steps].reverse(),
    values: historiesOf(explained.steps),
    ...(await recentOf(ports, group, limit)),
  };
}
