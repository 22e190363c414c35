import { isUtf8 } from "node:buffer";
import { parsedJson } from "../../../kernel/base/json.ts";
import { performance } from "../../../kernel/base/real-time.ts";
import { maskKeys, maskSecretFields, maskTargetSecrets } from "../../../kernel/base/secrets.ts";
import { atOnce, inSlices, itemsPerStep, type Work } from "../../../kernel/base/work.ts";
import { fromBase64 } from "../../../kernel/codec/base64.ts";
import { inflaters, isGzip } from "../../../kernel/codec/inflate.ts";
import { isJsonType } from "../../../kernel/codec/media-type.ts";
import type { CallRecord } from "../../../kernel/http/call.ts";
import { headerIn } from "../../../kernel/http/client-address.ts";
import type { EventFacts } from "../event.ts";
import { usualReplyHeaders } from "../traffic.ts";

export interface ReceivedCall {
  readonly method: string;
  readonly target: string;
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
  readonly peer: string;
  readonly at: number;
  readonly started: number;
  readonly ended?: number | undefined;
}

export interface GivenReply {
  readonly status: number;
  readonly headers: readonly string[];
  readonly body: string | Buffer | null;
}

/** Answers and undecodable bodies up to this size are kept; of larger ones only the size. */
const keptWhole = 64 * 1024;

const mostUnpacked = 64 * 1024 * 1024;

