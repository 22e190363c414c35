import type { TrafficLog } from "../log/traffic-log.ts";
import type { TrafficLine } from "../traffic.ts";

/** Which of a line's events can be seen, as places among them: those that were cleared cannot. */
export function visibleIn(line: TrafficLine, log: Pick<TrafficLog, "scan">): number[] {
  const { seq, events } = line;
  if (seq === undefined || events === undefined) return [];
  return Array.from(log.scan({ since: seq - 1, until: seq + events.length - 1 }), ({ index }) => index);
}
