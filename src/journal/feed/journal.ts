import { headOf, type TrafficLog } from "../log/traffic-log.ts";
import type { TrafficLine } from "../traffic.ts";
import {
  eventRowOf,
  eventSubject,
  requestRowOf,
  requestSubject,
  writtenEventRows,
  writtenRequestRow,
} from "./feed-rows.ts";
import type { Entry, Journal } from "./ports.ts";
import { visibleIn } from "./visible.ts";

const entryOf = (line: TrafficLine, places: readonly number[]): Entry => ({
  n: line.n,
  project: line.project,
  request: requestRowOf(headOf(line)),
  events: places.map((i) => eventRowOf(line, i)),
});

/** The log as the feed reads it. */
export const feedJournal = (log: TrafficLog): Journal => ({
  get last() {
    return log.lastRequest;
  },
  read(n) {
    const line = log.line(n);
    return line && entryOf(line, visibleIn(line, log));
  },
  properties({ n, i }) {
    const line = log.line(n);
    return line === undefined ? {} : eventSubject(line, i).properties();
  },
  text(n) {
    const head = log.head(n);
    return head === undefined ? "" : requestSubject(head, () => log.line(n)).text();
  },
  onEntry: (kinds, tell) =>
    log.subscribe((written) =>
      tell({
        n: written.n,
        project: written.entry.project,
        request: kinds.requests ? writtenRequestRow(written) : undefined,
        events: kinds.events ? writtenEventRows(written) : undefined,
      }),
    ),
  onVeiled: (tell) => log.onVeiled(({ project }) => tell(project)),
});
