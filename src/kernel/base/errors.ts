/** The one list of ways to fail: code → HTTP status and the service's `type`. http/error-body.ts writes the bodies. */
const rows = {
  // Capture edge (Rust capture): plain-text bodies.
  missing_payload: [400, "validation_error"],
  undecodable_payload: [400, "validation_error"],
  unparsable_payload: [400, "validation_error"],
  empty_batch: [400, "validation_error"],
  missing_event_name: [400, "validation_error"],
  empty_event_name: [400, "validation_error"],
  missing_distinct_id: [400, "validation_error"],
  invalid_cookieless_mode: [400, "validation_error"],
  invalid_recording: [400, "validation_error"],
  not_an_ai_event: [400, "validation_error"],
  missing_batch_token: [400, "validation_error"],
  missing_token: [401, "authentication_error"],
  inconsistent_tokens: [401, "authentication_error"],
  malformed_token: [401, "authentication_error"],
  unknown_token: [401, "authentication_error"],
  payload_too_large: [413, "validation_error"],
  body_read_timeout: [408, "server_error"],
  // Never on the wire: the client is gone. The status is the usual one for logs.
  sender_gone: [499, "server_error"],
  // Capture v1: JSON bodies {error, error_description, error_uri}.
  empty_body: [400, "validation_error"],
  request_parsing_error: [400, "validation_error"],
  invalid_batch: [400, "validation_error"],
  missing_event_uuid: [400, "validation_error"],
  invalid_event_uuid: [400, "validation_error"],
  duplicate_event_uuid: [400, "validation_error"],
  missing_required_headers: [400, "validation_error"],
  invalid_header_value: [400, "validation_error"],
  invalid_api_token: [401, "authentication_error"],
  unsupported_content_type: [415, "validation_error"],
  unsupported_content_encoding: [415, "validation_error"],
  unsupported_encoding: [415, "validation_error"],
  missing_authorization: [401, "authentication_error"],
  request_decoding_error: [400, "validation_error"],
  billing_limit_exceeded: [429, "validation_error"],
  // Flags and the service's JSON family {type, code, detail, attr}.
  not_authenticated: [401, "authentication_error"],
  authentication_failed: [401, "authentication_error"],
  missing_api_key: [401, "authentication_error"],
  invalid_api_key: [401, "authentication_error"],
  payment_required: [402, "quota_limited"],
  permission_denied: [403, "authentication_error"],
  invalid_input: [400, "validation_error"],
  required: [400, "validation_error"],
  null: [400, "validation_error"],
  blank: [400, "validation_error"],
  max_length: [400, "validation_error"],
  min_length: [400, "validation_error"],
  max_value: [400, "validation_error"],
  min_value: [400, "validation_error"],
  invalid_choice: [400, "validation_error"],
  not_a_list: [400, "validation_error"],
  not_a_dict: [400, "validation_error"],
  does_not_exist: [400, "validation_error"],
  incorrect_type: [400, "validation_error"],
  unique: [400, "validation_error"],
  invalid_key: [400, "validation_error"],
  invalid_value: [400, "validation_error"],
  invalid_date: [400, "validation_error"],
  cohort_does_not_exist: [400, "validation_error"],
  behavioral_cohort_found: [400, "validation_error"],
  unsupported_config_version: [400, "validation_error"],
  // Rules of version 2.
  invalid: [400, "validation_error"],
  unknown_field: [400, "validation_error"],
  not_unique: [400, "validation_error"],
  unsupported: [400, "validation_error"],
  limit_exceeded: [400, "validation_error"],
  parse_error: [400, "invalid_request"],
  not_found: [404, "invalid_request"],
  method_not_allowed: [405, "invalid_request"],
  not_acceptable: [406, "invalid_request"],
  throttled: [429, "throttled_error"],
  conflict: [409, "server_error"],
  not_emulated: [501, "invalid_request"],
  query_timeout: [504, "server_error"],
  clickhouse_memory_limit_exceeded: [513, "server_error"],
  // Control API {code, detail, hint, pointer}.
  wait_timeout: [409, "validation_error"],
  expectation_failed: [409, "validation_error"],
  forbidden_host: [403, "authentication_error"],
  forbidden_origin: [403, "authentication_error"],
  control_token_required: [401, "authentication_error"],
  unsupported_media_type: [415, "invalid_request"],
  upgrade_required: [426, "invalid_request"],
  not_ready: [503, "server_error"],
  // Ours.
  unknown_project: [400, "validation_error"],
  storage_failed: [503, "server_error"],
  internal: [500, "server_error"],
  // The service itself would fail here (production dialect only).
  error: [500, "server_error"],
} as const satisfies Record<string, readonly [status: number, type: string]>;

export type ErrorCode = keyof typeof rows;

export interface ErrorExtra {
  /** The field to blame, nested names joined by `__`, as the service does. */
  attr?: string;
  hint?: string;
  pointer?: string;
  /** Seconds to wait before the next attempt; becomes the Retry-After header. */
  retryAfter?: number;
  data?: Record<string, unknown>;
  cause?: unknown;
}

/** Every failure that is an answer. Unknown errors become `internal` and are logged. */
export class SimError extends Error {
  readonly code: ErrorCode;
  readonly extra: ErrorExtra;

  constructor(code: ErrorCode, detail: string, extra: ErrorExtra = {}) {
    super(detail, extra.cause === undefined ? undefined : { cause: extra.cause });
    this.name = "SimError";
    this.code = code;
    this.extra = extra;
  }

  get status(): number {
    return rows[this.code][0];
  }

  get type(): string {
    return rows[this.code][1];
  }
}

export const errorCodes = Object.keys(rows) as ErrorCode[];

export const stackOf = (thrown: unknown): string =>
  thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);

export const messageOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown));

/** System codes of a disk that takes nothing more: no mistake in a request, and no bug. */
const troubles: Readonly<Record<string, string>> = {
  ENOSPC: "the disk is full",
  EDQUOT: "the disk quota is used up",
  EFBIG: "a file has reached its size limit",
  EIO: "the disk reports an input/output error",
  EROFS: "the file system is read-only",
};

/** The data folder is in a state in which nothing may be written; the message is the reason. */
export class StorageRefusal extends Error {
  override readonly name = "StorageRefusal";
}

/** Why a write was refused, in words; undefined for any other error. */
export function storageTrouble(error: unknown): string | undefined {
  if (error instanceof StorageRefusal) return error.message;
  const code = systemCode(error);
  return Object.hasOwn(troubles, code) ? troubles[code] : undefined;
}

/** The code of an error about a file of the build that cannot be read now. */
export const unreadPart = "ERR_PHX_SIM_PART";

/** Codes of what phx-sim lacks for the moment, with the fix: no mistake in a request, and no bug. */
const shortages: Readonly<Record<string, readonly [what: string, hint: string]>> = {
  EMFILE: ["phx-sim has no file descriptors left", "close connections, or raise the limit: ulimit -n"],
  ENFILE: ["this machine has no file descriptors left", "close files and connections on this machine"],
  [unreadPart]: [
    "a file of phx-sim cannot be read",
    "try again once the installation or the build is complete; if it persists, restart phx-sim",
  ],
};

export function shortageOf(error: unknown): readonly [what: string, hint: string] | undefined {
  const code = systemCode(error);
  return Object.hasOwn(shortages, code) ? shortages[code] : undefined;
}

/** The system's code of an error, such as `ENOENT`; "" for any other error. */
export const systemCode = (error: unknown): string =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
