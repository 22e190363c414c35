import { type SwitchPart, switchFiles } from "../../../src/kernel/store/switch.ts";
import type { Unit } from "../../../src/kernel/store/unit.ts";
import type { TrafficLog } from "../../../src/state/journal/log/traffic-log.ts";

/** Writes what changed, as a group of requests does that the disk takes. */
export function flush({ unit }: { unit: Unit }): void {
  unit.write();
  unit.settle();
}

/** Puts a part in place: in memory, or in a folder. */
export function putInPlace(part: SwitchPart, folder?: string): void {
  if (folder === undefined) part.take();
  else switchFiles(folder, [part]);
}

/** Empties a log: in memory, or in a folder. */
export function reset(log: TrafficLog, folder?: string): void {
  log.commit();
  putInPlace(log.replacing([], false), folder);
}
