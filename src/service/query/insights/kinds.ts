import { eventsKind } from "./events-query.ts";
import { funnelsKind } from "./funnels.ts";
import { lifecycleKind } from "./lifecycle.ts";
import { retentionKind } from "./retention.ts";
import { stickinessKind } from "./stickiness.ts";
import { trendsKind } from "./trends.ts";

/** The queries of insights, and the list of events. */
export const insightKinds = [
  trendsKind,
  funnelsKind,
  retentionKind,
  lifecycleKind,
  stickinessKind,
  eventsKind,
] as const;
