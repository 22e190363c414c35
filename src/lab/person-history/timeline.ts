import { isDeepStrictEqual } from "node:util";
import type { JsonObject } from "../../kernel/base/json.ts";
import type { StoredEvent } from "../../state/journal/event.ts";
import type { Person } from "../../state/persons/person.ts";
import { type Changed, historiesOf } from "./changes.ts";
import { type PersonPorts, showPerson, showShort } from "./persons.ts";
import type { DatedJoin, Gap, Origin, PersonTimeline, TimelineEntry } from "./shapes.ts";
import { type Beginning, type Replay, type Replayed, replay } from "./timeline-replay.ts";
import { newestOf, taken } from "./walk.ts";

/** Newest events of a person that are replayed. */
const mostPlayed = 1_000;
/** Ids of a merged person whose events are searched, newest first. */
const mostIds = 200;

const gaps = {
  too_many_ids: `the person has more than ${mostIds} ids: only events of the newest ids are listed`,
  too_many_events: `only the newest ${mostPlayed} events were examined; the effects of older ones are unknown`,
  events_lost: "earlier events were cleared, or removed from memory: their effects are unknown",
  changed_elsewhere:
    "something other than these events changed the person: the scenario, the management API, or another person's event",
} as const;

type GapReason = keyof typeof gaps;

interface Subject {
  readonly ports: PersonPorts;
  readonly person: Person;
  readonly ids: readonly string[];
}

function seedsOf({ ports, person, ids }: Subject): Beginning[] {
  const mine = new Set(ids);
  return ports.authored
    .people()
    .persons.filter((it) => it.person.project === person.project && it.distinctIds.some((id) => mine.has(id)));
}

const isExplained = (replayed: Person | undefined, stored: Person): boolean =>
  replayed !== undefined &&
  replayed.uuid === stored.uuid &&
  replayed.created_at === stored.created_at &&
  replayed.version === stored.version &&
  isDeepStrictEqual(replayed.properties, stored.properties);

interface Explanation extends Replay {
  readonly origin: Origin;
}

/** Replays from the scenario's persons, then from nothing; the one that ends with the stored person is right. */
function explain(subject: Subject, events: readonly StoredEvent[]): Explanation {
  const { ports, person } = subject;
  const seeds = seedsOf(subject);
  const fits = (it: Replay) => it.isOnTrack && isExplained(it.person, person);
  const seeded = seeds.length > 0 ? replay(ports.desk, events, seeds) : undefined;
  if (seeded && fits(seeded)) return { ...seeded, origin: "scenario" };
  const plain = replay(ports.desk, events, []);
  return { ...plain, origin: fits(plain) ? "event" : "unknown" };
}

function gapsOf({ ports, person, ids }: Subject, explained: Explanation, isAll: boolean): Gap[] {
  const reasons: GapReason[] = [];
  if (ids.length > mostIds) reasons.push("too_many_ids");
  if (!isAll) reasons.push("too_many_events");
  if (explained.origin === "unknown" && isAll)
    reasons.push(ports.log.lost(1, person.project) ? "events_lost" : "changed_elsewhere");
  return reasons.map((reason) => ({ reason, sentence: gaps[reason] }));
}

function elsewhereOf(stored: Person, { person }: Replay): JsonObject {
  const known = person?.properties ?? {};
  return Object.fromEntries(
    Object.entries(stored.properties).filter(
      ([name, value]) => !Object.hasOwn(known, name) || !isDeepStrictEqual(known[name], value),
    ),
  );
}

const joinsOf = (played: readonly Replayed[]): DatedJoin[] =>
  played.flatMap(({ event, step }) =>
    step?.join ? [{ ...step.join, seq: event.seq, timestamp: event.timestamp }] : [],
  );

const changedBy = ({ event, step, after }: Replayed): Changed => ({
  event,
  changes: step?.changes ?? [],
  merged: step?.join?.outcome === "merged" ? after?.properties : undefined,
});

interface TimelinePage {
  readonly before: number | undefined;
  readonly limit: number;
}

/** The events of a person, newest first, with the effect of each. */
export async function timelineOf(subject: Subject, { before, limit }: TimelinePage): Promise<PersonTimeline> {
  const { ports, person } = subject;
  const ids = subject.ids.slice(-mostIds);
  const { project } = person;
  const found = await taken(newestOf(ports.log, ids, { project }), mostPlayed + 1);
  const isAll = found.length <= mostPlayed;
  const explained = explain(subject, found.slice(0, mostPlayed).reverse());
  const bySeq = new Map(explained.played.map((it) => [it.event.seq, it]));
  const until = before === undefined ? undefined : before - 1;
  const page = await taken(newestOf(ports.log, ids, { project, ...(until !== undefined && { until }) }), limit + 1);
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
    origin: explained.origin,
    gaps: gapsOf(subject, explained, isAll),
    elsewhere: elsewhereOf(person, explained),
    joins: joinsOf(explained.played),
    properties: historiesOf(explained.played.map(changedBy)),
    events,
    before: page.length > limit ? (events.at(-1)?.seq ?? null) : null,
  };
}
