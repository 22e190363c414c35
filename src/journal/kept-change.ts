import type { ControlDesk } from "../sim/control-desk.ts";
import type { Draft } from "../world/world.ts";

/** Changes the world; it is on disk when this returns. @throws the system's error; then nothing has changed */
export function change<T>(
  { worlds, log }: Pick<ControlDesk, "worlds" | "log">,
  edit: (draft: Draft) => T,
): T {
  const result = worlds.change(edit);
  log.commit();
  return result;
}
