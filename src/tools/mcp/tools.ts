import { eventsSince, explainDrop, waitFor } from "./event-tools.ts";
import { query } from "./query-tool.ts";
import { check, flagsExplain, flagsSet, lint, start, status } from "./sim-tools.ts";
import type { Tool } from "./tool.ts";

/** Every tool, in the order in which clients list them. */
export const tools: readonly Tool[] = [
  status,
  start,
  eventsSince,
  waitFor,
  explainDrop,
  flagsExplain,
  flagsSet,
  query,
  lint,
  check,
];
