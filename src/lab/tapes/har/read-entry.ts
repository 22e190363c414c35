import { isObject, type Json, type JsonObject, objectIn, own } from "../../../kernel/base/json.ts";
import { hostRuleFor, placeOf, readHostRule, serviceHosts } from "../../../kernel/http/host-rules.ts";
import type { RawAnswer, RawExchange } from "../format/raw-exchange.ts";
import {
  answerBody,
  type FoundBody,
  headersIn,
  httpVersionOf,
  type NoteCode,
  numberIn,
  requestBody,
  type SkipCode,
  textIn,
  timingOf,
  wireText,
} from "./entry-fields.ts";

type ReadEntry = { readonly exchange: RawExchange; readonly notes: readonly NoteCode[] } | { readonly skip: SkipCode };

interface EntryContext {
  all: boolean;
  /** When an entry without a time began, ms since the epoch. */
  before: number;
}

type Header = [name: string, value: string];

const isWebsocket = (entry: JsonObject, url: string): boolean =>
  /^wss?:/i.test(url) ||
  textIn(entry, "_resourceType") === "websocket" ||
  own(entry, "_webSocketMessages") !== undefined ||
  numberIn(objectIn(entry, "response"), "status") === 101;

const isPreflight = (method: string, headers: readonly Header[]): boolean =>
  method === "OPTIONS" && headers.some(([name]) => /^access-control-request-method$/i.test(name));

interface Subject {
  entry: JsonObject;
  method: string;
  given: string;
  url: URL | null;
  headers: readonly Header[];
}

const skips: readonly (readonly [SkipCode, (it: Subject, context: EntryContext) => boolean])[] = [
  ["no_request", ({ method, given }) => method === "" || given === ""],
  ["tunnel", ({ method }) => method === "CONNECT"],
  ["websocket", ({ entry, given }) => isWebsocket(entry, given)],
  ["not_http", ({ given, url }) => url === null && /^[a-z][a-z\d+.-]*:/i.test(given)],
  ["no_request", ({ url }) => url === null],
  ["elsewhere", ({ url }, { all }) => !all && url !== null && !isOfService(url)],
  ["preflight", ({ method, headers }, { all }) => !all && isPreflight(method, headers)],
];

const httpUrl = (text: string): URL | null => {
  const url = URL.canParse(text) ? new URL(text) : null;
  return url && /^https?:$/.test(url.protocol) ? url : null;
};

const methodOf = (text = ""): string =>
  /^[A-Za-z][A-Za-z-]{0,31}$/.test(text.trim()) ? text.trim().toUpperCase() : "";

