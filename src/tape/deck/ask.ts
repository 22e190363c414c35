import { isObject, type Json } from "../../kernel/json.ts";
import { pathOf, routeOf } from "../routes.ts";
import type { Asked, Exchange, TapeBody } from "../types.ts";

/** A request in the shape in which recorded and live ones can be compared. */
export interface Ask {
  route: string;
  method: string;
  /** Percent-decoded, without a slash at its end. */
  path: string;
  query: readonly (readonly [string, string])[];
  body: Json | undefined;
  /** Did it carry credentials? `any`: none that a tape shows, but it was let in. */
  signed: "yes" | "no" | "any";
  /** Did it ask for the answer only if it has changed? */
  isConditional: boolean;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function queryOf(target: string): [string, string][] {
  const start = target.indexOf("?");
  return start === -1 ? [] : [...new URLSearchParams(target.slice(start + 1).replace(/#.*$/s, ""))];
}

const credentialNames: ReadonlySet<string> = new Set([
  "token",
  "api_key",
  "personal_api_key",
  "sharing_access_token",
]);

function hasCredentials(
  has: (header: string) => boolean,
  query: Ask["query"],
  body: Json | undefined,
): boolean {
  if (has("authorization") || has("cookie") || has("x-api-key")) return true;
  return (
    query.some(([name]) => credentialNames.has(name)) ||
    (isObject(body) && Object.keys(body).some((name) => credentialNames.has(name)))
  );
}

/** How a form with files begins: clients choose another boundary for each request. */
const formStart = /^--([^\r\n]{1,200})\r?\ncontent-disposition: *form-data/i;

/** A form with files under a fixed boundary; any other text as it is. */
function withFixedBoundary(text: string): string {
  const boundary = formStart.exec(text)?.[1];
  return boundary === undefined ? text : text.replaceAll(`--${boundary}`, "--boundary");
}

/** Forms have readable lines; other bytes stay as the tape has them. */
function bytesValue(b64: string): string {
  // "--" in base64.
  if (!b64.startsWith("LS0")) return b64;
  const latin1 = Buffer.from(b64, "base64").toString("latin1");
  return formStart.test(latin1) ? withFixedBoundary(latin1) : b64;
}

/**
 * The JSON, the text, or else the base64, of a body as a tape has it, for comparison; undefined: none, or it is not on
 * the tape.
 */
export function bodyValue(body: TapeBody | undefined): Json | undefined {
  if (body === undefined) return undefined;
  if ("json" in body) return body.json;
  if ("text" in body) return jsonOrText(body.text);
  return "b64" in body ? bytesValue(body.b64) : undefined;
}

function jsonOrText(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return withFixedBoundary(text);
  }
}

/** A recorded request. Exports of browsers leave credentials out: who was let in without any is `any`. */
export function recordedAsk({ req, res, route }: Exchange): Ask {
  const names = new Set(req.headers.map(([name]) => name.toLowerCase()));
  const query = queryOf(req.url);
  const body = bodyValue(req.body);
  const wasRefused = res?.status === 401 || res?.status === 403;
  const hidden = wasRefused ? "no" : "any";
  return {
    route,
    method: req.method.toUpperCase(),
    path: decoded(pathOf(req.url)),
    query,
    body,
    signed: hasCredentials((name) => names.has(name), query, body) ? "yes" : hidden,
    isConditional: names.has("if-none-match"),
  };
}

/** A live request. */
export function liveAsk({ method, target, headers, body }: Asked): Ask {
  const query = queryOf(target);
  return {
    route: routeOf(method, target),
    method: method.toUpperCase(),
    path: decoded(pathOf(target)),
    query,
    body,
    signed: hasCredentials((name) => headers[name] !== undefined, query, body) ? "yes" : "no",
    isConditional: headers["if-none-match"] !== undefined,
  };
}
