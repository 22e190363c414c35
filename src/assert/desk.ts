import { setMaxListeners } from "node:events";
import type { ControlDesk } from "../sim/control-desk.ts";
import { createDispatcher, type Dispatcher } from "./dispatcher.ts";
import { createRegrets, type Regrets } from "./given-up.ts";

/** What assertions may touch. */
export type AssertDesk = Pick<
  ControlDesk,
  "log" | "worlds" | "faults" | "gauge" | "clock" | "notice" | "closing" | "inspectable"
> & { readonly dispatcher: Dispatcher; readonly regrets: Regrets };

/** One dispatcher for all who wait. */
export function assertDesk(desk: ControlDesk): AssertDesk {
  const { log, worlds, faults, gauge, clock, notice, closing, inspectable } = desk;
  // every wait listens to it, and they are many
  setMaxListeners(0, closing);
  const dispatcher = createDispatcher(log);
  const regrets = createRegrets(dispatcher, notice);
  return { log, worlds, faults, gauge, clock, notice, closing, inspectable, dispatcher, regrets };
}
