import { performance } from "../../../kernel/base/real-time.ts";
import { isBrowsersOwn } from "../../../kernel/http/browser-requests.ts";
import type { Call, CallFault } from "../../../kernel/http/call.ts";
import { pause } from "../../../kernel/http/layer.ts";
import { hopHeaders } from "../../../kernel/http/reply.ts";
import { partitionOf } from "../../faults/call-facts.ts";
import { type Decoded, decodeBody } from "../format/bodies.ts";
import { type Exchange, type HeaderPairs, headerOf, pairsOf, type TapeBody, targetOf } from "../format/exchange.ts";
import { isCapture, routeOf } from "../format/routes.ts";
import type { TapeMatcher } from "../match/tape-matcher.ts";
import type { Answered, ReplayMiss, ReplayRequest } from "../ports.ts";
import { restore } from "../redact/bind.ts";
import type { RedactionRules } from "../redact/rules.ts";
import { createMask } from "../redact/scan.ts";
import type { MissPolicy } from "../shapes.ts";

/** Asks the service for what the tape has no response for, and records its answers on the tape. */
export interface MissRecorder {
  /** Never rejects: no answer is 502. */
  answer(call: Call): Promise<RecordedAnswer>;
  pass(call: Call): void;
  added(): number;
  close(): Promise<void>;
}

export interface ReplayingParts {
  owner(call: Call): number | null;
  notice(text: string): void;
  /** Rules of the project for what is compared with a tape, in addition to those that the tape carries. */
  redaction?: RedactionRules | undefined;
  /** Opens the way to the service; without it the policy `upstream` is refused. @throws TapeOrderError */
  openForward?: (() => Promise<(call: Call) => Promise<RecordedAnswer>>) | undefined;
  /** Opens the tape of the options for recording, with the mode `new`. @throws TapeOrderError */
  openRecorder?: (() => Promise<MissRecorder | undefined>) | undefined;
}

type Hit = Extract<Answered, { hit: Exchange }>;
type Missed = Extract<Answered, { miss: ReplayMiss }>;

interface ReplayParts {
  readonly name: string;
  readonly matcher: TapeMatcher;
  readonly onMiss: MissPolicy;
  readonly timing: Timing;
  /** Asks the service itself, with the policy `upstream`. Must not reject. */
  forward: ((call: Call) => Promise<RecordedAnswer>) | undefined;
  /** Gets requests with events that the tape does not have; the emulator answers them. */
  pass: ((call: Call) => void) | undefined;
}

const isPreflight = ({ method, headers }: Call): boolean =>
  method === "OPTIONS" && headers["access-control-request-method"] !== undefined;

const unusableText = (name: string, { i }: Exchange, why: string): string =>
  `the tape ${name} cannot give the response of #${i}: ${why}`;

function askedBody({ body }: Decoded): ReplayRequest["body"] {
  if (body === undefined) return undefined;
  if ("json" in body) return body.json;
  if ("text" in body) return body.text;
  return "b64" in body ? body.b64 : undefined;
}

function askedOf({ method, target, headers, rawHeaders, origin, body }: Call, client: string): ReplayRequest {
  const pairs = pairsOf(rawHeaders);
  const decoded = decodeBody(body, pairs, target);
  return {
    method,
    target,
    headers,
    scheme: origin.startsWith("https:") ? "https" : "http",
    client,
    body: askedBody(decoded),
    sent: { headers: pairs, ...decoded },
  };
}

const recordedEnd = (name: string) => ({ reason: "tape", detail: `${name} ends the connection, as recorded` });

/** Recorded refusals are not the app's mistakes; the journal names their exchange. */
const recordedRefusal = (name: string) => ({ reason: "tape", detail: `${name} has this response` });

const upstreamRefusal = { reason: "tape", detail: "upstream has this response; the request was not handled" };

