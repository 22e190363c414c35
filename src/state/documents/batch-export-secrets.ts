import type { Json, JsonObject } from "../../kernel/base/json.ts";
import type { BatchExport } from "./world.ts";

type Destination = BatchExport["destination"];

/** Keys of a destination's `config` that the service never returns, by type. Upstream: `posthog/batch_exports/models.py`. */
const secretKeys: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries({
    S3: ["aws_access_key_id", "aws_secret_access_key"],
    Snowflake: ["user", "password", "private_key", "private_key_passphrase"],
    Postgres: ["user", "password"],
    Redshift: ["user", "password", "aws_access_key_id", "aws_secret_access_key"],
    BigQuery: ["private_key", "private_key_id", "token_uri", "client_email"],
    HTTP: ["token"],
  }).map(([type, keys]) => [type, new Set(keys)]),
);

const looksSecret = (key: string): boolean => /secret|password|token|private_key|access_key/i.test(key);

/** True for JSON in a text: keys inside could not be masked. */
const isHiddenText = (key: string, value: Json): boolean => key === "copy_inputs" && typeof value === "string";

/** True if the value of this key of a destination's `config` is secret; for unknown types the key decides. */
export const isSecretKey = (type: string, key: string): boolean => secretKeys.get(type)?.has(key) ?? looksSecret(key);

const mask = "***";

/** The destination with `***` for each secret of its `config`, also in objects inside it; a secret that is null stays null. */
export const maskSecrets = (destination: Destination): Destination => ({
  ...destination,
  config: masked(destination.type, destination.config),
});

const masked = (type: string, config: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(config).map(([key, value]) => [
      key,
      value !== null && (isSecretKey(type, key) || isHiddenText(key, value)) ? mask : inside(type, value),
    ]),
  );

const inside = (type: string, value: Json): Json => {
  if (Array.isArray(value)) return value.map((it) => inside(type, it));
  return typeof value === "object" && value !== null ? masked(type, value) : value;
};
