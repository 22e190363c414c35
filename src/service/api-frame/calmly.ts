import { setImmediate as turn } from "node:timers/promises";
import type { StoredEvent } from "../../state/journal/event.ts";

/** Number of events read before other work gets its turn. */
const turnEvents = 200;

/** Events one after another; other work gets its turn between them. */
export async function* calmly(events: Iterable<StoredEvent | undefined>): AsyncGenerator<StoredEvent> {
  let looked = 0;
  for (const event of events) {
    if (event) yield event;
    if (!event || ++looked % turnEvents === 0) await turn();
  }
}
