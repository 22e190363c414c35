import { isObject, type Json, type JsonObject, own } from "../../../kernel/base/json.ts";
import { unescaped } from "../../../kernel/base/text.ts";
import type { Exchange, TapeBody } from "../format/exchange.ts";
import { pathOf, routeOf } from "../format/routes.ts";
import type { ReplayRequest } from "../ports.ts";
import { maskOf } from "../redact/bind.ts";
import { type Placeholder, replacePlaceholders } from "../redact/placeholders.ts";
import { createRedactor, type RedactorOptions } from "../redact/redactor.ts";
import { isPublic } from "../redact/shapes.ts";

export interface Ask {
  route: string;
  method: string;
  /** Percent-decoded, without a slash at its end. */
  path: string;
  query: readonly (readonly [string, string])[];
  body: Json | undefined;
  /** Did it carry credentials? `any`: none that a tape shows, but it was let in. */
  signed: "yes" | "no" | "any";
  isConditional: boolean;
}

function queryOf(target: string): [string, string][] {
  const start = target.indexOf("?");
  return start === -1 ? [] : [...new URLSearchParams(target.slice(start + 1).replace(/#.*$/s, ""))];
}

const credentialNames: ReadonlySet<string> = new Set(["token", "api_key", "personal_api_key", "sharing_access_token"]);

function hasCredentials(has: (header: string) => boolean, query: Ask["query"], body: Json | undefined): boolean {
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

/** The JSON, text, or else base64 of a body, for comparison; undefined: none, or it is not on the tape. */
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

/** A recorded request. Exports of browsers leave credentials out: a request that was let in without any is `any`. */
export function recordedAsk({ req, res, route }: Exchange): Ask {
  const names = new Set(req.headers.map(([name]) => name.toLowerCase()));
  const query = queryOf(req.url);
  const body = bodyValue(req.body);
  const wasRefused = res?.status === 401 || res?.status === 403;
  const hidden = wasRefused ? "no" : "any";
  return {
    route,
    method: req.method.toUpperCase(),
    path: unescaped(pathOf(req.url)),
    query,
    body,
    signed: hasCredentials((name) => names.has(name), query, body) ? "yes" : hidden,
    isConditional: names.has("if-none-match"),
  };
}

function liveAsk({ method, target, headers, body }: ReplayRequest): Ask {
  const query = queryOf(target);
  return {
    route: routeOf(method, target),
    method: method.toUpperCase(),
    path: unescaped(pathOf(target)),
    query,
    body,
    signed: hasCredentials((name) => headers[name] !== undefined, query, body) ? "yes" : "no",
    isConditional: headers["if-none-match"] !== undefined,
  };
}

export interface TapeEvent {
  event: JsonObject;
  /** Generic path of it: `req.body.batch[]`, `req.body[]`, `req.body`. */
  root: string;
}

const listed = (list: readonly Json[], root: string): TapeEvent[] =>
  list.filter(isObject).map((event) => ({ event, root: `${root}[]` }));

const eventsOf = (value: Json | undefined, root: string): TapeEvent[] =>
  Array.isArray(value) ? listed(value, root) : isObject(value) ? [{ event: value, root }] : [];

/** Where the events of a capture body are, as SDKs send them; undefined: it is a list of them, or one alone. */
const listNameIn = (body: Json | undefined): string | undefined =>
  isObject(body)
    ? ["batch", "data"].find((name) => Array.isArray(own(body, name)) || isObject(own(body, name)))
    : undefined;

export function eventsIn(body: Json | undefined): TapeEvent[] {
  const name = listNameIn(body);
  return isObject(body) && name !== undefined
    ? eventsOf(own(body, name), `req.body.${name}`)
    : eventsOf(body, "req.body");
}

/** A capture body with its events changed, those that become undefined left out; undefined: none is left. */
export function withEvents(body: Json, change: (event: JsonObject) => JsonObject | undefined): Json | undefined {
  const each = (it: Json): Json | undefined => (isObject(it) ? change(it) : it);
  function changed(value: Json): Json | undefined {
    if (!Array.isArray(value)) return each(value);
    const kept = value.map(each).filter((it) => it !== undefined);
    return kept.length > 0 || value.length === 0 ? kept : undefined;
  }
  const name = listNameIn(body);
  if (!isObject(body) || name === undefined) return changed(body);
  const events = changed(own(body, name) ?? null);
  return events === undefined ? undefined : { ...body, [name]: events };
}

export function nameOf({ event }: TapeEvent): string {
  const name = own(event, "event");
  return typeof name === "string" ? name : "(without a name)";
}

/** A live request in the form in which the tape has its own: a request must find itself, whatever secrets it holds. */
export interface LiveRequest {
  /** Redacted by the tape's rules; its placeholders have numbers of their own. */
  ask: Ask;
  /** As it came, where redaction changed something that counts: for tapes that were redacted by fewer rules. */
  plain: Ask | undefined;
  target: string;
  /** An id with the secrets that the client sent in place of placeholders. */
  reveal(id: string): string;
}

/** The whole request, before redaction; answers do not matter. */
function exchangeOf({ method, target, headers, body, sent }: ReplayRequest): Exchange {
  const pairs = Object.entries(headers).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, value]],
  );
  const given: TapeBody | undefined =
    body === undefined ? undefined : typeof body === "string" ? { text: body } : { json: body };
  const whole = sent ?? { headers: pairs, wire: { bytes: 0, encodings: [] }, ...(given && { body: given }) };
  return {
    i: 0,
    at: "",
    route: routeOf(method, target),
    req: { method, url: `http://live.invalid${target}`, http: "1.1", ...whole },
    res: null,
    complete: true,
    redacted: [],
  };
}

const counts = /^req\.(?:body|path|query)/;

/** Redacts live requests as a recording does. Secrets stay in memory: equal ones get the same placeholder. */
export function createLiveRequests(options: RedactorOptions): (asked: ReplayRequest) => LiveRequest {
  const secrets = new Map<string, string>();
  const redactor = createRedactor({ ...options, onSecret: (text, secret) => secrets.set(text, secret) });
  const revealed = ({ text }: Placeholder): string => secrets.get(text) ?? text;
  const shown = (it: Placeholder): string => (isPublic(it.kind) ? secrets.get(it.text) : undefined) ?? maskOf(it);
  return (asked) => {
    const plain = (): Ask => liveAsk({ ...asked, body: asked.sent ? bodyValue(asked.sent.body) : asked.body });
    const { req, redacted } = redactor.redact(exchangeOf(asked));
    const isLeftOut = req.body !== undefined && "omitted" in req.body;
    const target = req.url.replace(/^http:\/\/[^/]*/, "");
    return {
      ask: liveAsk({ ...asked, target, body: bodyValue(req.body) }),
      plain: isLeftOut || redacted.some((path) => counts.test(path)) ? plain() : undefined,
      target: replacePlaceholders(target, shown),
      reveal: (id) => replacePlaceholders(id, revealed),
    };
  };
}
