import { createHash } from "node:crypto";
import { isIP } from "node:net";
import { type Ids, uuidV7 } from "../../kernel/base/ids.ts";
import type { Json } from "../../kernel/base/json.ts";
import { getOrMake, RecentMap } from "../../kernel/base/recent-map.ts";
import type { StoredProject } from "../../state/documents/world.ts";
import type { DropReason } from "../../state/journal/drop-reasons.ts";
import type { EventFacts } from "../../state/journal/event.ts";
import { personProperties } from "../../state/journal/person-fields.ts";
import { ipOf } from "../../state/journal/places.ts";
import type { Item } from "./item.ts";

/** The distinct id that SDKs send for a visitor without cookies. */
const anyVisitor = "$posthog_cookieless";

/** Values of a project's `cookieless_server_hash_mode`. */
const mode = { stateless: 1, stateful: 2 } as const;

/** Silence after which a visitor's next event starts a session, ms. */
const sessionPause = 30 * 60_000;

/** Visitors that are remembered; their ids are the same afterwards, but sessions and logins begin anew. */
const mostVisitors = 10_000;

interface Visit {
  session: string;
  /** Time of the last event, ms since the epoch. */
  last: number;
}

export interface Visitors {
  /** The uuids of the `$identify` events of each device. */
  readonly logins: Map<string, Set<string>>;
  readonly visits: Map<string, Visit>;
}

export const createVisitors = (): Visitors => ({
  logins: new RecentMap(mostVisitors),
  visits: new RecentMap(mostVisitors),
});

/** The registered part of a host, with its port: by the number of labels, without the list of public suffixes. */
function rootDomain(host: string): string {
  if (isIP(host) === 6) return `[${host}]`;
  const url = URL.parse?.(host.includes("://") ? host : `http://${host}`);
  if (!url) return host;
  const { hostname, port } = url;
  const labels = hostname.split(".");
  const isCountry = labels.at(-1)?.length === 2 && (labels.at(-2)?.length ?? 9) <= 3;
  const root = isIP(hostname) ? hostname : labels.slice(isCountry ? -3 : -2).join(".");
  const domain = root === "localhost" ? "127.0.0.1" : root;
  return port === "" ? domain : `${domain}:${port}`;
}

/** The day of a time in the first of the time zones that exists: `2026-11-27`. */
function dayIn(time: number, zones: readonly (Json | undefined)[]): string {
  for (const zone of zones) {
    if (typeof zone !== "string" || zone === "") continue;
    try {
      return new Intl.DateTimeFormat("en-CA", { timeZone: zone, dateStyle: "short" }).format(time);
    } catch {
      // an unknown zone
    }
  }
  return new Date(time).toISOString().slice(0, 10);
}

const hashed = (parts: readonly Json[]): Buffer =>
  createHash("sha256").update(JSON.stringify(parts)).digest().subarray(0, 16);

const coded = (hash: Buffer): string => hash.toString("base64").replace(/=+$/, "");

const present = (value: Json | undefined): value is Json => value !== undefined && value !== null && value !== "";

/** Properties that the hash is made of; they are not kept. */
const personal = ["$ip", "$raw_user_agent", "$cookieless_extra"];

function refusedIn(item: Item, setting: Json | undefined): DropReason | undefined {
  if (item.event === "$create_alias" || item.event === "$merge_dangerously") return "cookieless_disallowed_event";
  if (item.event === "$identify" && setting === mode.stateless) return "cookieless_stateless_disallowed_identify";
  return setting === mode.stateless || setting === mode.stateful ? undefined : "cookieless_team_disabled";
}

/**
 * Gives an event without cookies the id of its visitor, which is a hash of the day, the address and the browser, and
 * takes the personal properties from it. Upstream cookieless-manager.ts; the salt of a day is not random here, so
 * that ids are the same in each run. @returns why the event is dropped
 * @param address where the request came from
 */
export function settleVisitor(
  { visitors: { logins, visits }, ids }: { readonly visitors: Visitors; readonly ids: Ids },
  project: StoredProject,
  item: Item,
  address: string,
): DropReason | undefined {
  if (!item.isCookieless) return undefined;
  const setting = project.settings.cookieless_server_hash_mode;
  const refused = refusedIn(item, setting);
  if (refused) return refused;
  const { $raw_user_agent: agent, $host: host, $cookieless_extra: extra, $timezone: zone } = item.properties;
  const ip = ipOf(item.properties, address);
  if (!present(agent)) return "cookieless_missing_ua";
  if (!present(ip)) return "cookieless_missing_ip";
  if (!present(host)) return "cookieless_missing_host";
  const day = dayIn(item.time, [zone, project.timezone]);
  const base = [day, project.id, ip, rootDomain(String(host)), agent, present(extra) ? extra : ""];
  const device = hashed([...base, 0]);
  const adds: NonNullable<EventFacts["adds"]> = { $device_id: `cookielessd_${coded(device)}` };
  if (setting === mode.stateless) {
    item.distinct_id = `cookieless_${coded(device)}`;
    adds.$distinct_id = item.distinct_id;
    let at = 0;
    adds.$session_id = uuidV7(Date.parse(`${day}T00:00:00Z`), () => (device[at++] ?? 0) / 256);
  } else {
    const known = getOrMake(logins, coded(device), () => new Set<string>());
    if (item.event === "$identify") known.add(item.uuid ?? "");
    const isNamed = item.event === "$identify" || item.distinct_id !== anyVisitor;
    const hash = coded(hashed([...base, Math.max(0, isNamed ? known.size - 1 : known.size)]));
    if (item.event === "$identify") adds.$anon_distinct_id = `cookieless_${hash}`;
    else if (!isNamed) item.distinct_id = `cookieless_${hash}`;
    adds.$session_id = sessionOf(visits, hash, item.time, ids);
  }
  item.hasOwnId = true;
  keepWithout(item, adds);
  return undefined;
}

function sessionOf(visits: Visitors["visits"], hash: string, time: number, ids: Ids): string {
  const fresh = (): Visit => ({ session: ids.uuid(), last: time });
  const known = getOrMake(visits, hash, fresh);
  const visit = time - known.last > sessionPause ? fresh() : known;
  visit.last = time;
  visits.set(hash, visit);
  return visit.session;
}

/** The item without its personal properties, and with what was found; the same for what the event sets of its person. */
function keepWithout(item: Item, adds: NonNullable<EventFacts["adds"]>): void {
  item.properties = without({ ...item.properties, ...adds }, personal);
  const { set, setOnce } = personProperties(item);
  item.strips = [...(item.strips ?? []), ...personal, ...(set ? [] : ["$set"]), ...(setOnce ? [] : ["$set_once"])];
  item.adds = { ...item.adds, ...adds, ...(set && { $set: set }), ...(setOnce && { $set_once: setOnce }) };
}

const without = <T extends object>(object: T, names: readonly string[]): T =>
  Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name))) as T;