/** Captures are answered by the emulator, because events belong in the log; they are compared with the tape's. */
export function createReplay(parts: ReplayParts, owner: (call: Call) => number | null) {
  const { name, matcher, onMiss, timing } = parts;

  const restored = (hit: Exchange, body: TapeBody | undefined, asked: ReplayRequest): RecordedAnswer =>
    answerOf(restore({ ...hit, res: hit.res && { ...hit.res, ...(body && { body }) } }, asked));

  function paced(given: RecordedAnswer, { res }: Exchange, signal: () => AbortSignal): RecordedAnswer {
    const { body } = given;
    if (res === null || body === null || body.length === 0 || timing.scale === 0) return given;
    const bytes = Buffer.from(body);
    const parts = partsOf(timing, res, bytes);
    if (parts.every(({ at }) => at === 0)) return given;
    const had = headerOf(res.headers, "content-length") !== undefined;
    const headers = had ? [...given.headers, "content-length", String(bytes.length)] : given.headers;
    return { ...given, headers, stream: inParts(bytes, parts, signal) };
  }

  /** undefined: the tape cannot give its answer, and the emulator answers. */
  function hitOf({ hit, body, approximate }: Hit, asked: ReplayRequest, call: Call): CallFault | undefined {
    const source = `tape:${name}#${hit.i}${approximate === undefined ? "" : ` ${approximate}`}`;
    const isCut = hit.aborted === "upstream";
    if (hit.res === null && isCut) {
      const answer = { status: 0, headers: [], body: null, source };
      return { delay: 0, answer, transport: "reset", rejection: recordedEnd(source) };
    }
    const obstacle = isCut ? statusObstacle(hit) : obstacleOf(hit, body);
    if (obstacle !== undefined && onMiss === "emulate") return undefined;
    if (obstacle !== undefined) {
      const detail = unusableText(name, hit, obstacle);
      const answer = { ...refusalOf(detail), source };
      return { delay: 0, answer, rejection: { reason: "tape_miss", detail } };
    }
    const delay = delayOf(timing, hit.res?.ttfb ?? 0);
    const recorded = restored(hit, body, asked);
    const given = isCut ? withLength(recorded, hit) : paced(recorded, hit, () => call.signal);
    const headers = [...given.headers, ...(approximate === undefined ? [] : ["x-phx-approximate", approximate])];
    const answer = { ...given, headers, source };
    // the upstream ended the connection before the end of its answer
    if (isCut) return { delay, answer, transport: "cut", rejection: recordedEnd(source) };
    return { delay, answer, rejection: recordedRefusal(source) };
  }

  function missOf(call: Call, { miss, target }: Missed): CallFault | undefined {
    if (onMiss === "emulate") return undefined;
    if (onMiss === "upstream" && parts.forward) {
      const answer = parts.forward(call).then((it) => ({ ...it, source: "upstream" }));
      return { delay: 0, answer, rejection: upstreamRefusal };
    }
    if (isBrowsersOwn(call)) return undefined;
    const shown = { method: call.method, target };
    const isSocket = call.headers.upgrade?.toLowerCase() === "websocket";
    const detail = `${missText(name, shown, miss)}${isSocket ? "; websockets are not recorded" : ""}`;
    const source = `tape:${name}`;
    const headers = [...jsonType, "x-phx-miss", printable(miss.route)];
    const answer = { status: missStatus, headers, body: missBody(detail, miss), source };
    return { delay: 0, answer, rejection: { reason: "tape_miss", detail } };
  }

  return {
    take(call: Call): CallFault | undefined {
      if (isPreflight(call)) return undefined;
      const asked = askedOf(call, clientOf(call.headers, owner(call)));
      if (isCapture(routeOf(call.method, call.path))) {
        const { extra } = matcher.compareEvents(asked);
        if (extra.length > 0) parts.pass?.(call);
        return undefined;
      }
      const answered = matcher.answer(asked);
      return "hit" in answered ? hitOf(answered, asked, call) : missOf(call, answered);
    },
  };
}

/** As a header can carry it. */
const printable = (text: string): string => text.replace(/[^\x20-\x7e]/g, "?").slice(0, 200);

const jsonType = ["content-type", "application/json"];

const refusalOf = (detail: string): RecordedAnswer => ({
  status: missStatus,
  headers: jsonType,
  body: JSON.stringify({ type: "server_error", code: "tape_miss", detail, attr: null }),
});

export interface RecordedAnswer {
  status: number;
  /** Flat, without content-length. */
  headers: string[];
  body: string | Buffer | null;
  stream?: AsyncIterable<Uint8Array>;
}

/** Statuses whose answers have no body (RFC 9110 §15). */
const bodiless: ReadonlySet<number> = new Set([204, 205, 304]);

export const isFinal = (status: number): boolean => Number.isInteger(status) && status >= 200 && status <= 599;

const statusObstacle = ({ res }: Exchange): string | undefined =>
  res === null || isFinal(res.status) ? undefined : `its status ${res.status} is none that can be sent`;

