import { setImmediate as turn } from "node:timers/promises";
import type { StoredEvent } from "../journal/event.ts";
import type { EventFilter, TrafficLog } from "../journal/log/traffic-log.ts";
import { showEvent } from "../journal/show.ts";

/** Events read between breaks for other work. */
const perTurn = 200;

type Scan = ReturnType<TrafficLog["scan"]>;
type Ref = Scan extends Generator<infer T> ? T : never;

interface Head {
  readonly scan: Scan;
  ref: Ref;
}

const seqOf = ({ ref }: Head): number => ref.seq;

/** Takes the newest event of all heads and advances its scan. */
function takeNewest(heads: Head[]): Ref {
  const newest = heads.reduce((a, b) => (seqOf(a) > seqOf(b) ? a : b));
  const { ref } = newest;
  const next = newest.scan.next();
  if (next.done) heads.splice(heads.indexOf(newest), 1);
  else newest.ref = next.value;
  return ref;
}

/**
 * Events of several distinct ids, newest first, each id by the log's index. Other work gets a turn every
 * `perTurn` events.
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

/** The first `most` items. */
export async function taken<T>(walk: AsyncIterable<T>, most: number): Promise<T[]> {
  const found: T[] = [];
  if (most === 0) return found;
  for await (const it of walk) if (found.push(it) === most) break;
  return found;
}

/** At most `most` events of the log, newest first. Other work gets a turn as in `newestOf`. */
export async function* eventsWithin(
  log: TrafficLog,
  filter: EventFilter,
  most: number,
): AsyncGenerator<StoredEvent> {
  let read = 0;
  for (const ref of log.scanInSteps({ ...filter, order: "desc" })) {
    if (read === most) return;
    if (ref) yield showEvent(ref.line, ref.index);
    if (!ref || ++read % perTurn === 0) await turn();
  }
}
