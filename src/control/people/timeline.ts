import { isDeepStrictEqual } from "node:util";
import type { JsonObject } from "../../kernel/json.ts";
import type { StoredEvent } from "../../model/event.ts";
import type { Person } from "../../model/person.ts";
import type { ControlDesk } from "../desk.ts";
import { type Changed, historiesOf } from "./changes.ts";
import { type Beginning, type Join, type Played, type Replay, replay } from "./replay.ts";
import { type ShortEvent, showPerson, showShort } from "./show.ts";
import { newestOf, taken } from "./walk.ts";

/** So many of a person's newest events are played again. */
const mostPlayed = 1_000;
/** A merged person may have more ids than can be looked for; the newest are. */
const mostIds = 200;

/** Why the timeline may not tell everything. */
const gaps = {
  too_many_ids: `the person has more than ${mostIds} ids: only events of the newest are here`,
  too_many_events: `only the newest ${mostPlayed} events were looked at; what older ones did is not known`,
  events_lost: "earlier events were cleared, or pushed out of memory: what they did is not known",
  changed_elsewhere:
    "something besides these events changed the person: the scenario, the management API, or another person's event",
} as const;

type GapReason = keyof typeof gaps;

interface TimelineEntry extends ShortEvent {
  readonly step: Played["step"];
  readonly after: Played["after"];
  /** False: what it did was not looked at, since it is too old. */
  readonly is_known: boolean;
}

interface Subject {
  readonly desk: ControlDesk;
  readonly person: Person;
  readonly ids: readonly string[];
}

/** The scenario's persons that these ids belonged to in the beginning. */
function seedsOf({ desk, person, ids }: Subject): Beginning[] {
  const mine = new Set(ids);
  return desk
    .scenarioPeople()
    .persons.filter(
      (it) => it.person.project === person.project && it.distinctIds.some((id) => mine.has(id)),
    );
}

const isExplained = (replayed: Person | undefined, stored: Person): boolean =>
  replayed !== undefined &&
  replayed.uuid === stored.uuid &&
  replayed.created_at === stored.created_at &&
  replayed.version === stored.version &&
  isDeepStrictEqual(replayed.properties, stored.properties);

interface Told extends Replay {
  readonly origin: "event" | "scenario" | "unknown";
}

/** Once from the scenario's persons, if it knows these ids, else from nothing: what ends as it is stored was so. */
function tell(subject: Subject, events: readonly StoredEvent[]): Told {
  const { desk, person } = subject;
  const seeds = seedsOf(subject);
  const fits = (it: Replay) => it.isOnTrack && isExplained(it.person, person);
  const seeded = seeds.length > 0 ? replay(desk, events, seeds) : undefined;
  if (seeded && fits(seeded)) return { ...seeded, origin: "scenario" };
  const plain = replay(desk, events, []);
  return { ...plain, origin: fits(plain) ? "event" : "unknown" };
}

function gapsOf({ desk, person, ids }: Subject, told: Told, isAll: boolean) {
  const reasons: GapReason[] = [];
  if (ids.length > mostIds) reasons.push("too_many_ids");
  if (!isAll) reasons.push("too_many_events");
  if (told.origin === "unknown" && isAll)
    reasons.push(desk.log.lost(1, person.project) ? "events_lost" : "changed_elsewhere");
  return reasons.map((reason) => ({ reason, sentence: gaps[reason] }));
}

/** What is stored and no event that was played accounts for. */
function elsewhereOf(stored: Person, { person }: Replay): JsonObject {
  const known = person?.properties ?? {};
  return Object.fromEntries(
    Object.entries(stored.properties).filter(
      ([name, value]) => !Object.hasOwn(known, name) || !isDeepStrictEqual(known[name], value),
    ),
  );
}

interface JoinEdge extends Join {
  readonly seq: number;
  readonly timestamp: string;
}

const joinsOf = (played: readonly Played[]): JoinEdge[] =>
  played.flatMap(({ event, step }) =>
    step?.join ? [{ ...step.join, seq: event.seq, timestamp: event.timestamp }] : [],
  );

const changedBy = ({ event, step, after }: Played): Changed => ({
  event,
  changes: step?.changes ?? [],
  merged: step?.join?.outcome === "merged" ? after?.properties : undefined,
});

export interface TimelinePage {
  readonly before: number | undefined;
  readonly limit: number;
}

/** What happened to a person: its events, newest first, with what each did to it. */
export async function timelineOf(subject: Subject, { before, limit }: TimelinePage) {
  const { desk, person } = subject;
  const ids = subject.ids.slice(-mostIds);
  const { project } = person;
  const found = await taken(newestOf(desk.log, ids, { project }), mostPlayed + 1);
  const isAll = found.length <= mostPlayed;
  const told = tell(subject, found.slice(0, mostPlayed).reverse());
  const bySeq = new Map(told.played.map((it) => [it.event.seq, it]));
  const until = before === undefined ? undefined : before - 1;
  const page = await taken(
    newestOf(desk.log, ids, { project, ...(until !== undefined && { until }) }),
    limit + 1,
  );
  const events = page.slice(0, limit).map((event): TimelineEntry => {
    const played = bySeq.get(event.seq);
    return {
      ...showShort(event),
      step: played?.step ?? null,
      after: played?.after ?? null,
      is_known: played !== undefined,
    };
  });
  return {
    person: showPerson(person, subject.ids),
    origin: told.origin,
    gaps: gapsOf(subject, told, isAll),
    elsewhere: elsewhereOf(person, told),
    joins: joinsOf(told.played),
    properties: historiesOf(told.played.map(changedBy)),
    events,
    before: page.length > limit ? (events.at(-1)?.seq ?? null) : null,
  };
}

/** The answer of GET /__sim/persons/{id}/timeline. */
export type ShownTimeline = Awaited<ReturnType<typeof timelineOf>>;
