import { isObject, type Json, objectsIn } from "../base/json.ts";
import { headerIn } from "../http/client-address.ts";
import type { StoredEvent } from "../journal/event.ts";
import type { TrafficLine } from "../journal/traffic.ts";
import { countOf, fitsEvent } from "./match/judge.ts";
import type { Complaint, Surroundings } from "./match/report-shapes.ts";
import type { Terms } from "./match/types.ts";
import type { AssertPorts } from "./ports.ts";

/** A request with the key of an ended project. */
interface EndedUse {
  readonly key: string;
  readonly name: string;
  /** True if its events are from before the end: the SDK was only late. */
  readonly isLate: boolean;
  readonly events: readonly SentEvent[];
}

/** An event as it was sent: the request was rejected, or its events were dropped. */
type SentEvent = Pick<StoredEvent, "event" | "distinct_id" | "properties">;

const keyPattern = /\bphc_\w+/g;

const textOf = (value: Json | undefined): string => (typeof value === "string" ? value : "");

function eventsIn(body: Json | undefined): { sent: SentEvent; time: number }[] {
  const items =
    isObject(body) && Array.isArray(body.batch) ? body.batch : Array.isArray(body) ? body : [body];
  return objectsIn(items as Json).flatMap((item) => {
    if (typeof item.event !== "string") return [];
    const properties = isObject(item.properties) ? item.properties : {};
    const distinct_id =
      textOf(item.distinct_id) || textOf(item.$distinct_id) || textOf(properties.distinct_id);
    return [
      { sent: { event: item.event, distinct_id, properties }, time: Date.parse(textOf(item.timestamp)) },
    ];
  });
}

/** The key of an ended project that the request has; a request of a project that exists is none of them. */
function useIn({ ended }: AssertPorts, line: TrafficLine, owner: string): EndedUse | undefined {
  if (line.project !== null) return undefined;
  const text = `${line.target} ${headerIn(line.headers, "authorization") ?? ""} ${JSON.stringify(line.body ?? line.raw ?? null)}`;
  for (const [key] of text.matchAll(keyPattern)) {
    const project = ended.find(key);
    if (project?.owner !== owner) continue;
    const events = eventsIn(line.body);
    const isLate = events.length > 0 && events.every(({ time }) => time < project.endedAt);
    return { key, name: project.name, isLate, events: events.map(({ sent }) => sent) };
  }
  return undefined;
}

/** Requests in the scope with keys of projects that ended in the same process, newest first. */
export async function endedUses(
  ports: AssertPorts,
  project: number | undefined,
  lines: AsyncIterable<TrafficLine>,
): Promise<EndedUse[]> {
  const owner = project === undefined ? undefined : ports.ended.ownerOf(project);
  if (owner === undefined || ports.ended.isEmpty) return [];
  const uses: EndedUse[] = [];
  for await (const line of lines) {
    const use = useIn(ports, line, owner);
    if (use) uses.push(use);
  }
  return uses;
}

/** As a report shows them: each project once. */
export function shownUses(uses: readonly EndedUse[]): Surroundings["ended"] {
  const shown = new Map<string, Surroundings["ended"][number]>();
  for (const { key, name, isLate, events } of uses) {
    const id = `${key} ${isLate}`;
    const names = new Set([...(shown.get(id)?.events ?? []), ...events.map(({ event }) => event)]);
    shown.set(id, { name, api_key: key, events: [...names].slice(0, 10), late: isLate });
  }
  return [...shown.values()];
}

/** True if the terms forbid events: then it must be certain that none was lost. */
const isForbidden = ({ expect, nothingElse, noEndedKeys }: Terms, event: SentEvent): boolean =>
  noEndedKeys === true ||
  (nothingElse === true && !event.event.startsWith("$")) ||
  expect.some((it) => {
    const { max } = countOf(it);
    // what patterns ask of other fields cannot be known of an event that was not kept
    return max !== undefined && fitsEvent(it.match, { ...event, outcome: "kept" } as StoredEvent);
  });

/** Events that the terms forbid and that a shared SDK sent with the key of an ended project. */
export const endedComplaints = (terms: Terms, uses: readonly EndedUse[]): Complaint[] =>
  shownUses(
    uses.flatMap((use) => {
      const events = use.events.filter((it) => isForbidden(terms, it));
      return use.isLate || events.length === 0 ? [] : [{ ...use, events }];
    }),
  ).map(({ name, api_key, events }) => ({ kind: "ended_key", name, api_key, sent: events }));
