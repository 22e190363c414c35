import type { GeneratedEvent } from "./generate.ts";

/** The body of a `/batch/` request. */
export interface GeneratedBatch {
  readonly body: string;
  readonly count: number;
}

/** Events of one request: some 400 kB. */
const batchSize = 500;

/** Requests that carry the events to the project with this key, in order. */
export function* batchesOf(events: Iterable<GeneratedEvent>, apiKey: string): Generator<GeneratedBatch, void> {
  let batch: GeneratedEvent[] = [];
  const take = (): GeneratedBatch => {
    const full = batch;
    batch = [];
    const body = JSON.stringify({ api_key: apiKey, historical_migration: true, batch: full });
    return { body, count: full.length };
  };
  for (const event of events) {
    batch.push(event);
    if (batch.length === batchSize) yield take();
  }
  if (batch.length > 0) yield take();
}
