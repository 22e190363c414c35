import { isDeepStrictEqual } from "node:util";
import { patched } from "../../ingest/person-properties.ts";
import { SimError } from "../../kernel/errors.ts";
import { isObject, type Json, type JsonObject } from "../../kernel/json.ts";
import type { StoredEvent } from "../../model/event.ts";
import type { Group } from "../../model/person.ts";
import type { ControlDesk } from "../desk.ts";
import { changesBetween, historiesOf } from "./changes.ts";
import { type PropertyChange, type ShortEvent, showGroup, showShort } from "./show.ts";
import { eventsWithin, taken } from "./walk.ts";

/** `$groupidentify` events of a project that are looked at, whichever group they are of. */
const mostIdentified = 5_000;
/** So many of a project's newest events are searched for those of a group. */
const mostSearched = 5_000;

const keyText = (value: Json | undefined): string =>
  value === undefined || value === null ? "" : typeof value === "string" ? value : JSON.stringify(value);

/** Does the group's key, type or a text among its properties contain the text? Case does not matter. */
export function groupSearch(desk: ControlDesk, search: string): (group: Group) => boolean {
  const part = search.toLowerCase();
  const has = (value: unknown): boolean => typeof value === "string" && value.toLowerCase().includes(part);
  return ({ project, type, key, properties }) =>
    has(key) || has(desk.people.groupTypes(project)[type]) || has(properties.name);
}

/** Index of a group type by its name or its number, -1 when the project has none. */
function typeIndex(desk: ControlDesk, project: number, type: string): number {
  const names = desk.people.groupTypes(project);
  const index = names.indexOf(type);
  return index === -1 && /^[0-4]$/.test(type) && Number(type) < names.length ? Number(type) : index;
}

/**
 * By type (name or index) and key; the first project that knows it, unless one is named.
 * @throws SimError not_found
 */
export function groupNamed(desk: ControlDesk, type: string, key: string, project: number | undefined): Group {
  const projects = project === undefined ? desk.worlds.current.projects.map((it) => it.id) : [project];
  for (const id of projects) {
    const group = desk.people.group(id, typeIndex(desk, id, type), key);
    if (group) return group;
  }
  const known = [...new Set(projects.flatMap((id) => desk.people.groupTypes(id)))];
  const hint = known.length > 0 ? `known types: ${known.join(", ")}` : "no $groupidentify event has come yet";
  throw new SimError("not_found", `there is no group "${key}" of the type "${type}"`, { hint });
}

const gaps = {
  too_many_events: `only the newest ${mostIdentified} $groupidentify events of the project were looked at`,
  events_lost: "earlier events were cleared, or pushed out of memory: what they did is not known",
  changed_elsewhere: "something besides these events changed the group: the scenario, or the management API",
} as const;

interface GroupStep {
  readonly event: ShortEvent;
  /** The group was made by it. */
  readonly created: boolean;
  readonly changes: readonly PropertyChange[];
  readonly after: JsonObject;
}

/** Plays `$groupidentify` events again, oldest first. */
function stepsOf(events: readonly StoredEvent[], beginning: JsonObject | undefined): GroupStep[] {
  let properties = beginning;
  return events.map((event) => {
    const { $group_set } = event.properties;
    const was = properties ?? {};
    const set = isObject($group_set) ? $group_set : {};
    const after = patched(was, { set, setOnce: {}, unset: [] });
    const created = properties === undefined;
    properties = after;
    return { event: showShort(event), created, changes: changesBetween(was, after, event.properties), after };
  });
}

const endsAs = (steps: readonly GroupStep[], group: Group): boolean => {
  const end = steps.at(-1)?.after;
  return end !== undefined && isDeepStrictEqual(end, group.properties);
};

interface Told {
  readonly origin: "event" | "scenario" | "unknown";
  readonly steps: readonly GroupStep[];
}

function tell(desk: ControlDesk, group: Group, events: readonly StoredEvent[]): Told {
  const seed = desk
    .scenarioPeople()
    .groups.find((it) => it.project === group.project && it.type === group.type && it.key === group.key);
  const seeded = seed ? stepsOf(events, seed.properties) : [];
  if (seed && (endsAs(seeded, group) || isDeepStrictEqual(seed.properties, group.properties)))
    return { origin: "scenario", steps: seeded };
  const steps = stepsOf(events, undefined);
  const isWhole =
    endsAs(steps, group) && steps[0]?.event.timestamp === new Date(group.created_at).toISOString();
  return { origin: isWhole ? "event" : "unknown", steps };
}

function gapsOf(desk: ControlDesk, group: Group, { origin }: Told, isAll: boolean) {
  const reasons: (keyof typeof gaps)[] = [];
  if (!isAll) reasons.push("too_many_events");
  else if (origin === "unknown")
    reasons.push(desk.log.lost(1, group.project) ? "events_lost" : "changed_elsewhere");
  return reasons.map((reason) => ({ reason, sentence: gaps[reason] }));
}

/** Newest `$groupidentify` events of the group, and whether all of the project were looked at. */
async function identifying(desk: ControlDesk, group: Group) {
  const { project, type, key } = group;
  const name = desk.people.groupTypes(project)[type];
  const filter = { project, event: "$groupidentify", outcome: "kept" } as const;
  const all = await taken(eventsWithin(desk.log, filter, mostIdentified + 1), mostIdentified + 1);
  const events = all
    .slice(0, mostIdentified)
    .filter(({ properties: it }) => it.$group_type === name && keyText(it.$group_key) === key);
  return { events, isAll: all.length <= mostIdentified };
}

/** Recent events that were sent for the group. */
async function recentOf(desk: ControlDesk, { project, type, key }: Group, limit: number) {
  const place = `$group_${type}`;
  const found: ShortEvent[] = [];
  let searched = 0;
  for await (const event of eventsWithin(desk.log, { project, outcome: "kept" }, mostSearched)) {
    searched++;
    if (keyText(event.properties[place]) === key) found.push(showShort(event));
    if (found.length === limit) break;
  }
  return { events: found, searched };
}

/** A group with what `$groupidentify` did to it, and its recent events. */
export async function groupDetails(desk: ControlDesk, group: Group, limit: number) {
  const { events, isAll } = await identifying(desk, group);
  const told = tell(desk, group, [...events].reverse());
  return {
    ...showGroup(desk, group),
    origin: told.origin,
    gaps: gapsOf(desk, group, told, isAll),
    history: [...told.steps].reverse(),
    values: historiesOf(told.steps),
    ...(await recentOf(desk, group, limit)),
  };
}
