import { groupedBy } from "../../kernel/base/grouped-by.ts";
import { isObject, type Json, type JsonObject } from "../../kernel/base/json.ts";
import { getOrMake } from "../../kernel/base/recent-map.ts";
import { compareText } from "../../kernel/base/text.ts";
import { answered } from "../../service/flags/decision-lines.ts";
import { type EventKind, eventKind } from "../../state/journal/event-kinds.ts";
import { isSdkProperty } from "../../state/journal/sdk-properties.ts";
import { hasOwnUuid, showEvent } from "../../state/journal/show.ts";
import type { StoredEvent } from "../../state/journal/stored-event.ts";
import type { TrafficLine } from "../../state/journal/traffic.ts";
import {
  distinctOrders,
  type Occurrence,
  oneRecord,
  type RecordOptions,
  steadyName,
  type TestRecord,
  typeText,
} from "./record.ts";

/** Limits of one test: event names, properties of an event, steps of a user. */
const mostNames = 1_000;
const mostProperties = 300;
const mostSteps = 10_000;
const longestOrder = 100;

interface Seen {
  count: number;
  readonly properties: Map<string, { count: number; readonly types: Set<string> }>;
}

interface Step {
  readonly name: string;
  readonly seq: number;
  /** Sorts a client's events by the time of their capture; "" if the client sent no such id. */
  readonly uuid: string;
}

interface Received {
  readonly events: Map<string, Seen>;
  readonly identity: Map<string, Seen>;
  readonly flags: Set<string>;
  /** By client and user: the order of one client's events does not depend on others. */
  readonly steps: Map<string, Step[]>;
  /** Anonymous ids, and the ids that they became, as keys of `steps`. */
  readonly became: Map<string, string>;
}

/** Events of these kinds are the app's, or show what it does; the rest is the SDKs' business. */
const listedKinds: ReadonlySet<EventKind> = new Set(["own", "survey", "page", "exception", "ai"]);
/** Sent while a page closes, and often lost. */
const unsteady: ReadonlySet<string> = new Set(["$pageleave"]);

/** The SDKs' calls that decide whose events are whose, by the events that they send. */
const calls: Readonly<Record<string, string>> = {
  $identify: "identify",
  $create_alias: "alias",
  $merge_dangerously: "merge",
  $set: "set",
};

function callOf({ event, properties }: StoredEvent): string | undefined {
  if (event === "$groupidentify") return `group ${steadyName(String(properties.$group_type))}`;
  return Object.hasOwn(calls, event) ? calls[event] : undefined;
}

const isListed = (event: string, { sdk }: RecordOptions): boolean =>
  sdk || (listedKinds.has(eventKind(event)) && !unsteady.has(event));

function typeOf(value: Json): string {
  if (value === null) return "null";
  if (!Array.isArray(value)) return typeof value;
  const items = typeText(value.map(typeOf), false);
  return items.includes("|") ? `(${items})[]` : `${items}[]`;
}

const spread = ["$set", "$set_once", "$groups"];

const entriesOf = (value: Json | undefined): [string, Json][] => (isObject(value) ? Object.entries(value) : []);

function propertiesOf({ properties }: StoredEvent, { sdk }: RecordOptions): [string, Json][] {
  const isOwn = ([name]: [string, Json]): boolean => sdk || !isSdkProperty(name);
  const inner = spread.flatMap((name) =>
    entriesOf(properties[name])
      .filter(isOwn)
      .map(([key, value]): [string, Json] => [`${name}.${key}`, value]),
  );
  const outer = Object.entries(properties).filter((it) => isOwn(it) && !spread.includes(it[0]));
  return [...outer, ...inner];
}

function callProperties(properties: JsonObject, { sdk }: RecordOptions): [string, Json][] {
  const { $set, $set_once: once, $group_set: ofGroup } = properties;
  return [$set, once, ofGroup].flatMap(entriesOf).filter(([name]) => sdk || !isSdkProperty(name));
}

function count(seen: Map<string, Seen>, name: string, properties: readonly [string, Json][]): void {
  const known = seen.get(name) ?? { count: 0, properties: new Map() };
  if (known.count === 0 && seen.size >= mostNames) return;
  seen.set(name, known);
  known.count++;
  const types = new Map<string, Set<string>>();
  for (const [key, value] of properties) {
    const steady = steadyName(key);
    types.set(steady, (types.get(steady) ?? new Set()).add(typeOf(value)));
  }
  for (const [key, own] of types) {
    const property = known.properties.get(key) ?? { count: 0, types: new Set() };
    if (property.count === 0 && known.properties.size >= mostProperties) continue;
    known.properties.set(key, property);
    property.count++;
    for (const type of own) property.types.add(type);
  }
}

const isTimeOrdered = (uuid: string | null): uuid is string => /^[\da-f]{8}-[\da-f]{4}-7/.test(uuid ?? "");

