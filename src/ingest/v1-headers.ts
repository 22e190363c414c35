import { type ErrorCode, SimError } from "../kernel/errors.ts";
import { isUuid } from "../kernel/ids.ts";
import { inflaters } from "../kernel/inflate.ts";
import { parseRfc3339 } from "./timestamp.ts";

type Headers = Readonly<Record<string, string | undefined>>;

/** What the headers of a v1 request say. */
interface V1Headers {
  /** "" where none is needed. */
  token: string;
  /** Name in Content-Encoding, in lower case. */
  encoding: string | undefined;
  /** The sender's clock, ms since the epoch. */
  sentAt: number;
}

const required = [
  "posthog-sdk-info",
  "posthog-attempt",
  "posthog-request-id",
  "posthog-request-timestamp",
  "content-type",
  "user-agent",
];

const invalid = (text: string): SimError =>
  new SimError("invalid_header_value", `invalid header value: ${text}`);

/** The key behind `Bearer`, in any case. @throws SimError */
function bearer(authorization: string): string {
  const [scheme = "", ...rest] = authorization.split(" ");
  const token = rest.join(" ").trim();
  if (scheme.toLowerCase() === "bearer" && token !== "") return token;
  throw invalid("Authorization must use Bearer scheme");
}

const isJsonType = (type: string): boolean => type.split(";")[0]?.trim().toLowerCase() === "application/json";

interface Check {
  header: string;
  fits(value: string): boolean;
  code: ErrorCode;
  says(value: string): string;
}

const headerCheck = (header: string, fits: Check["fits"], what: string): Check => ({
  header,
  fits,
  code: "invalid_header_value",
  says: (value) => `invalid header value: ${header} ${what}: ${value}`,
});

/** In the order of the service. Upstream capture, v1/context.rs. */
const checks: readonly Check[] = [
  {
    header: "content-type",
    fits: isJsonType,
    code: "unsupported_content_type",
    says: (value) => `unsupported content type: ${value}`,
  },
  {
    header: "content-encoding",
    fits: (value) => inflaters.has(value.toLowerCase()),
    code: "unsupported_encoding",
    says: (value) => `unsupported content encoding: ${value}`,
  },
  headerCheck("posthog-request-id", isUuid, "is not a valid UUID"),
  headerCheck("posthog-attempt", (value) => /^[1-9]\d{0,8}$/.test(value), "must be a positive integer"),
  headerCheck(
    "posthog-request-timestamp",
    (value) => !Number.isNaN(parseRfc3339(value)),
    "is not valid RFC 3339",
  ),
];

/**
 * Checks the headers of a v1 request; `isNamed`: its project is known already, and no key is looked for.
 * @throws SimError missing_authorization, missing_required_headers, invalid_header_value,
 * unsupported_content_type, unsupported_encoding
 */
export function readV1Headers(headers: Headers, isNamed = false): V1Headers {
  const { authorization } = headers;
  if (authorization === undefined && !isNamed) {
    throw new SimError("missing_authorization", "request is missing the Authorization header");
  }
  const missing = required.filter((name) => headers[name] === undefined);
  if (missing.length > 0) {
    const names = missing.map((name) => `"${name}"`).join(", ");
    throw new SimError("missing_required_headers", `request is missing required headers: [${names}]`);
  }
  const token = isNamed ? "" : bearer(authorization ?? "");
  for (const { header, fits, code, says } of checks) {
    const value = headers[header];
    if (value !== undefined && !fits(value)) throw new SimError(code, says(value));
  }
  return {
    token,
    encoding: headers["content-encoding"]?.toLowerCase(),
    sentAt: parseRfc3339(headers["posthog-request-timestamp"] ?? ""),
  };
}

/** `$lib` and `$lib_version` from `PostHog-Sdk-Info: name/version`; nothing when it is not that. */
export function sdkProperties(info: string): { $lib: string; $lib_version: string } | undefined {
  const slash = info.lastIndexOf("/");
  const $lib = info.slice(0, Math.max(slash, 0)).trim();
  const $lib_version = info.slice(slash + 1).trim();
  return slash > 0 && $lib !== "" && $lib_version !== "" ? { $lib, $lib_version } : undefined;
}
