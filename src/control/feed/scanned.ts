import type { IndexedPart } from "../../filter/types.ts";
import type { EventFilter } from "../../store/traffic-log.ts";

/** What the log's index is asked for; the filter itself looks at the rest. */
export const scanned = (
  { event, distinct_id, outcome, ...indexed }: IndexedPart,
  project = indexed.project,
): EventFilter => ({
  ...(event !== undefined && { event }),
  ...(distinct_id !== undefined && { distinct_id }),
  ...(outcome !== undefined && { outcome }),
  ...(project !== undefined && { project }),
});
