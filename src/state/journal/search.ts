import { setImmediate as turn } from "node:timers/promises";
import type { TimeSource } from "../../kernel/base/clock.ts";
import { inSlices } from "../../kernel/base/work.ts";
import type { StoredProject } from "../documents/world.ts";
import type { StoredEvent } from "./event.ts";
import { passedRequest } from "./feed/make-rows.ts";
import type { Filter, RequestSubject } from "./filter/types.ts";
import { everything } from "./filter-parameter.ts";
import type { EventFilter, RequestHead, TrafficLog } from "./log/traffic-log.ts";
import { showEvent } from "./show.ts";
import type { TrafficLine } from "./traffic.ts";
import { isUnmatched } from "./unmatched.ts";

/** Lines, and bytes of them, that are read before other work gets a turn. */
export const slice = 200;
const sliceBytes = 512 * 1024;

function createPauses(): (size: number) => Promise<void> | undefined {
  let [lines, bytes] = [0, 0];
  return (size) => {
    bytes += size;
    if (++lines < slice && bytes < sliceBytes) return undefined;
    [lines, bytes] = [0, 0];
    return turn();
  };
}

/** The most that is read for one page. The page then ends early, with the place where the next one begins. */
const largestSearch = { entries: 20_000, bytes: 64 * 1024 * 1024 };

export function createBudget(most = largestSearch): (size: number) => boolean {
  let [entries, bytes] = [0, 0];
  return (size) => {
    bytes += size;
    return ++entries >= most.entries || bytes >= most.bytes;
  };
}

interface ExaminedEvent {
  readonly seq: number;
  readonly event: StoredEvent | undefined;
  readonly size: number;
}

/** Examines events in order, with pauses for other requests. @param match The event if it matches (default: every one) */
export async function* examineEvents(
  log: TrafficLog,
  filter: EventFilter,
  match: (line: TrafficLine, index: number) => StoredEvent | undefined = showEvent,
): AsyncGenerator<ExaminedEvent> {
  const pause = createPauses();
  let last: TrafficLine | undefined;
  for (const ref of log.scanInSteps(filter)) {
    if (!ref) {
      await turn();
      continue;
    }
    const { seq, line, index } = ref;
    const size = line === last ? 0 : log.sizeOf(line.n);
    last = line;
    yield { seq, event: match(line, index), size };
    const paused = pause(size);
    if (paused) await paused;
  }
}

export async function* searchEvents(log: TrafficLog, filter: EventFilter): AsyncGenerator<StoredEvent> {
  for await (const { event } of examineEvents(log, filter)) if (event) yield event;
}

export interface RequestSearchPorts {
  readonly log: TrafficLog;
  readonly clock: TimeSource;
  readonly worlds: { projectById(id: number): StoredProject | undefined };
}

export interface RequestSelection {
  readonly project?: number | undefined;
  readonly partition?: string | undefined;
  readonly outcome?: "answered" | "rejected" | "unmatched" | undefined;
  readonly before?: number | undefined;
  readonly since?: number | undefined;
  readonly filter: Filter<RequestSubject>;
}

/** True if the request is of the project, or has no project's key and arrived while the project existed. */
export function countsFor(
  { worlds }: Pick<RequestSearchPorts, "worlds">,
  line: Pick<TrafficLine, "n" | "project">,
  project: number,
): boolean {
  if (line.project !== null) return line.project === project;
  const found = worlds.projectById(project);
  return found !== undefined && line.n > (found.ephemeral?.after_request ?? 0);
}

interface ExaminedRequest {
  readonly n: number;
  readonly head: RequestHead | undefined;
}

/** Examines requests, newest first, with pauses for other calls. */
export async function* examineRequests(
  ports: RequestSearchPorts,
  { outcome, partition, before, since = 0, filter, ...selection }: RequestSelection,
): AsyncGenerator<ExaminedRequest> {
  const { log, clock } = ports;
  // unmatched requests of a project include those without a project's key, which the index cannot find
  const shared = outcome === "unmatched" ? selection.project : undefined;
  const project = shared === undefined ? (selection.project ?? filter.indexed.project) : filter.indexed.project;
  const rejected = outcome === undefined ? filter.indexed.rejected : outcome !== "answered";
  const matches = (head: RequestHead): boolean =>
    (!partition || head.partition === partition) &&
    (outcome !== "unmatched" || isUnmatched(head)) &&
    (shared === undefined || countsFor(ports, head, shared));
  const pause = createPauses();
  for (const n of log.requests({
    ...(project !== undefined && { project }),
    ...(rejected !== undefined && { rejected }),
    ...(partition && { partition }),
    ...(before !== undefined && { before }),
  })) {
    if (n <= since) return;
    const head = log.head(n);
    const isMatch =
      head &&
      matches(head) &&
      (filter === everything || (await inSlices(passedRequest(log, head, filter, clock.now()))));
    yield { n, head: isMatch ? head : undefined };
    const paused = pause(log.sizeOf(n));
    if (paused) await paused;
  }
}
