import { funnelsKind } from "./funnels.ts";
import { trendsKind } from "./trends.ts";

/** The queries of insights. */
export const insightKinds = [trendsKind, funnelsKind] as const;
