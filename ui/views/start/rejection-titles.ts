/** Reasons for which whole requests are rejected, in words. */
const titles: Readonly<Record<string, string>> = {
  invalid_api_key: "the project key is not known",
  invalid_api_token: "the project key is not known",
  unknown_token: "the project key is not known",
  malformed_token: "the project key is malformed",
  missing_api_key: "the request has no project key",
  missing_token: "the request has no project key",
  missing_payload: "the body is empty",
  empty_body: "the body is empty",
  undecodable_payload: "the body cannot be decoded",
  unparsable_payload: "the body is not JSON",
  request_parsing_error: "the body is not JSON",
  parse_error: "the body is not JSON",
  payload_too_large: "the body is too large",
  not_authenticated: "the request has no personal key",
  authentication_failed: "the personal key is not known",
  permission_denied: "the personal key may not do this",
  throttled: "there were too many requests",
  tape_miss: "the tape has no response to this request",
  upstream_unreachable: "the upstream cannot be reached",
};

interface Rejected {
  readonly reason: string;
  readonly detail: string;
  readonly status: number;
  readonly what: string;
}

/** A rejection in words; the sim's own words for a reason that has none here. */
export function rejectionTitle({ reason, detail, status, what }: Rejected): string {
  const known = Object.hasOwn(titles, reason) ? titles[reason] : undefined;
  return known ?? (status === 404 ? `${what} is answered with 404` : detail);
}
