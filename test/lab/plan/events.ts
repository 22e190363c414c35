import type { PlannableEvent } from "../../../src/plan.ts";

/** An event as the sim would show it. */
export const event = (seq: number, name: string, properties: object = {}): PlannableEvent => ({
  seq,
  event: name,
  distinct_id: "u1",
  properties: { ...properties },
});
