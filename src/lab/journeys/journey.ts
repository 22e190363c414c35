import { isoOf } from "../../kernel/base/clock.ts";
import { isObject, type Json } from "../../kernel/base/json.ts";
import { inSlices } from "../../kernel/base/work.ts";
import { type DecisionIndex, flagLines } from "../../service/flags/decision-index.ts";
import { decisionsIn, usesIn } from "../../service/flags/decision-lines.ts";
import type { FlagDecision } from "../../service/flags/decision-shapes.ts";
import type { StoredEvent } from "../../state/journal/event.ts";
import type { RequestHead, TrafficLog } from "../../state/journal/log/traffic-log.ts";
import { createBudget } from "../../state/journal/search.ts";
import type { TrafficLine } from "../../state/journal/traffic.ts";
import type { Person } from "../../state/persons/person.ts";
import { type PersonPorts, showPerson } from "../person-history/persons.ts";
import { newestOf } from "../person-history/walk.ts";
import { momentOfEvent, shortened } from "./event-moment.ts";
import { spansOf } from "./flag-spans.ts";
import type { Journey, JourneyMoment } from "./shapes.ts";

/** Moments of a journey, the newest. */
const mostMoments = 2_000;
/** Ids of a merged person that are searched, the newest. */
const mostIds = 100;
const farthest = { entries: 20_000, bytes: 24 * 1024 * 1024 };
/** Rejected requests that are searched for the person's ids. */
const mostRejected = 200;
/** Requests shortly before and after a session belong to it, ms. */
const around = 5_000;

export interface JourneyPorts extends PersonPorts {
  readonly decisions: DecisionIndex;
}

interface Wanted {
  readonly person: Person;
  readonly ids: readonly string[];
  readonly session: string | undefined;
}

interface Found<T> {
  readonly found: readonly T[];
  readonly isAll: boolean;
}

async function eventsOf({ log }: JourneyPorts, { person, ids, session }: Wanted): Promise<Found<StoredEvent>> {
  const found: StoredEvent[] = [];
  const isSpent = createBudget(farthest);
  let last = 0;
  for await (const event of newestOf(log, ids, { project: person.project })) {
    const size = event.request === last ? 0 : log.sizeOf(event.request);
    last = event.request;
    if (found.length === mostMoments || isSpent(size)) return { found, isAll: false };
    if (session === undefined || event.properties.$session_id === session) found.push(event);
  }
  return { found, isAll: true };
}

/** The first and the last arrival, ms; everything without a session. */
type Range = readonly [from: number, to: number];

