import type { Sim, StoredEvent } from "../index.ts";

/** Events asked for at a time. */
const page = 1000;

/** All events, kept and dropped, in order of arrival. */
export async function* allEvents(sim: Sim): AsyncGenerator<StoredEvent> {
  let since = 0;
  for (;;) {
    const events = await sim.events.list({ since, limit: page });
    yield* events;
    if (events.length < page) return;
    since = events.at(-1)?.seq ?? since;
  }
}