/** The query stays as it was written; a fragment is never sent. */
const sentUrl = (text: string): string => text.replace(/#.*$/s, "");

function subjectOf(entry: JsonObject): Subject {
  const request = objectIn(entry, "request");
  const given = (textIn(request, "url") ?? "").trim();
  return {
    entry,
    method: methodOf(textIn(request, "method")),
    given,
    url: httpUrl(given),
    headers: headersIn(request),
  };
}

/** Headers that describe how a body was packed; they are wrong for one that was unpacked. */
const packing = /^(?:content-encoding|transfer-encoding)$/i;

/** The headers without what is no longer true; a length that is given becomes the real one. */
const truthful = (headers: readonly Header[], { body, isDecoded }: FoundBody): string[] =>
  headers
    .filter(([name]) => !(isDecoded && packing.test(name)))
    .flatMap(([name, value]) =>
      Buffer.isBuffer(body) && body.length > 0 && /^content-length$/i.test(name)
        ? [name, `${body.length}`]
        : [name, value],
    );

function answerOf(entry: JsonObject, method: string, notes: NoteCode[]): RawAnswer | null {
  const response = objectIn(entry, "response");
  const status = numberIn(response, "status") ?? 0;
  if (!Number.isInteger(status) || status < 100 || status > 999) return null;
  const found = answerBody(response, method, status);
  const { ttfb, total, isOdd } = timingOf(entry);
  if (found.note) notes.push(found.note);
  if (isOdd) notes.push("odd_times");
  return {
    status,
    reason: wireText(textIn(response, "statusText") ?? ""),
    http: httpVersionOf(textIn(response, "httpVersion")),
    headers: truthful(headersIn(response), found),
    body: found.body,
    ttfb,
    total,
  };
}

/** Chrome and Playwright report failures in fields of their own. */
const failureOf = (entry: JsonObject): string =>
  textIn(objectIn(entry, "response"), "_error") ??
  textIn(objectIn(entry, "response"), "_failureText") ??
  textIn(entry, "_error") ??
  "";

/** The service ended the connection instead of an answer, and before the end of one. */
const isReset = /CONNECTION_(?:RESET|CLOSED)|EMPTY_RESPONSE|NET_(?:RESET|EMPTY_RESPONSE)|ECONNRESET|socket hang up/i;
const isCut = /CONTENT_LENGTH_MISMATCH|INCOMPLETE_CHUNKED|NET_PARTIAL_TRANSFER|CONNECTION_RESET|ECONNRESET/i;

export function readEntry(json: Json, context: EntryContext): ReadEntry {
  if (!isObject(json)) return { skip: "not_json" };
  const subject = subjectOf(json);
  const skip = skips.find(([, fits]) => fits(subject, context))?.[0];
  if (skip) return { skip };
  const notes: NoteCode[] = [];
  const request = objectIn(json, "request");
  const found = requestBody(request, subject.headers);
  const answer = answerOf(json, subject.method, notes);
  const at = Date.parse(textIn(json, "startedDateTime") ?? "");
  const failure = failureOf(json);
  if (found.note) notes.push(found.note);
  if (Number.isNaN(at)) notes.push("no_start");
  if (/BLOCKED_BY_CLIENT/i.test(failure)) notes.push("blocked");
  const exchange: RawExchange = {
    at: Number.isNaN(at) ? context.before : at,
    method: subject.method,
    url: sentUrl(subject.given),
    http: httpVersionOf(textIn(request, "httpVersion")),
    headers: truthful(subject.headers, found),
    body: found.body,
    answer,
    ...(!answer && /aborted|cancel/i.test(failure) && { aborted: "client" as const }),
    ...((answer ? isCut : isReset).test(failure) && { aborted: "upstream" as const }),
  };
  return { exchange, notes };
}

const rules = serviceHosts.map(readHostRule);

/**
 * Paths that only the service's SDKs ask for, where an app's own host passes them on or hosts the service itself; they
 * may be below another one (`/ingest/e/`).
 */
const ownPaths: readonly RegExp[] = [
  /\/i\/v\d\/(?:e|ai|ai\/batch|general|analytics\/events)\/?$/,
  /\/(?:e|s|batch|capture|engage|track|flags|decide)\/?$/,
  /\/array\/[\w-]+\/config(?:\.js)?$/,
  /\/static\/(?:[\d.]+\/)?(?:array|recorder|posthog-recorder|surveys|toolbar|dead-clicks-autocapture|exception-autocapture|web-vitals|lazy-recorder)[\w.-]*\.js$/,
  /\/api\/(?:feature_flag\/local_evaluation|surveys|product_tours|early_access_features)\/?$/,
  /\/(?:flags\/definitions|api\/web_experiments)\/?$/,
  /\/api\/(?:projects|environments|organizations)\/(?:\d+|@current|[\da-f-]{36})(?:\/|$)/,
  /\/api\/users\/@me\/?$/,
];

/** True for the service's requests: to its hosts, or with a path that only its SDKs and API have. */
const isOfService = (url: URL): boolean =>
  hostRuleFor(rules, placeOf(url)) !== undefined || ownPaths.some((path) => path.test(url.pathname));
