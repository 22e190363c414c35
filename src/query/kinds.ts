import { hogQLKind } from "./hogql/hogql-query.ts";
import { exposuresKind } from "./insights/experiment-exposures.ts";
import { insightKinds } from "./insights/kinds.ts";
import type { QueryKind } from "./kind.ts";

/** The queries that phx-sim computes. */
export const kinds: readonly QueryKind<unknown>[] = [hogQLKind, ...insightKinds, exposuresKind];
