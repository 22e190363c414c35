import { isObject, type Json, type JsonObject, own } from "../../../kernel/base/json.ts";
import { isSecretKey } from "../../../state/documents/batch-export-secrets.ts";
import type { BatchExport } from "../../../state/documents/world.ts";
import { typeName } from "../../api-frame/fields.ts";

export type Destination = BatchExport["destination"];

/** The Python types that the service checks; what may be null is not checked, except that an object must be one. */
type FieldType = "str" | "int" | "bool" | "dict?" | "any";

interface Fields {
  readonly required: Readonly<Record<string, FieldType>>;
  readonly optional: Readonly<Record<string, FieldType>>;
}

const databaseLogin = { user: "str", password: "str", host: "str", database: "str" } as const;
const databaseTable = { schema: "str", table_name: "str", port: "int", has_self_signed_cert: "bool" } as const;

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
      // An object only, although the service takes JSON text, too: keys inside a string could not be masked.
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
const commonFields: Readonly<Record<string, FieldType>> = { exclude_events: "any", include_events: "any" };

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

/** The service's checks of a destination. Upstream PostHog/posthog posthog/batch_exports/http.py. */

const yes = new Set(["y", "yes", "t", "true", "on", "1"]);

/** How a value becomes one of the type; undefined when it cannot. */
const readers: Record<FieldType, (value: Json) => Json | undefined> = {
  str: (value) => (typeof value === "string" ? value : undefined),
  int(value) {
    if (typeof value === "boolean" || Number.isInteger(value)) return value;
    return typeof value === "string" && /^\s*[+-]?\d{1,15}\s*$/.test(value) ? Number(value) : undefined;
  },
  bool(value) {
    if (typeof value === "string") return yes.has(value.toLowerCase());
    return typeof value === "boolean" ? value : undefined;
  },
  "dict?": (value) => (value === null || isObject(value) ? value : undefined),
  any: (value) => value,
};

const quoted = (names: readonly string[]): string => names.map((it) => `'${it}'`).join(", ");

/** A configuration with its values in their types, or what is wrong with it. */
type Checked = { config: JsonObject; problem?: undefined } | { problem: string };

/** Checks a configuration key by key; a partial one may lack required keys. */
export function checkConfig({ type, config }: Destination, isPartial: boolean): Checked {
  const { required = {}, optional = {} } = destinations.get(type) ?? {};
  const known = { ...required, ...optional, ...commonFields };
  const unknown = Object.keys(config).filter((key) => !Object.hasOwn(known, key));
  if (unknown.length > 0) {
    return { problem: `Configuration has unknown field/s: ${quoted(unknown.sort())}` };
  }
  const values: [string, Json][] = [];
  for (const [key, fieldType] of Object.entries(known)) {
    const value = own(config, key);
    if (value === undefined) {
      if (isPartial || !Object.hasOwn(required, key)) continue;
      return { problem: `Configuration missing required field: '${key}'` };
    }
    const read = readers[fieldType](value);
    if (read === undefined) return { problem: wrongType(value, fieldType) };
    values.push([key, read]);
  }
  return { config: Object.fromEntries(values) };
}

const wrongType = (value: Json, expected: FieldType): string =>
  `Configuration has invalid type: got '${typeName(value)}', expected '${expected.replace("?", "")}'`;

/** Compressions of each file format on S3. Upstream s3_batch_export.py. */
const compressions: ReadonlyMap<string, readonly string[]> = new Map([
  ["Parquet", ["zstd", "lz4", "snappy", "gzip", "brotli"]],
  ["JSONLines", ["gzip", "brotli"]],
]);

const listed = (names: Iterable<string>): string => `[${quoted([...names])}]`;

/** A value in a message of the service. */
const spelled = (value: Json): string => (typeof value === "string" ? value : JSON.stringify(value));

function checkFiles(config: JsonObject): string | undefined {
  const format = own(config, "file_format") ?? "JSONLines";
  const known = typeof format === "string" ? compressions.get(format) : undefined;
  if (!known) {
    const supported = listed(compressions.keys());
    return `File format ${spelled(format)} is not supported. Supported file formats are ${supported}`;
  }
  const compression = own(config, "compression") ?? null;
  if (compression === null || compression === "") return undefined;
  if (typeof compression === "string" && known.includes(compression)) return undefined;
  return `Compression ${spelled(compression)} is not supported for file format ${format}. Supported compressions are ${listed(known)}`;
}

const snowflakeLogins = [
  { type: "password", needs: "password", problem: "Password is required if authentication type is password" },
  { type: "keypair", needs: "private_key", problem: "Private key is required if authentication type is key pair" },
] as const;

const checkLogin = (config: JsonObject, whole: JsonObject): string | undefined =>
  snowflakeLogins.find(
    ({ type, needs }) => own(config, "authentication_type") === type && (own(whole, needs) ?? null) === null,
  )?.problem;

const lacks = (value: Json | undefined, keys: readonly string[]): boolean =>
  value === undefined || !isObject(value) || keys.some((key) => !Object.hasOwn(value, key));

const credentials = ["aws_access_key_id", "aws_secret_access_key"];

/** What COPY needs, in the order in which it is missed. */
const copyRules: readonly { problem: string; isBroken(inputs: JsonObject): boolean }[] = [
  { problem: "Missing required inputs for 'COPY'", isBroken: (inputs) => Object.keys(inputs).length === 0 },
  {
    problem: "Missing required input for 'COPY'",
    isBroken: (inputs) => lacks(inputs, ["s3_bucket", "region_name", "authorization", "bucket_credentials"]),
  },
  {
    problem: "Missing required bucket credentials for 'COPY'",
    isBroken: ({ bucket_credentials }) => lacks(bucket_credentials, credentials),
  },
  {
    problem: "Missing required credentials for 'COPY'",
    isBroken: ({ authorization }) => typeof authorization !== "string" && lacks(authorization, credentials),
  },
  {
    problem: "Missing required IAM role for 'COPY'",
    isBroken: ({ authorization }) => typeof authorization === "string" && authorization.trim() === "",
  },
];

function checkCopy(whole: JsonObject): string | undefined {
  if (own(whole, "mode") !== "COPY") return undefined;
  const inputs = own(whole, "copy_inputs") ?? null;
  const object = isObject(inputs) ? inputs : {};
  return copyRules.find(({ isBroken }) => isBroken(object))?.problem;
}

/** Further rules by type: of what is written, and of what it makes of the stored configuration. */
const rules: ReadonlyMap<string, (config: JsonObject, whole: JsonObject) => string | undefined> = new Map([
  ["S3", checkFiles],
  ["Snowflake", checkLogin],
  ["Redshift", (_: JsonObject, whole: JsonObject) => checkCopy(whole)],
]);

/** The first rule of its type that a destination, merged over the stored configuration, breaks. */
export const brokenRule = ({ type, config }: Destination, stored: JsonObject): string | undefined =>
  rules.get(type)?.(config, mergedConfig(stored, config));
