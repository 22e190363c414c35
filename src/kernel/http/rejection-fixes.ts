import type { ErrorCode } from "../base/errors.ts";

const key = "use the project key {key} (phx-sim env prints it), or start with --adopt-tokens";
const personal = "send the personal API key as `Authorization: Bearer` (phx-sim env prints it)";
const json = "send JSON as `Content-Type: application/json`; gzip, base64, lz64 and form `data=` are understood, too";

/** What the sender can do about a rejected request; `{key}` stands for the known project key. */
const fixes: Partial<Record<ErrorCode, string>> = {
  missing_payload: json,
  empty_body: json,
  undecodable_payload: json,
  unparsable_payload: json,
  request_parsing_error: json,
  parse_error: json,
  empty_batch: "send at least one event",
  invalid_batch: "send at least one event in `batch`",
  missing_event_name: "send a string `event`",
  empty_event_name: "send a non-empty `event`",
  missing_distinct_id: "send `distinct_id` at the top level or in `properties`",
  missing_token: key,
  malformed_token: key,
  unknown_token: key,
  invalid_api_token: key,
  missing_api_key: key,
  invalid_api_key: key,
  inconsistent_tokens: "send the events of one project per request",
  payload_too_large: "send smaller batches",
  body_read_timeout: "send the whole body",
  sender_gone: "keep the connection open until the response arrives (flush before the process ends)",
  missing_event_uuid: "give each event a uuid",
  invalid_event_uuid: "give each event a UUID",
  duplicate_event_uuid: "give each event its own uuid",
  unknown_project: "name a project that is there: X-Phx-Project takes its number or its key",
  not_authenticated: personal,
  authentication_failed: personal,
  permission_denied: "use a key whose scopes, limits and user allow it (a scenario gives them)",
  unsupported_media_type: "send JSON as `Content-Type: application/json`",
  throttled: "wait as long as Retry-After says, or start without --rate-limits",
  query_timeout: "narrow the query, or start with --query-timeout",
  clickhouse_memory_limit_exceeded: "narrow the query: a shorter date range, fewer columns, shorter texts and arrays",
  method_not_allowed: "use the method the contract names, or --dialect production",
  storage_failed: "look at the data folder's disk and permissions",
  internal: "this is a bug of phx-sim; please report it",
};

/** The same for reasons that are no error codes: what a tape or the upstream did. */
const passedOn: Readonly<Record<string, string>> = {
  tape_miss: "record the tape again, or replay it with --on-miss emulate",
  upstream_unreachable: "check the upstream's address and the network",
  upstream_gone: "check the upstream: it ended the connection",
  upstream: "check the upstream's response: it rejected the request",
};

/** What to do about a rejection's reason; empty when there is nothing to say. */
export function fixFor(reason: string, projectKey: string): string {
  const fix = Object.entries({ ...fixes, ...passedOn }).find(([code]) => code === reason)?.[1] ?? "";
  return fix.replace("{key}", projectKey);
}
