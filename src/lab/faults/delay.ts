import type { FaultEffect } from "./shapes.ts";

/** How long a fault delays an answer, in ms. The layer of faults waits that long (`delivering` in kernel/http/layer.ts). */
export function delayOf({ latency = 0, jitter = 0 }: FaultEffect, random: () => number): number {
  return jitter === 0 ? latency : Math.max(0, Math.round(latency + (random() * 2 - 1) * jitter));
}
