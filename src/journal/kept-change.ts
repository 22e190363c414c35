import type { Draft } from "../world/world.ts";
import type { TrafficLog } from "./log/traffic-log.ts";

interface WorldAndLog {
  readonly worlds: { change<T>(edit: (draft: Draft) => T): T };
  readonly log: Pick<TrafficLog, "commit">;
}

/** Changes the world; it is on disk when this returns. @throws the system's error; then nothing has changed */
export function change<T>({ worlds, log }: WorldAndLog, edit: (draft: Draft) => T): T {
  const result = worlds.change(edit);
  log.commit();
  return result;
}