/** Why an exchange cannot be answered again; undefined when it can. */
function obstacleOf(hit: Exchange, body: TapeBody | undefined): string | undefined {
  const { res } = hit;
  if (res === null) return "no response was recorded";
  if (body && "omitted" in body)
    return `its body of ${body.bytes} bytes was not kept (${res.wire.trouble ?? body.omitted})`;
  return statusObstacle(hit);
}

function contentOf(body: TapeBody | undefined): string | Buffer {
  if (body === undefined) return "";
  if ("json" in body) return JSON.stringify(body.json);
  if ("text" in body) return body.text;
  return "b64" in body ? Buffer.from(body.b64, "base64") : "";
}

/** The answer of an exchange, sent uncompressed; a body in a file must have been loaded into it. */
function answerOf({ req, res }: Exchange): RecordedAnswer {
  const status = res?.status ?? 0;
  const isHead = /^head$/i.test(req.method);
  // What could not be decompressed is on the tape as it came.
  const isPacked = res?.wire.trouble !== undefined && res.wire.encodings.length === 0;
  const headers = headersToSend(res?.headers ?? [], isHead ? ofBody : isPacked ? encoding : undefined);
  return { status, headers, body: isHead || bodiless.has(status) ? null : contentOf(res?.body) };
}

/** A cut-off answer with its recorded length, which is more than what came; one that came in chunks has none. */
function withLength(given: RecordedAnswer, { res }: Exchange): RecordedAnswer {
  const recorded = headerOf(res?.headers ?? [], "content-length");
  if (recorded === undefined) return given;
  const least = Buffer.byteLength(given.body ?? "") + 1;
  const length = /^\d{1,15}$/.test(recorded) ? Math.max(Number(recorded), least) : least;
  return { ...given, headers: [...given.headers, "content-length", String(length)] };
}

interface Part {
  readonly at: number;
  readonly end: number;
}

/** At the recorded pace; a body of another size is divided in proportion, server-sent events between two events. */
function partsOf(timing: Timing, res: NonNullable<Exchange["res"]>, bytes: Buffer): Part[] {
  const { ttfb, total, wire, headers, chunks = [] } = res;
  const begin = delayOf(timing, ttfb);
  const ratio = bytes.length / Math.max(1, wire.bytes);
  const isEvents = /^\s*text\/event-stream\b/i.test(headerOf(headers, "content-type") ?? "");
  const endOf = (size: number): number => {
    const end = Math.min(bytes.length, Math.round(size * ratio));
    if (ratio === 1 || !isEvents) return end;
    const next = bytes.indexOf("\n\n", Math.max(0, end - 2));
    return next === -1 ? bytes.length : next + 2;
  };
  const recorded = chunks.length > 0 ? chunks : [[total, wire.bytes] as const];
  return recorded.map(([ms, size]) => ({ at: Math.max(0, delayOf(timing, ms) - begin), end: endOf(size) }));
}

/** A body part by part; what is left comes with the last one, or when the client goes away. */
async function* inParts(bytes: Buffer, parts: readonly Part[], signal: () => AbortSignal): AsyncGenerator<Uint8Array> {
  const started = performance.now();
  const gone = signal();
  let sent = 0;
  for (const { at, end } of parts) {
    const left = at - (performance.now() - started);
    if (left > 0) await pause(left, gone);
    if (end > sent) yield bytes.subarray(sent, end);
    sent = Math.max(sent, end);
  }
  if (sent < bytes.length) yield bytes.subarray(sent);
}

/** Not sent again: headers of one connection (RFC 9110 §7.6.1), of the body's travel, the sim's own, of the host. */
const unsent: ReadonlySet<string> = new Set([
  ...hopHeaders,
  "content-encoding",
  "content-length",
  "date",
  "x-phx-source",
  "x-phx-miss",
  "alt-svc",
  "strict-transport-security",
]);

/** CORS headers are made for the page that asks now, not for the recorded one. */
const isUnsent = (name: string): boolean => unsent.has(name) || name.startsWith("access-control-");

const namePattern = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const valuePattern = /^[\t\x20-\x7e\x80-\xff]*$/;

/** A tape may come from anywhere: what cannot be in a header is left out. */
const canBeSent = (name: string, value: string): boolean => namePattern.test(name) && valuePattern.test(value);

/** Headers about a body that an answer to HEAD has without one. */
export const ofBody: ReadonlySet<string> = new Set(["content-length", "content-encoding"]);
const encoding: ReadonlySet<string> = new Set(["content-encoding"]);
const none: ReadonlySet<string> = new Set();

