import { setImmediate as turn } from "node:timers/promises";
import type { StoredEvent } from "../../state/journal/event.ts";
import type { EventFilter, TrafficLog } from "../../state/journal/log/traffic-log.ts";
import { showEvent } from "../../state/journal/show.ts";

/** Events read between breaks for other work. */
const perTurn = 200;

type Scan = ReturnType<TrafficLog["scanInSteps"]>;
type Ref = NonNullable<Scan extends Generator<infer T> ? T : never>;

interface Head {
  readonly scan: Scan;
  ref: Ref;
}

const seqOf = ({ ref }: Head): number => ref.seq;

/** The next event of a scan; other work gets a turn while a large line is read. */
async function nextOf(scan: Scan): Promise<Ref | undefined> {
  for (;;) {
    const next = scan.next();
    if (next.done) return undefined;
    if (next.value) return next.value;
    await turn();
  }
}

async function takeNewest(heads: Head[]): Promise<Ref> {
  const newest = heads.reduce((a, b) => (seqOf(a) > seqOf(b) ? a : b));
  const { ref } = newest;
  const next = await nextOf(newest.scan);
  if (next) newest.ref = next;
  else heads.splice(heads.indexOf(newest), 1);
  return ref;
}

/** Events of several distinct ids, newest first. Other work gets a turn every `perTurn` events. */
export async function* newestOf(
  log: TrafficLog,
  ids: readonly string[],
  filter: EventFilter,
): AsyncGenerator<StoredEvent> {
  const heads: Head[] = [];
  for (const distinct_id of ids) {
    const scan = log.scanInSteps({ ...filter, distinct_id, order: "desc" });
    const ref = await nextOf(scan);
    if (ref) heads.push({ scan, ref });
  }
  for (let read = 1; heads.length > 0; read++) {
    const { line, index } = await takeNewest(heads);
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
export async function* eventsWithin(log: TrafficLog, filter: EventFilter, most: number): AsyncGenerator<StoredEvent> {
  let read = 0;
  for (const ref of log.scanInSteps({ ...filter, order: "desc" })) {
    if (read === most) return;
    if (ref) yield showEvent(ref.line, ref.index);
    if (!ref || ++read % perTurn === 0) await turn();
  }
}
