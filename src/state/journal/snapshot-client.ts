import { isObject, type Json, type JsonObject } from "../../kernel/base/json.ts";
import { compareText } from "../../kernel/base/text.ts";
import type { StoredEvent } from "./event.ts";
import { isCampaignParameter, isSdkProperty, isVolatileProperty } from "./sdk-properties.ts";

export interface EventSnapshot {
  readonly event: string;
  readonly distinct_id: string;
  readonly properties: JsonObject;
  readonly dropped?: string;
}

/** Events that SDKs send on their own time, with measurements. */
const measured = /^(?:\$\$.*|\$snapshot.*|\$web_vitals|\$performance_event|\$capture_metrics)$/;

/** Properties of SDKs that the app decides on; the others are of the machine, the SDK and the moment. */
const meaningful: ReadonlySet<string> = new Set(
  [
    "$set $set_once $unset $anon_distinct_id alias $groups $group_type $group_key $group_set",
    "$feature_flag $feature_flag_response $feature_flag_error $exception_list $exception_level",
    "$current_url $pathname $prev_pageview_pathname $screen_name $event_type $el_text",
  ].flatMap((line) => line.split(" ")),
);
const meaningfulGroups = /^\$(?:ai|survey)_/;
/** Of these groups, what is measured, and the SDK's version. */
const measuredValues = /_(?:latency|time_to_first_token|duration.*|lib.*|version)$/;

function isSteady(name: string, value: Json): boolean {
  if (isVolatileProperty(name) && !meaningful.has(name)) return false;
  if (!isSdkProperty(name) || meaningful.has(name)) return true;
  if (isCampaignParameter(name)) return value !== null;
  return meaningfulGroups.test(name) && !measuredValues.test(name);
}

/** A value that lies so near to the event's time is a time of the run, ms. */
const nearby = 24 * 3_600_000;

const uuidOrHash =
  /\b[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}\b|(?<![\w-])(?=[a-f]*\d)[\da-f]{24,}(?![\w-])/gi;
const isoTime = /\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?/g;
const ownPort = /((?:localhost|127\.0\.0\.1|\[::1\]):)\d+/g;
const projectKey = /\bphc_\w{20,}/g;

/** Replaces the values that differ from run to run, by a word for each kind; equal ids have one number. */
function createSteadying() {
  const ids = new Map<string, string>();
  const named = (id: string): string => {
    const known = ids.get(id) ?? `<id ${ids.size + 1}>`;
    ids.set(id, known);
    return known;
  };
  return function steady(value: Json, at: number, isLeftOut: (name: string) => boolean): Json {
    const isNow = (time: number) => Math.abs(time - at) < nearby;
    const text = (it: string): string =>
      it
        .replace(uuidOrHash, named)
        .replace(isoTime, (found) => (isNow(Date.parse(found)) ? "<time>" : found))
        .replace(ownPort, "$1<port>")
        .replace(projectKey, "<project key>");
    const of = (it: Json): Json => {
      if (typeof it === "string") return text(it);
      if (typeof it === "number") return isNow(it) || isNow(it * 1_000) ? "<time>" : it;
      if (Array.isArray(it)) return it.map(of);
      return isObject(it) ? object(it) : it;
    };
    const object = (it: JsonObject): JsonObject =>
      Object.fromEntries(
        Object.entries(it)
          .filter(([name]) => !isLeftOut(name))
          .sort(([a], [b]) => compareText(a, b))
          .map(([name, inner]) => [text(name), of(inner)]),
      );
    return of(value);
  };
}

const thrown = (list: Json): Json =>
  Array.isArray(list)
    ? list.map((it) => (isObject(it) ? { type: it.type ?? null, value: it.value ?? null } : it))
    : list;

const isEmpty = (value: Json): boolean => isObject(value) && Object.keys(value).length === 0;

function inOrder(events: readonly StoredEvent[]): readonly StoredEvent[] {
  const areTimed = events.every(({ uuid }) => uuid?.[14] === "7");
  return areTimed ? events.toSorted((a, b) => compareText(a.uuid ?? "", b.uuid ?? "")) : events;
}

/** @param omit Names of properties that are left out, at any depth */
export function snapshotOf(events: readonly StoredEvent[], omit: readonly string[]): EventSnapshot[] {
  const steady = createSteadying();
  const omitted = new Set(omit);
  const isOmitted = (name: string) => omitted.has(name);
  /** SDKs add the machine's properties to those of the person. */
  const isOmittedOfPerson = (name: string) => isOmitted(name) || name.startsWith("$");
  const propertiesOf = (properties: JsonObject, at: number): JsonObject => {
    const shown = Object.entries(properties).flatMap(([name, value]): [string, Json][] => {
      if (isOmitted(name) || !isSteady(name, value)) return [];
      if (name === "$exception_list") return [[name, steady(thrown(value), at, isOmitted)]];
      if (name !== "$set" && name !== "$set_once") return [[name, steady(value, at, isOmitted)]];
      const ofPerson = steady(value, at, isOmittedOfPerson);
      return isEmpty(ofPerson) ? [] : [[name, ofPerson]];
    });
    return Object.fromEntries(shown.sort(([a], [b]) => compareText(a, b)));
  };
  return inOrder(events)
    .filter(({ event }) => !measured.test(event))
    .map(({ event, distinct_id, properties, timestamp, outcome, reason }) => {
      const at = Date.parse(timestamp);
      const text = (it: string) => String(steady(it, at, isOmitted));
      return {
        event: text(event),
        distinct_id: text(distinct_id),
        properties: propertiesOf(properties, at),
        ...(outcome === "dropped" && { dropped: reason ?? "" }),
      };
    });
}