/** Names of headers with values that are or may be secrets. The scheme and the key's kind stay readable. */
const secretHeader = /authorization|cookie|password|secret|token|credential|api-?key/i;
const publicKey = /^phc_[\w-]+\s*$/;
const secretParameters = /([?&](?:personal_api_key|secret_api_key|access_token|password)=)[^&#]*/gi;

/** `Bearer phx_abc…` becomes `Bearer phx_***`: the kind of a key is shown, the key is not. A project key is public. */
function maskHeader(name: string, value: string): string {
  if (!secretHeader.test(name)) return maskTargetSecrets(maskTarget(value));
  const scheme = /^(\w+) +/.exec(value)?.[0] ?? "";
  const credential = value.slice(scheme.length);
  if (publicKey.test(credential)) return value;
  const kind = credential.match(/^ph[a-z]_/)?.[0] ?? "";
  return `${scheme}${kind}***`;
}

/** Events in a query are in base64, and perhaps compressed; the line's body has them decoded. */
const maskData = (target: string): string =>
  target.replace(/([?&]data=)([^&#]+)/g, (found, name: string, value: string) => {
    const bytes = fromBase64(Buffer.from(value.replaceAll(/%2b/gi, "+").replaceAll(/%2f/gi, "/")));
    return hidesKey(bytes, isGzip(bytes) ? "gzip" : "") ? `${name}***` : found;
  });

/** The target as it may be written down. Public project keys (`phc_`) are not secrets. */
function maskTarget(target: string): string {
  const masked = maskKeys(target.includes("?") ? target.replace(secretParameters, "$1***") : target);
  return masked.includes("data=") ? maskData(masked) : masked;
}

/** True if the bytes, or what they unpack to, contain a key. */
function hidesKey(bytes: Buffer, encoding: string): boolean {
  const seen = (text: string): boolean => maskKeys(text) !== text;
  const inflate = inflaters.get(encoding);
  if (seen(bytes.toString("latin1"))) return true;
  try {
    return inflate !== undefined && seen(inflate(bytes, mostUnpacked).toString("latin1"));
  } catch {
    return false;
  }
}

/** JSON of header lists. Clients repeat theirs: comparing with the last is cheaper, and mostly content-length alone differs. */
function headerWriter(): (rawHeaders: readonly string[]) => string {
  let last: readonly string[] = [];
  let parts: string[] = [];
  let written = "[]";

  function part(rawHeaders: readonly string[], i: number): string {
    const [name = "", text = ""] = [rawHeaders[i - 1], rawHeaders[i]];
    return JSON.stringify(i % 2 === 0 ? text : maskHeader(name, text));
  }

  return (rawHeaders) => {
    if (sameList(rawHeaders, last)) return written;
    // A value depends on the name before it.
    const isKnown = (i: number) => rawHeaders[i] === last[i] && (i % 2 === 0 || rawHeaders[i - 1] === last[i - 1]);
    parts = rawHeaders.map((_, i) => (isKnown(i) ? parts[i] : undefined) ?? part(rawHeaders, i));
    last = rawHeaders;
    written = `[${parts.join()}]`;
    return written;
  };
}

function sameList(a: readonly string[], b: readonly string[]): boolean {
  if (a === b) return true;
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

/** Facts with nothing unusual are written by hand: three times as fast as JSON.stringify. */
function factsText(facts: EventFacts): string {
  if (isUsual(facts)) {
    return `{"uuid":"${facts.uuid}","time":${facts.time},"person":"${facts.person}"}`;
  }
  return JSON.stringify(facts);
}

const isUsual = (facts: EventFacts): boolean =>
  facts.dropped === undefined &&
  facts.mode === undefined &&
  facts.adds === undefined &&
  facts.id === undefined &&
  facts.groups === undefined &&
  facts.place === undefined &&
  facts.warnings === undefined &&
  facts.strips === undefined &&
  facts.detail === undefined &&
  facts.uuid !== null &&
  facts.person !== null;

/** `,"events":[…]`, or "" when there are none; of a large batch as bytes. */
export type EventsText = string | Buffer;

/** A large batch takes several turns of the event loop. */
export function eventsText(events: readonly EventFacts[] = []): EventsText | Promise<EventsText> {
  if (events.length === 0) return "";
  return events.length <= itemsPerStep ? `${factsTexts(events)}]` : inSlices(slicedText(events));
}

function* slicedText(events: readonly EventFacts[] = []): Work<EventsText> {
  if (events.length === 0) return "";
  const parts: Buffer[] = [];
  for (let from = 0; from < events.length; from += itemsPerStep) {
    parts.push(Buffer.from(factsTexts(events, from)));
    yield;
  }
  return Buffer.concat([...parts, Buffer.from("]")]);
}

function factsTexts(events: readonly EventFacts[], from = 0): string {
  let text = "";
  for (let i = from; i < Math.min(from + itemsPerStep, events.length); i++) {
    const facts = events[i];
    if (facts) text += (i === 0 ? ',"events":[' : ",") + factsText(facts);
  }
  return text;
}

const managementPath = /^\/+api\//;

/** The bytes as received, unless the body in the line is their exact text. */
function rawText(call: ReceivedCall, record: CallRecord, isMasked: boolean): string {
  const { body } = call;
  if (body.length === 0 || (record.bytes === body && !isMasked)) return "";
  if (isMasked) return `,"raw":{"omitted":"redacted","bytes":${body.length}}`;
  if (body.length > keptWhole && record.text !== undefined) {
    return `,"raw":{"omitted":"too_large","bytes":${body.length}}`;
  }
  const isManagement = managementPath.test(call.target);
  if (!isUtf8(body)) {
    // the line's body is what was unpacked, and it has no keys
    const isChecked = record.bytes !== undefined && record.steps?.length === 1 && record.steps[0] === "gzip";
    const encoding = isChecked ? "" : (headerIn(call.rawHeaders, "content-encoding") ?? "").toLowerCase();
    if (hidesKey(body, encoding)) return `,"raw":{"omitted":"redacted","bytes":${body.length}}`;
    // The management API takes text only: what cannot be read cannot be redacted.
    return isManagement
      ? `,"raw":{"omitted":"not_text","bytes":${body.length}}`
      : `,"raw":{"base64":"${body.toString("base64")}"}`;
  }
  // Redaction must not wait. What the management API takes may hold passwords of other systems.
  const text = body.toString("utf8");
  return `,"raw":${JSON.stringify({ text: maskKeys(isManagement ? maskSecretFields(text) : text) })}`;
}

const binary = /^(image|audio|video|font)\/|octet-stream|javascript/;

/** A handler's JSON is JSON; one that a fault has touched, or a script, may only say that it is. */
function replyText(reply: GivenReply, target: string, isTouched: boolean): string {
  if (reply.body === null || reply.body.length === 0) return "null";
  if (reply.body.length > keptWhole) return JSON.stringify({ omitted: "too_large", bytes: reply.body.length });
  const type = headerIn(reply.headers, "content-type") ?? "";
  if (binary.test(type) || (typeof reply.body !== "string" && !isUtf8(reply.body)))
    return JSON.stringify({ omitted: "not_text", bytes: reply.body.length });
  // A refusal may repeat what it refuses, and the management API returns what it was given.
  const mayRepeat = reply.status >= 400 || managementPath.test(target);
  const text = mayRepeat ? maskKeys(reply.body.toString("utf8")) : reply.body.toString("utf8");
  const isJson = isJsonType(type) && (!isTouched || parsedJson(text) !== undefined);
  return isJson && !text.includes("\n") && !text.includes("\r") ? text : JSON.stringify(text);
}

/** Everything of a line but its numbers, already as JSON text; and what the index needs. */
export interface TrafficEntry {
  head: string;
  /** `,"events":[…]`, or "" when the request carried none. */
  events: EventsText;
  /** `,"headers":…`, `,"reply_headers":…` and `,"reply":…`. */
  tail: string;
  /** The value of `"body"`, which comes last: bytes are copied, text is encoded. */
  body: Buffer | string | undefined;
  record: CallRecord;
  at: number;
  method: string;
  target: string;
  status: number;
  ms: number;
  project: number | null;
}

interface Address {
  readonly text: string;
  readonly masked: string;
}

/** Method, target and peer: the same as last time more often than not. */
function addressWriter(): (call: ReceivedCall) => Address {
  let last = { method: "", target: "", peer: "" };
  let written: Address = { text: "", masked: "" };
  return ({ method, target, peer }) => {
    if (method !== last.method || target !== last.target || peer !== last.peer) {
      last = { method, target, peer };
      const masked = maskTarget(target);
      const text = `"method":${JSON.stringify(method)},"target":${JSON.stringify(masked)},"peer":${JSON.stringify(peer)}`;
      written = { text, masked };
    }
    return written;
  };
}

/** Makes the entries of a journal; `maskKeys` keeps personal and secret keys off the disk. */
export function entryWriter(): (
  call: ReceivedCall,
  reply: GivenReply,
  record: CallRecord,
  events?: EventsText,
) => TrafficEntry {
  const headersText = headerWriter();
  const replyHeadersText = headerWriter();
  const addressOf = addressWriter();
  return (call, reply, record, events = atOnce(slicedText(record.events))) => {
    const us = Math.round(((call.ended ?? performance.now()) - call.started) * 1000);
    const project = record.project ?? null;
    const address = addressOf(call);
    let head = `"at":${call.at},${address.text},"status":${reply.status},"us":${us},"project":${project}`;
    if (record.rejected) head += `,"rejected":${JSON.stringify(record.rejected)}`;
    if (record.fault !== undefined) head += `,"fault":${JSON.stringify(record.fault)}`;
    if (record.scripted) head += `,"scripted":true`;
    if (record.source !== undefined) head += `,"source":${JSON.stringify(record.source)}`;
    if (record.partition !== undefined) head += `,"partition":${JSON.stringify(record.partition)}`;
    if (record.shape && record.shape !== "legacy") head += `,"shape":"${record.shape}"`;
    if (record.steps && record.steps.length > 0) head += `,"steps":${JSON.stringify(record.steps)}`;
    // Capture masks what it decodes, because persons are made of it; the other rooms leave it to the journal.
    const isChecked = record.text === undefined || record.bytes !== undefined || record.redacted === true;
    const text = isChecked ? record.text : maskKeys(record.text ?? "");
    const isTouched = record.fault !== undefined || record.scripted === true || record.source !== undefined;
    const isMasked = record.redacted === true || text !== record.text;
    const isUsual = sameList(reply.headers, usualReplyHeaders);
    const replyHeaders = isUsual ? "" : `,"reply_headers":${replyHeadersText(reply.headers)}`;
    return {
      head,
      events,
      tail: `,"headers":${headersText(call.rawHeaders)}${rawText(call, record, isMasked)}${replyHeaders},"reply":${replyText(reply, call.target, isTouched)}`,
      body: isMasked ? text : (record.bytes ?? text),
      record,
      at: call.at,
      method: call.method,
      target: address.masked,
      status: reply.status,
      ms: us / 1000,
      project,
    };
  };
}