const userOf = ($lib: Json | undefined, id: Json): string => JSON.stringify([$lib, id]);

/** A browser's tab, else a user of an SDK. */
function clientOf({ distinct_id, properties }: StoredEvent): string {
  const { $lib, $session_id: session, $window_id: tab } = properties;
  return typeof tab === "string" ? JSON.stringify([$lib, session, tab]) : userOf($lib, distinct_id);
}

/** The steps of each client; those of a visitor and of the user that it became are one list. */
function stepLists({ steps, became }: Received): Step[][] {
  const lists = new Map<string, Step[]>();
  for (const [client, own] of steps) {
    const seen = new Set([client]);
    let last = client;
    for (let next = became.get(client); next !== undefined && !seen.has(next); next = became.get(next)) {
      seen.add(next);
      last = next;
    }
    lists.set(last, [...(lists.get(last) ?? []), ...own]);
  }
  return [...lists.values()];
}

function orderOf(steps: readonly Step[]): string[] {
  const isByUuid = steps.every(({ uuid }) => uuid !== "");
  const inOrder = steps.toSorted((a, b) => (isByUuid ? compareText(a.uuid, b.uuid) : a.seq - b.seq));
  const names = inOrder.map(({ name }) => name).filter((name, i, all) => name !== all[i - 1]);
  return names.length > longestOrder ? [...names.slice(0, longestOrder), "…"] : names;
}

const occurrencesOf = (seen: Map<string, Seen>): Map<string, Occurrence> =>
  new Map(
    [...seen].map(([name, it]) => {
      const properties = [...it.properties].map(
        ([key, { count, types }]) => [key, typeText(types, count < it.count)] as const,
      );
      return [name, { count: it.count, properties: new Map(properties) }];
    }),
  );

function recordOf(received: Received, { order }: RecordOptions): TestRecord {
  const { events, identity, flags } = received;
  return {
    events: occurrencesOf(events),
    identity: occurrencesOf(identity),
    flags,
    orders: order ? [...distinctOrders(stepLists(received).map(orderOf)).values()] : [],
  };
}

/** The name of all tests whose projects have none: a number would differ from run to run. */
const unnamed = "(unnamed)";

/** Makes a baseline of the journal's lines, as they are written. Its size does not grow with the values. */
export function createRecorder(options: RecordOptions) {
  const tests = new Map<number, string>();
  const projects = new Map<number, Received>();
  const receivedOf = (project: number): Received =>
    getOrMake(projects, project, () => ({
      events: new Map(),
      identity: new Map(),
      flags: new Set(),
      steps: new Map(),
      became: new Map(),
    }));

  function addStep(to: Received, event: StoredEvent, name: string, uuid: string): void {
    const client = clientOf(event);
    const steps = getOrMake(to.steps, client, () => []);
    if (steps.length < mostSteps) steps.push({ name, seq: event.seq, uuid });
    const { $lib, $anon_distinct_id: visitor } = event.properties;
    if (typeof visitor === "string" && visitor !== event.distinct_id) to.became.set(userOf($lib, visitor), client);
  }

  function addEvent(event: StoredEvent, isOwnUuid: boolean): void {
    if (event.outcome !== "kept" || event.project === null) return;
    const { properties } = event;
    const to = receivedOf(event.project);
    if (event.event === "$feature_flag_called") {
      if (typeof properties.$feature_flag === "string") to.flags.add(properties.$feature_flag);
      if (!options.sdk) return;
    }
    const uuid = isOwnUuid && isTimeOrdered(event.uuid) ? event.uuid : "";
    const call = callOf(event);
    if (call !== undefined) {
      count(to.identity, call, callProperties(properties, options));
      addStep(to, event, `${call}()`, uuid);
    } else if (isListed(event.event, options)) {
      const name = steadyName(event.event);
      count(to.events, name, propertiesOf(event, options));
      addStep(to, event, name, uuid);
    }
  }

  return {
    /** A project was made for a test; null: without a name. */
    addProject({ id, name }: { id: number; name: string | null }) {
      tests.set(id, name === null ? unnamed : steadyName(name));
      receivedOf(id);
    },
    addLine(line: TrafficLine) {
      const asked = line.project === null ? undefined : answered(line)?.asked?.keys;
      for (const key of asked ?? []) receivedOf(line.project ?? 0).flags.add(key);
      line.events?.forEach((_, i) => {
        addEvent(showEvent(line, i), hasOwnUuid(line, i));
      });
    },
    /** @param names Names of the projects that no test made, by id; that of the first is "" */
    baseline(names: ReadonlyMap<number, string>) {
      const attempts = groupedBy(projects, ([id]) => tests.get(id) ?? names.get(id) ?? unnamed);
      const records = [...attempts].map(
        ([name, all]) => [name, oneRecord(all.map(([, it]) => recordOf(it, options)))] as const,
      );
      return { ...options, tests: new Map(records) };
    },
  };
}
