import { type Counter, countsOf, freshCount, oneByOne, type RowCount } from "../../state/journal/counting.ts";
import {
  type ExceptionFrame,
  exceptionEvent,
  exceptionGroup,
  readException,
  sentFingerprint,
} from "../../state/journal/exception.ts";
import type { IndexedEvent, TrafficLog } from "../../state/journal/log/traffic-log.ts";
import { showEvent } from "../../state/journal/show.ts";
import type { StoredEvent } from "../../state/journal/stored-event.ts";
import type { ExceptionGroup, ExceptionGroups } from "./shapes.ts";

const mostGroups = 500;
const mostPersons = 1_000;
const mostCounts = 16;

type Group = Omit<ExceptionGroup, "persons" | "persons_complete"> & {
  readonly persons: Set<string>;
  arePersonsCut: boolean;
};

interface GroupCount extends RowCount {
  readonly groups: Map<string, Group>;
  others: number;
}

const placeText = ({ file, line }: ExceptionFrame): string => (line === null ? file : `${file}:${line}`);

function shownOf(event: StoredEvent): Pick<Group, "type" | "message" | "handled" | "at"> {
  const [newest] = readException(event.properties).causes;
  const frame = newest?.frames.find((it) => it.owner === "app") ?? newest?.frames[0];
  return {
    type: (newest?.type ?? "").slice(0, 200),
    message: (newest?.message ?? "").slice(0, 500),
    handled: newest?.handled ?? null,
    at: frame && frame.file !== "" ? placeText(frame).slice(0, 300) : null,
  };
}

function addTo(count: GroupCount, event: StoredEvent): void {
  const id = exceptionGroup(event.properties);
  const known = count.groups.get(id);
  if (!known && count.groups.size >= mostGroups) {
    count.others++;
    return;
  }
  const { seq, timestamp: at } = event;
  const group: Group = known ?? {
    id,
    fingerprint: sentFingerprint(event.properties)?.slice(0, 300) ?? null,
    ...shownOf(event),
    count: 0,
    first: seq,
    first_at: at,
    last: seq,
    last_at: at,
    persons: new Set(),
    arePersonsCut: false,
  };
  group.count++;
  if (seq < group.first) Object.assign(group, { first: seq, first_at: at });
  if (seq > group.last) Object.assign(group, { last: seq, last_at: at, ...shownOf(event) });
  const person = event.person_id ?? event.distinct_id;
  if (group.persons.size < mostPersons) group.persons.add(person);
  else if (!group.persons.has(person)) group.arePersonsCut = true;
  count.groups.set(id, group);
}

/** Counts exceptions; their lines are read, so each can stop the work of a call. */
const exceptionCounter = (log: TrafficLog, project: number | undefined): Counter<GroupCount> => ({
  first: () => log.firstSeq,
  last: () => log.lastSeq,
  *range(count, from, to, isDown) {
    const within = { event: exceptionEvent, ...(project !== undefined && { project }) };
    for (const { seq, n } of oneByOne<IndexedEvent>((use) => log.eachEvent(from, to, within, use), isDown)) {
      const line = yield* log.reading(n);
      const index = seq - (line?.seq ?? seq);
      if (!line?.events?.[index]) count.isPart = true;
      else addTo(count, showEvent(line, index));
      yield seq;
    }
  },
});

const shownGroup = ({ persons, arePersonsCut, ...group }: Group): ExceptionGroup => ({
  ...group,
  persons: persons.size,
  persons_complete: !arePersonsCut,
});

/** Exceptions by group. A call works for at most 300 ms; the next one continues. */
export function createExceptionGroups(log: TrafficLog) {
  const counts = countsOf<GroupCount>(log, mostCounts);
  return async (project: number | undefined, id: string | undefined): Promise<ExceptionGroups> => {
    const { count, progress } = await counts.get(String(project ?? ""), () => ({
      counter: exceptionCounter(log, project),
      count: { ...freshCount(log.lastSeq), groups: new Map(), others: 0 },
    }));
    const groups = [...count.groups.values()].filter((it) => id === undefined || it.id === id);
    return { ...progress, groups: groups.sort((a, b) => b.last - a.last).map(shownGroup), others: count.others };
  };
}
