import { setImmediate as turn } from "node:timers/promises";
import { showEvent } from "../../ingest/show.ts";
import type { StoredEvent } from "../../model/event.ts";
import type { EventFilter, TrafficLog } from "../../store/traffic-log.ts";

/** Events read before other work gets its turn. */
const perTurn = 200;

type Scan = ReturnType<TrafficLog["scan"]>;
type Ref = Scan extends Generator<infer T> ? T : never;

interface Head {
  readonly scan: Scan;
  ref: Ref;
}

const seqOf = ({ ref }: Head): number => ref.seq;

/** Takes the newest event of all heads and moves its scan on. */
function takeNewest(heads: Head[]): Ref {
  const newest = heads.reduce((a, b) => (seqOf(a) > seqOf(b) ? a : b));
  const { ref } = newest;
  const next = newest.scan.next();
  if (next.done) heads.splice(heads.indexOf(newest), 1);
  else newest.ref = next.value;
  return ref;
}

/**
 * Events of several distinct ids, newest first, each id by the log's index. It waits between events: what is
 * asked of the log meanwhile is answered.
 */
export async function* newestOf(
  log: TrafficLog,
  ids: readonly string[],
  filter: EventFilter,
): AsyncGenerator<StoredEvent> {
  const heads: Head[] = ids.flatMap((distinct_id) => {
    const scan = log.scan({ ...filter, distinct_id, order: "desc" });
    const first = scan.next();
    return first.done ? [] : [{ scan, ref: first.value }];
  });
  for (let read = 1; heads.length > 0; read++) {
    const { line, index } = takeNewest(heads);
    yield showEvent(line, index);
    if (read % perTurn === 0) await turn();
  }
}

/** At most so many of a walk; the last one of the list is the oldest. */
export async function taken<T>(walk: AsyncIterable<T>, most: number): Promise<T[]> {
  const found: T[] = [];
  if (most === 0) return found;
  for await (const it of walk) if (found.push(it) === most) break;
  return found;
}

/** Events in the log's own order backwards, at most `most` of them. It waits between events as `newestOf` does. */
export async function* eventsWithin(
  log: TrafficLog,
  filter: EventFilter,
  most: number,
): AsyncGenerator<StoredEvent> {
  let read = 0;
  for (const { line, index } of log.scan({ ...filter, order: "desc" })) {
    if (read === most) return;
    yield showEvent(line, index);
    if (++read % perTurn === 0) await turn();
  }
}
