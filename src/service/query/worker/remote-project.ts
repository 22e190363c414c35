import type { StoredEvent } from "../../../state/journal/event.ts";
import { requestIn } from "../../../state/journal/log/log-lines.ts";
import { showEvent } from "../../../state/journal/show.ts";
import type { ProjectFacts, QueryPerson } from "../kind.ts";
import type { Asked, AskedName, SentEvents } from "./messages.ts";

/** Asks the sim, and waits for its reply. */
export type AskSim = <Name extends AskedName>(what: Name, of: Asked[Name]["of"]) => Asked[Name]["reply"];

/** Persons that are asked for one by one; for one more, all are. */
const mostSinglePersons = 100;

function once<Key, Value>(read: (key: Key) => Value): (key: Key) => Value {
  const known = new Map<Key, Value>();
  return (key) => {
    if (!known.has(key)) known.set(key, read(key));
    // it was set
    return known.get(key) as Value;
  };
}

/** Documents, persons and groups of the project of a query, as it asks for them. */
export function remoteFacts(ask: AskSim): Omit<ProjectFacts, "timeZone" | "weekStart" | "testAccountFilters"> {
  const members = once((id: number) => new Set(ask("members", id)));
  const allPersons = once((_: "all") => ask("persons", undefined));
  const byUuid = once((_: "all") => new Map(allPersons("all").map((it) => [it.uuid, it])));
  let asked = 0;
  const single = once((uuid: string): QueryPerson | undefined => {
    asked++;
    return asked > mostSinglePersons ? byUuid("all").get(uuid) : ask("person", uuid);
  });
  return {
    action: once((id) => ask("action", id)),
    experiment: once((id) => ask("experiment", id)),
    cohort: once((id) => {
      const name = ask("cohort", id);
      return name === undefined ? undefined : { name, has: (person) => members(id).has(person) };
    }),
    person: single,
    persons: () => allPersons("all"),
    groups: () => ask("groups", undefined),
  };
}

/** Rows that are read at once. */
const mostAhead = 512;

/** Events that are kept for when they are read again, as by a sort. */
const mostReaders = 16_384;

/** Reads the events that were sent, by their seqs. A line is parsed once one of its events is needed. */
function readersIn(sent: SentEvents): [seq: number, read: () => StoredEvent | undefined][] {
  if (!("bytes" in sent)) return [[sent.seq, () => sent]];
  const line = once((_: "line") => requestIn(Buffer.from(sent.bytes), true)?.line);
  return sent.seqs.map((seq) => [
    seq,
    () => {
      const found = line("line");
      return found?.seq === undefined ? undefined : showEvent(found, seq - found.seq);
    },
  ]);
}

/** Reads whole events by their rows, many at once if it reads many. */
export function remoteEvents(ask: AskSim, seqs: Float64Array): (row: number) => StoredEvent | undefined {
  const readers = new Map<number, () => StoredEvent | undefined>();
  let lastRow = 0;
  let ahead = 1;
  const seqAt = (row: number) => seqs[Math.min(Math.max(row, 0), seqs.length - 1)] ?? 0;

  function fetchRows(first: number, last: number): void {
    if (readers.size > mostReaders) readers.clear();
    const sent = ask("events", { since: seqAt(first) - 1, until: seqAt(last) });
    for (const [seq, read] of sent.flatMap(readersIn)) readers.set(seq, read);
  }
  function fetchAround(row: number): void {
    if (row < lastRow) fetchRows(row - ahead + 1, row);
    else fetchRows(row, row + ahead - 1);
    // not all fitted into the reply
    if (!readers.has(seqAt(row))) fetchRows(row, row);
    lastRow = row;
    ahead = Math.min(2 * ahead, mostAhead);
  }

  return (row) => {
    if (!readers.has(seqAt(row))) fetchAround(row);
    return readers.get(seqAt(row))?.();
  };
}
