import { SimError } from "../kernel/errors.ts";
import type { Draft } from "../model/world.ts";
import type { ControlDesk } from "./desk.ts";

/** Changes the world; it is on disk when this returns. @throws SimError storage_failed */
export function change<T>({ worlds }: Pick<ControlDesk, "worlds">, edit: (draft: Draft) => T): T {
  const result = worlds.change(edit);
  try {
    worlds.flush();
  } catch (cause) {
    throw new SimError("storage_failed", "the change counts, but it cannot be written to disk", { cause });
  }
  return result;
}
