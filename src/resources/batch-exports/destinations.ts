import { isObject, type Json, type JsonObject, own } from "../../kernel/json.ts";
import { isSecretKey } from "../../model/batch-export-secrets.ts";
import type { BatchExport } from "../../model/world.ts";

export type Destination = BatchExport["destination"];

/** The Python types that the service checks; what may be null is not checked, except that an object must be one. */
export type FieldType = "str" | "int" | "bool" | "dict?" | "any";

interface Fields {
  readonly required: Readonly<Record<string, FieldType>>;
  readonly optional: Readonly<Record<string, FieldType>>;
}

const databaseLogin = { user: "str", password: "str", host: "str", database: "str" } as const;
const databaseTable = {
  schema: "str",
  table_name: "str",
  port: "int",
  has_self_signed_cert: "bool",
} as const;

/**
 * Where data may go, and what each `config` holds. The types that take their credentials from an integration
 * are missing: the sim has none. Upstream PostHog/posthog posthog/batch_exports/service.py.
 */
export const destinations: ReadonlyMap<string, Fields> = new Map(
  Object.entries<Fields>({
    S3: {
      required: { bucket_name: "str", region: "str", prefix: "str" },
      optional: {
        aws_access_key_id: "any",
        aws_secret_access_key: "any",
        compression: "any",
        encryption: "any",
        kms_key_id: "any",
        endpoint_url: "any",
        file_format: "str",
        max_file_size_mb: "any",
        use_virtual_style_addressing: "bool",
      },
    },
    Snowflake: {
      required: { account: "str", user: "str", database: "str", warehouse: "str", schema: "str" },
      optional: {
        table_name: "str",
        authentication_type: "str",
        password: "any",
        private_key: "any",
        private_key_passphrase: "any",
        role: "any",
      },
    },
    Postgres: { required: databaseLogin, optional: databaseTable },
    Redshift: {
      required: databaseLogin,
      // An object only, although the service takes JSON text, too: keys inside of a text could not be masked.
      optional: { ...databaseTable, properties_data_type: "str", mode: "any", copy_inputs: "dict?" },
    },
    BigQuery: {
      required: {
        project_id: "str",
        dataset_id: "str",
        private_key: "str",
        private_key_id: "str",
        token_uri: "str",
        client_email: "str",
      },
      optional: { table_id: "str", use_json_type: "bool" },
    },
    HTTP: { required: { url: "str", token: "str" }, optional: {} },
    NoOp: { required: {}, optional: { arg: "str" } },
  }),
);

/** What every `config` may hold. */
export const commonFields: Readonly<Record<string, FieldType>> = {
  exclude_events: "any",
  include_events: "any",
};

/** The destination as it is shown: secrets are left out, not masked, inside of objects, too. */
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
export const mergedConfig = (old: JsonObject, changes: JsonObject): JsonObject => ({
  ...old,
  ...Object.fromEntries(
    Object.entries(changes).map(([key, value]): [string, Json] => {
      const before = own(old, key);
      return [
        key,
        before !== undefined && isObject(before) && isObject(value) ? mergedConfig(before, value) : value,
      ];
    }),
  ),
});

/**
 * A stored destination with what an update says about it: what is not mentioned stays, secrets included.
 * Those of another type go: they would no longer be known for secrets.
 */
export const mergedDestination = (stored: Destination, update: Destination): Destination => ({
  type: update.type,
  config: mergedConfig(
    update.type === stored.type ? stored.config : withoutSecrets(stored).config,
    update.config,
  ),
});
