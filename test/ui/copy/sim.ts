import { afterAll, beforeAll } from "vitest";
import { type Project, type Sim, startSim } from "../../../src/index.ts";
import type { Json } from "../../../src/kernel/base/json.ts";
import type { StoredEvent } from "../../../src/state/journal/stored-event.ts";
import type { CopyContext } from "../../../ui/copy/subject.ts";

/** A sim for the tests of a file. */
export function simOfFile(): () => Sim {
  let sim: Sim;
  beforeAll(async () => {
    sim = await startSim();
  });
  afterAll(() => sim?.close());
  return () => sim;
}

/** Sends an item by itself and reports what became of it. */
export async function sent(sim: Sim, ph: Project, item: Json): Promise<StoredEvent> {
  const mark = await ph.events.mark();
  const answer = await fetch(`${sim.url}/batch/`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ api_key: ph.apiKey, batch: [item] }),
  });
  if (!answer.ok) throw new Error(`${answer.status}: ${await answer.text()}`);
  const since = { since: mark };
  const [kept, dropped] = await Promise.all([ph.events.list(since), ph.events.dropped(since)]);
  const event = [...kept, ...dropped][0];
  if (!event) throw new Error("nothing arrived");
  return event;
}

export const contextOf = (sim: Sim, ph: Project, item?: Json): CopyContext => ({
  url: sim.url,
  apiKey: ph.apiKey,
  item,
});
