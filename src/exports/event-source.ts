import { setImmediate as nextTurn } from "node:timers/promises";
import type { StoredEvent } from "../model/event.ts";
import type { TrafficLine } from "../model/traffic.ts";
import type { EventSpan, EventTime, ExportSource } from "./ports.ts";

interface Found {
  seq: number;
  line: TrafficLine;
  index: number;
}

/** The log of events as exports read it (store/traffic-log.ts). */
export interface EventLog {
  scan(filter: { project: number; outcome: "kept"; since?: number; until?: number }): Iterable<Found>;
}

/** Reads the events of spans. */
export interface EventSource extends Pick<ExportSource, "events"> {
  /** To be called when events were forgotten: what is known of them goes, too. */
  forget(): void;
}

/** Looked at before other work has its turn. */
const turnEvents = 1_000;

type Times = Record<EventTime, number> & { seq: number };

/** When the events of a project came and happened, in order of arrival: 24 bytes each. */
function createTimes() {
  const width = 3;
  let cells = new Float64Array(1024 * width);
  let count = 0;
  return {
    last: () => (count === 0 ? 0 : (cells[(count - 1) * width] ?? 0)),
    add({ seq, received_at, timestamp }: Times) {
      if ((count + 1) * width > cells.length) {
        const larger = new Float64Array(cells.length * 2);
        larger.set(cells);
        cells = larger;
      }
      cells.set([seq, received_at, timestamp], count * width);
      count++;
    },
    /** Seqs of the events of a span. */
    *within({ by, start, end }: Omit<EventSpan, "project">): Generator<number> {
      const column = by === "received_at" ? 1 : 2;
      const from = start ?? Number.NEGATIVE_INFINITY;
      for (let row = 0; row < count; row++) {
        const time = cells[row * width + column] ?? Number.NaN;
        if (time >= from && time < end) yield cells[row * width] ?? 0;
      }
    },
  };
}

/**
 * Reads events by their times. The log has no index of times, so that one is made of each project that is
 * exported: otherwise each run would read the whole log.
 * @param show shows an event of a line
 */
export function createEventSource(
  log: EventLog,
  show: (line: TrafficLine, index: number) => StoredEvent,
): EventSource {
  const known = new Map<number, ReturnType<typeof createTimes>>();

  async function timesOf(project: number) {
    const times = known.get(project) ?? createTimes();
    known.set(project, times);
    let looked = 0;
    for (const { seq, line, index } of log.scan({ project, outcome: "kept", since: times.last() })) {
      times.add({ seq, received_at: line.at, timestamp: line.events?.[index]?.time ?? Number.NaN });
      if (++looked % turnEvents === 0) await nextTurn();
    }
    return times;
  }

  return {
    async *events({ project, ...span }) {
      const times = await timesOf(project);
      for (const seq of times.within(span)) {
        for (const { line, index } of log.scan({ project, outcome: "kept", since: seq - 1, until: seq })) {
          yield show(line, index);
        }
      }
    },
    forget: () => known.clear(),
  };
}
