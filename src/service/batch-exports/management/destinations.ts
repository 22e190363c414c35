import { isObject, type Json, type JsonObject, own } from "../../../kernel/base/json.ts";
import { isSecretKey } from "../../../state/documents/batch-export-secrets.ts";
import type { BatchExport } from "../../../state/documents/world.ts";

export type Destination = BatchExport["destination"];

/**
 * Where data may go; each `config` is kept as sent. The types that take their credentials from an integration are
 * missing: the sim has none. Upstream PostHog/posthog posthog/batch_exports/service.py.
 */
export const destinations = ["S3", "Snowflake", "Postgres", "Redshift", "BigQuery", "HTTP", "NoOp"] as const;

/** The destination without secrets, also inside objects; they are removed, not masked. */
export const withoutSecrets = ({ type, config }: Destination): Destination => ({
  type,
  config: withoutSecretKeys(type, config),
});

const withoutSecretKeys = (type: string, config: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(config)
      .filter(([key]) => !isSecretKey(type, key))
      .map(([key, value]): [string, Json] => [key, isObject(value) ? withoutSecretKeys(type, value) : value]),
  );

/** One configuration laid over another, objects inside of it included. */
const mergedConfig = (old: JsonObject, changes: JsonObject): JsonObject => ({
  ...old,
  ...Object.fromEntries(
    Object.entries(changes).map(([key, value]): [string, Json] => {
      const before = own(old, key);
      return [key, before !== undefined && isObject(before) && isObject(value) ? mergedConfig(before, value) : value];
    }),
  ),
});

/**
 * A stored destination with an update applied: keys that the update lacks stay, secrets included.
 * Secrets of another type are removed: they would no longer be recognized.
 */
export const mergedDestination = (stored: Destination, update: Destination): Destination => ({
  type: update.type,
  config: mergedConfig(update.type === stored.type ? stored.config : withoutSecrets(stored).config, update.config),
});
