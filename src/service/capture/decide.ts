import type { JsonObject } from "../../kernel/base/json.ts";
import { itemsPerStep, type Work } from "../../kernel/base/work.ts";
import { clientAddress } from "../../kernel/http/client-address.ts";
import type { StoredProject } from "../../state/documents/world.ts";
import type { DropReason } from "../../state/journal/drop-reasons.ts";
import type { EventFacts } from "../../state/journal/event.ts";
import { type GeoPlace, ipOf, type Places } from "../../state/journal/places.ts";
import type { Desk } from "./desk.ts";
import { chainOf } from "./elements.ts";
import type { Item } from "./item.ts";
import { type SpecialEvent, specialEvents } from "./merge.ts";
import { isUsedUp, type Packet } from "./packet.ts";
import { settleGroups, settlePerson } from "./persons.ts";
import { settleVisitor } from "./visitors.ts";

type PlaceFinder = (properties: JsonObject) => GeoPlace | undefined;

/** The service's sample place of 127.0.0.1 is for its own developers: loopback has none here. Upstream geoip.template. */
function placeFinder(places: Places, { headers, peer }: Pick<Packet, "headers" | "peer">): PlaceFinder | undefined {
  if (places.isEmpty) return undefined;
  const address = clientAddress((name) => headers[name], peer);
  return (properties) => {
    if (properties.$geoip_disable) return undefined;
    const ip = ipOf(properties, address);
    return typeof ip === "string" ? places.placeOf(ip) : undefined;
  };
}

const without = (item: Item, name: string): void => {
  item.strips = [...(item.strips ?? []), name];
};

/** Old SDKs send elements as a list, which the service keeps as text. */
function joinElements(item: Item): void {
  const { $elements, $elements_chain } = item.properties;
  if ($elements === undefined) return;
  without(item, "$elements");
  if (!$elements_chain) item.adds = { ...item.adds, $elements_chain: chainOf($elements) };
}

/** What the service adds to an event, or does not keep. Upstream extract-heatmap-data, prepare-event, create-event. */
function settleProperties(item: Item, { settings }: StoredProject): void {
  joinElements(item);
  // of `$$heatmap` itself they are all there is to see
  if (item.event !== "$$heatmap" && item.properties.$heatmap_data !== undefined) without(item, "$heatmap_data");
  if (settings.anonymize_ips === true) without(item, "$ip");
}

/** Uuids of earlier kept events of the request; undefined for a single event. */
type Earlier = Set<string> | undefined;

function isRepeated(desk: Desk, project: number, { uuid }: Item, earlier: Earlier): boolean {
  if (uuid === null) return false;
  if (earlier?.has(uuid) === true || desk.seen(project, uuid)) return true;
  for (const other of desk.underway.values()) if (other.project === project && other.uuids.has(uuid)) return true;
  return false;
}

function dropReason(
  desk: Desk,
  project: number | null,
  item: Item,
  special: SpecialEvent | undefined,
  earlier: Earlier,
  isOverQuota: boolean,
): DropReason | undefined {
  if (item.dropped !== undefined) return item.dropped;
  if (project === null) return "unknown_project_key";
  if (isOverQuota) return "over_quota";
  if (isRepeated(desk, project, item, earlier)) return "duplicate_event_uuid";
  return special?.refuse(item);
}

function droppedFacts(item: Item, dropped: DropReason): EventFacts {
  const facts: EventFacts = { uuid: item.uuid, time: item.time, person: null, dropped };
  if (item.hasOwnId) facts.id = item.distinct_id;
  if (item.detail !== undefined) facts.detail = item.detail;
  if (item.warnings !== undefined) facts.warnings = item.warnings;
  return facts;
}

function keptFacts(desk: Desk, project: number, item: Item, special: SpecialEvent | undefined): EventFacts {
  const facts: EventFacts = { uuid: item.uuid ?? desk.ids.uuid(), time: item.time, person: null };
  if (item.warnings !== undefined) facts.warnings = item.warnings;
  if (item.place !== undefined) facts.place = item.place;
  if (item.hasOwnId) facts.id = item.distinct_id;
  if (item.adds !== undefined) facts.adds = item.adds;
  if (item.strips !== undefined) facts.strips = [...item.strips];
  settlePerson(desk, project, item, special?.merge?.(item, desk.dialect), facts);
  if (item.properties.$groups !== undefined || item.event === "$groupidentify") {
    settleGroups(desk.people, project, item, facts);
  }
  return facts;
}

type Sender = Pick<Packet, "headers" | "peer" | "fault">;

/**
 * Keeps or drops each item in order, with all effects on persons and groups. @returns the facts of each item
 * @param project null if no project has the key
 */
export function* decideItems(
  desk: Desk,
  project: number | null,
  items: readonly Item[],
  sender: Sender,
): Work<EventFacts[]> {
  const placeOf = placeFinder(desk.geoip, sender);
  const earlier: Earlier = items.length > 1 ? new Set() : undefined;
  // the journal removes it once it has the events
  if (earlier && items.length > itemsPerStep) desk.underway.set(items, { project, uuids: earlier });
  const address = clientAddress((name) => sender.headers[name], sender.peer);
  const stored = project === null ? undefined : desk.worlds.projectById(project);
  const isOverQuota = isUsedUp(sender, "events");
  const shared: Shared = { project, stored, address, earlier, placeOf, isOverQuota };
  const events: EventFacts[] = [];
  for (const item of items) {
    if (events.length % itemsPerStep === itemsPerStep - 1) yield;
    events.push(decide(desk, item, shared));
  }
  return events;
}

interface Shared {
  project: number | null;
  stored: StoredProject | undefined;
  address: string;
  earlier: Earlier;
  placeOf: PlaceFinder | undefined;
  isOverQuota: boolean;
}

function decide(
  desk: Desk,
  item: Item,
  { project, stored, address, earlier, placeOf, isOverQuota }: Shared,
): EventFacts {
  const special = specialEvents.get(item.event);
  const dropped = dropReason(desk, project, item, special, earlier, isOverQuota);
  if (dropped !== undefined || project === null) return droppedFacts(item, dropped ?? "unknown_project_key");
  if (placeOf !== undefined) item.place = placeOf(item.properties);
  if (stored !== undefined) {
    settleProperties(item, stored);
    const refused = settleVisitor(desk, stored, item, address);
    if (refused !== undefined) return droppedFacts(item, refused);
  }
  if (item.uuid !== null) earlier?.add(item.uuid);
  return keptFacts(desk, project, item, special);
}
