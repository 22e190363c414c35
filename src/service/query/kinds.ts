import { databaseSchemaKind, metadataKind } from "./hogql/descriptions.ts";
import { hogQLKind } from "./hogql/hogql-query.ts";
import { eventsKind } from "./insights/events-query.ts";
import { exposuresKind } from "./insights/experiment-exposures.ts";
import { funnelsKind } from "./insights/funnels.ts";
import { lifecycleKind } from "./insights/lifecycle.ts";
import { retentionKind } from "./insights/retention.ts";
import { stickinessKind } from "./insights/stickiness.ts";
import { trendsKind } from "./insights/trends.ts";
import type { QueryKind } from "./kind.ts";

export const kinds: readonly QueryKind<unknown>[] = [
  ...[hogQLKind, trendsKind, funnelsKind, retentionKind, lifecycleKind, stickinessKind, eventsKind, exposuresKind],
  ...[metadataKind, databaseSchemaKind],
];