/** Flat, in order, duplicates kept. @param kept Names of headers about the body that are sent nevertheless */
export const headersToSend = (recorded: HeaderPairs, kept: ReadonlySet<string> = none): string[] =>
  recorded.flatMap(([name, value]) => {
    const lower = name.toLowerCase();
    if (!canBeSent(name, value)) return [];
    if (kept.has(lower)) return [lower, value];
    return isUnsent(lower) ? [] : [name, value];
  });

/** Not a status of HTTP, so that it is not taken for the service's. */
const missStatus = 599;

const valueLength = 120;
const mostPaths = 5;

const cut = (text: string): string => (text.length > valueLength ? `${text.slice(0, valueLength - 1)}…` : text);

type Nearest = ReplayMiss["nearest"][number];
type Differing = Nearest["differing"][number];

const differingText = ({ path, recorded, asked }: Differing): string =>
  `${path} is ${cut(recorded)} on the tape, ${cut(asked)} here`;

function nearestText({ i, method, url, differing }: Nearest): string {
  const paths = differing.slice(0, mostPaths).map(differingText);
  const more = differing.length - paths.length;
  const shown = [...paths, ...(more > 0 ? [`… and ${more} more`] : [])].join("; ");
  return `#${i} ${method} ${cut(targetOf(url))}${shown && `: ${shown}`}`;
}

interface Unanswered {
  readonly method: string;
  readonly target: string;
}

/** Why the tape has no response: a line for each of the nearest exchanges. Secrets are masked. */
export function missLines(tape: string, { method, target }: Unanswered, { route, nearest }: ReplayMiss): string[] {
  const mask = createMask();
  const head = `the tape ${tape} has no response for ${method} ${cut(mask.target(target))} (route ${cut(route)})`;
  if (nearest.length === 0) return [mask.text(`${head}; nothing on it is like it`)];
  return [`${head}; nearest:`, ...nearest.map((it) => `  ${nearestText(it)}`)].map(mask.text);
}

const missText = (tape: string, asked: Unanswered, miss: ReplayMiss): string =>
  missLines(tape, asked, miss)
    .map((line) => line.trim())
    .join(" ");

const missBody = (detail: string, miss: ReplayMiss): string =>
  JSON.stringify({
    type: "server_error",
    code: "tape_miss",
    detail,
    attr: null,
    route: miss.route,
    nearest: JSON.parse(createMask().text(JSON.stringify(miss.nearest))),
  });

/** The `X-Test-Id` header, or the project: each client has its own place in the sequences and its own ids. */
function clientOf(headers: Readonly<Record<string, string | undefined>>, project: number | null | undefined): string {
  const partition = partitionOf(headers);
  if (partition !== undefined) return `test:${partition}`;
  return typeof project === "number" ? `project:${project}` : "";
}

export interface Timing {
  /** Times the recorded times of the answer's parts; 0: no wait. */
  readonly scale: number;
  /** ms. */
  readonly max: number;
}

/** The longest wait, whatever was recorded, ms. */
const longest = 60_000;

const noWait: Timing = { scale: 0, max: 0 };

export const timingExpected = "none, recorded, scale:N (of the recorded time) or max:N (ms)";

const numberIn = (text: string): number | undefined =>
  /^\d{1,7}(?:\.\d{1,6})?$/.test(text) ? Number(text) : undefined;

const measured: Readonly<Record<string, (value: number) => Timing>> = {
  scale: (scale) => ({ scale, max: longest }),
  max: (max) => ({ scale: 1, max: Math.min(max, longest) }),
};

const words: Readonly<Record<string, Timing>> = { none: noWait, recorded: { scale: 1, max: longest } };

/** Reads `none`, `recorded`, `scale:0.5`, `max:2000`; undefined when it is none of these. */
export function readTiming(text: string): Timing | undefined {
  if (Object.hasOwn(words, text)) return words[text];
  const [name = "", value = "", ...more] = text.split(":");
  const number = numberIn(value);
  if (more.length > 0 || number === undefined || !Object.hasOwn(measured, name)) return undefined;
  return measured[name]?.(number);
}

/** How long to wait, ms. @param recorded The recorded time from the request to a part of the answer, ms */
export function delayOf({ scale, max }: Timing, recorded: number): number {
  const ms = Math.min(recorded * scale, max);
  return Number.isFinite(ms) && ms > 0 ? Math.round(ms) : 0;
}
