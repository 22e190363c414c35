import { isObject, type Json, type JsonObject, own, textsIn } from "../../../src/kernel/base/json.ts";
import type { LintFinding } from "../../../src/lab/lint/shapes.ts";
import type { StoredEvent } from "../../../src/state/journal/stored-event.ts";
import { headerOf, type RequestInFull } from "../../api/requests.ts";

export type ShownRequest = Pick<
  RequestInFull,
  | "n"
  | "at"
  | "method"
  | "target"
  | "status"
  | "ms"
  | "source"
  | "fault"
  | "peer"
  | "headers"
  | "decode_steps"
  | "raw"
  | "body"
> & { readonly carried: readonly { readonly seq: number }[] };

/** What the view of a kind of event gets. */
export interface KindProps {
  event: StoredEvent;
  /** undefined while it is loading. */
  request: ShownRequest | undefined;
}

/** Index of the event in its request, or -1. */
export const placeIn = (event: StoredEvent, { carried }: ShownRequest): number =>
  carried.findIndex((it) => it.seq === event.seq);

const isV1 = (target: string): boolean => /^\/+i\/v1\//.test(target);

/** Items of a body: an array, a batch, or a single event. */
function itemsOf(body: Json): readonly Json[] {
  if (Array.isArray(body)) return body;
  const batch = isObject(body) ? own(body, "batch") : undefined;
  return Array.isArray(batch) ? batch : [body];
}

/** The item as sent; undefined if it was not kept, or became several events (a recording). */
export function rawItem(event: StoredEvent, request: ShownRequest): Json | undefined {
  if (request.body === null) return undefined;
  const items = itemsOf(request.body);
  const place = placeIn(event, request);
  return items.length === request.carried.length ? items[place] : undefined;
}

/** The item if /batch/ accepts it: newer paths use other shapes. */
export const sendableItem = (event: StoredEvent, request: ShownRequest): Json | undefined =>
  isV1(request.target) || /^\/+engage/.test(request.target) ? undefined : rawItem(event, request);

/** The SDK from the event's properties, else the User-Agent. */
export function senderOf(event: StoredEvent, request: ShownRequest | undefined): string | undefined {
  const lib = own(event.properties, "$lib");
  const version = own(event.properties, "$lib_version");
  if (typeof lib === "string") return typeof version === "string" ? `${lib} ${version}` : lib;
  return request && headerOf(request, "user-agent");
}

/** A change that an event made to its person. */
export interface PersonStep {
  readonly does: "set" | "set once" | "unset" | "merge" | "group";
  readonly name: string;
  readonly value: Json | undefined;
}

const entriesIn = (properties: JsonObject, key: string): [string, Json][] => {
  const value = own(properties, key);
  return isObject(value) ? Object.entries(value) : [];
};

const merging: Readonly<Record<string, string>> = {
  $identify: "$anon_distinct_id",
  $create_alias: "alias",
  $merge_dangerously: "alias",
};

function mergeOf({ event, properties }: StoredEvent): PersonStep[] {
  const key = Object.hasOwn(merging, event) ? merging[event] : undefined;
  const id = key === undefined ? undefined : own(properties, key);
  return typeof id === "string" ? [{ does: "merge", name: id, value: undefined }] : [];
}

/** Changes that the event made to its person and groups; none for a dropped event. */
export function personSteps(event: StoredEvent): PersonStep[] {
  if (event.outcome === "dropped") return [];
  const { properties } = event;
  const stepsIn = (key: string, does: PersonStep["does"]): PersonStep[] =>
    entriesIn(properties, key).map(([name, value]) => ({ does, name, value }));
  return [
    ...mergeOf(event),
    ...stepsIn("$set", "set"),
    ...stepsIn("$set_once", "set once"),
    ...textsIn(own(properties, "$unset")).map((name) => ({ does: "unset" as const, name, value: undefined })),
    ...stepsIn("$groups", "group"),
  ];
}

/** True if the finding is known to be about this event: identical ones list only the first and last. */
export const isAbout = (event: StoredEvent, { first_seq, last_seq }: LintFinding): boolean =>
  first_seq === event.seq || last_seq === event.seq;

/** Findings about an event, its name or its request, its own first. */
export function findingsFor(event: StoredEvent, findings: readonly LintFinding[]): LintFinding[] {
  const fitting = findings.filter(
    (it) =>
      it.project === event.project &&
      (it.event === event.event || isAbout(event, it) || (it.event === null && it.n === event.request)),
  );
  return fitting.toSorted((a, b) => Number(isAbout(event, b)) - Number(isAbout(event, a)));
}

/** Event time minus arrival, ms. */
export const skewOf = ({ timestamp, received_at }: StoredEvent): number =>
  Date.parse(timestamp) - Date.parse(received_at);
