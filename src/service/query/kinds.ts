import { databaseSchemaKind } from "./hogql/database-schema.ts";
import { hogQLKind } from "./hogql/hogql-query.ts";
import { metadataKind } from "./hogql/metadata.ts";
import { exposuresKind } from "./insights/experiment-exposures.ts";
import { insightKinds } from "./insights/kinds.ts";
import type { QueryKind } from "./kind.ts";

export const kinds: readonly QueryKind<unknown>[] = [
  hogQLKind,
  ...insightKinds,
  exposuresKind,
  metadataKind,
  databaseSchemaKind,
];