function rangeOf(events: readonly StoredEvent[], { session }: Wanted): Range {
  if (session === undefined) return [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
  const times = events.map((it) => Date.parse(it.received_at));
  const [from, to] = [Math.min(...times), Math.max(...times)];
  return [from - around, to + around];
}

const isIn = ([from, to]: Range, at: number): boolean => at >= from && at <= to;

/** Answers and evaluations of flags for the person, oldest first; how often each flag was used. */
async function decisionsOf(
  { log, decisions }: JourneyPorts,
  { person, ids }: Wanted,
): Promise<Found<FlagDecision> & { uses: Map<string, number> }> {
  const mine = new Set(ids);
  const tests = await Promise.all(ids.map((it) => decisions.finder({ key: undefined, distinctId: it })));
  const found: FlagDecision[] = [];
  const uses = new Map<string, number>();
  const isSpent = createBudget(farthest);
  const within = { project: person.project };
  for await (const { n, line } of flagLines(log, within, (it) => tests.some((test) => test(it)))) {
    if (line) {
      found.push(...decisionsIn(line).filter((it) => mine.has(it.distinct_id ?? "")));
      for (const { call, distinctId } of usesIn(line))
        if (mine.has(distinctId)) uses.set(call.key, (uses.get(call.key) ?? 0) + 1);
    }
    if (found.length >= mostMoments || isSpent(log.sizeOf(n))) return { found: found.reverse(), uses, isAll: false };
  }
  return { found: found.reverse(), uses, isAll: true };
}

const nested = ["batch", "data", "properties", "event"];

/** True if a body that was not read as events names one of the ids. */
function names(body: Json | undefined, ids: ReadonlySet<string>, depth = 0): boolean {
  if (Array.isArray(body)) return depth < 4 && body.slice(0, 100).some((it) => names(it, ids, depth + 1));
  if (!isObject(body)) return false;
  const id = body.distinct_id ?? body.$distinct_id;
  if (typeof id === "string" && ids.has(id)) return true;
  return depth < 4 && nested.some((name) => Object.hasOwn(body, name) && names(body[name], ids, depth + 1));
}

const longestRaw = 200_000;

/** The body of a request; that of an unknown path is kept as its text only. */
function bodyOf({ body, raw }: TrafficLine): Json | undefined {
  if (body !== undefined || !raw || !("text" in raw) || raw.text.length > longestRaw) return body;
  try {
    return JSON.parse(raw.text);
  } catch {
    return undefined;
  }
}

async function rejectedOf(log: TrafficLog, { person, ids }: Wanted): Promise<number[]> {
  const mine = new Set(ids);
  const found: number[] = [];
  let read = 0;
  for (const n of log.requests({ rejected: true })) {
    if (++read > mostRejected) break;
    const line = await inSlices(log.reading(n));
    const isHere = line && (line.project === null || line.project === person.project);
    if (isHere && names(bodyOf(line), mine)) found.push(n);
  }
  return found;
}

const outcomeOf = ({ rejected, dropped }: RequestHead): JourneyMoment["outcome"] =>
  rejected ? "rejected" : dropped > 0 ? "dropped" : "kept";

function momentOfRequest(head: RequestHead, distinctId: string | null): JourneyMoment {
  const { method, target, status, rejected, fault, carried } = head;
  const path = target.split("?", 1)[0] ?? target;
  return {
    lane: "request",
    at: isoOf(head.at),
    clock: null,
    seq: null,
    request: head.n,
    name: shortened(`${method} ${path}`),
    text: shortened(rejected?.detail ?? ""),
    session: null,
    distinct_id: distinctId,
    outcome: outcomeOf(head),
    reason: rejected?.reason ?? fault ?? null,
    status,
    events: carried,
  };
}

const byTime = (a: JourneyMoment, b: JourneyMoment): number =>
  Date.parse(a.at) - Date.parse(b.at) || a.request - b.request || (a.seq ?? 0) - (b.seq ?? 0);

/** A person's events, the requests that carried them or asked for flags, and the flag values in force. */
export async function journeyOf(ports: JourneyPorts, person: Person, session: string | undefined): Promise<Journey> {
  const { log } = ports;
  const all = ports.people.distinctIds(person);
  const wanted: Wanted = { person, ids: all.slice(-mostIds), session };
  const events = await eventsOf(ports, wanted);
  const decided = await decisionsOf(ports, wanted);
  const rejected = await rejectedOf(log, wanted);
  const range = rangeOf(events.found, wanted);
  const askedBy = new Map(decided.found.map((it) => [it.request, it.distinct_id]));
  const numbers = new Set([...events.found.map((it) => it.request), ...askedBy.keys(), ...rejected]);
  const requests = [...numbers].flatMap((n) => {
    const head = log.head(n);
    return head && isIn(range, head.at) ? [momentOfRequest(head, askedBy.get(n) ?? null)] : [];
  });
  const moments = [...events.found.map(momentOfEvent), ...requests].sort(byTime);
  const { flags, left_out: flagsLeftOut } = spansOf(decided.found, decided.uses);
  return {
    person: showPerson(person, all),
    moments: moments.slice(-mostMoments),
    left_out: Math.max(0, moments.length - mostMoments),
    is_all: events.isAll && decided.isAll && all.length <= mostIds,
    flags,
    flags_left_out: flagsLeftOut,
  };
}
