import { isObject, type Json, own } from "../../kernel/base/json.ts";
import { isUuid } from "../../kernel/base/text.ts";
import type { EventResult, ScriptedAnswer } from "./answer-shapes.ts";

interface SentAnswer {
  status: number;
  /** name, value, name, value … */
  headers: string[];
  body: string | null;
}

interface Answered {
  /** The decoded text of the body; only templates and results read it. */
  text(): string | undefined;
  /** The `PostHog-Request-Id` header. */
  readonly requestId: string | undefined;
}

export type Write = (request: Answered) => SentAnswer;

const bodiless: ReadonlySet<number> = new Set([204, 205, 304]);

/** Set when the answer is sent: a wrong one would damage the connection, or hide where it comes from. */
const ours: ReadonlySet<string> = new Set([
  "connection",
  "content-length",
  "keep-alive",
  "transfer-encoding",
  "x-phx-source",
]);

const lowerCased = (given: Readonly<Record<string, string>>) =>
  Object.entries(given).map(([name, value]) => [name.toLowerCase(), value] as const);

function headersOf(given: Readonly<Record<string, string>>, type: string | undefined): string[] {
  const named = lowerCased(given);
  const isTyped = type === undefined || named.some(([name]) => name === "content-type");
  const own = named.filter(([name]) => !ours.has(name));
  return [...(isTyped ? [] : ["content-type", type]), ...own.flat()];
}

/** As a key of an object in a body: an entry for each uuid that was received, all with its value. */
const eachUuid = "$each_uuid";

function isTemplate(body: Json): boolean {
  if (Array.isArray(body)) return body.some(isTemplate);
  if (!isObject(body)) return false;
  return Object.hasOwn(body, eachUuid) || Object.values(body).some(isTemplate);
}

function filled(body: Json, uuids: readonly (string | undefined)[]): Json {
  if (Array.isArray(body)) return body.map((it) => filled(it, uuids));
  if (!isObject(body)) return body;
  const entries = Object.entries(body).flatMap(([key, value]): [string, Json][] => {
    const inner = filled(value, uuids);
    return key === eachUuid ? uuids.flatMap((uuid) => (uuid === undefined ? [] : [[uuid, inner]])) : [[key, inner]];
  });
  return Object.fromEntries(entries);
}

/** The events of a body: its batch, a list, or the only one. */
function eventsOf(body: Json): readonly Json[] {
  if (Array.isArray(body)) return body;
  if (!isObject(body)) return [];
  const batch = own(body, "batch");
  return Array.isArray(batch) ? batch : [body];
}

function read(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** The uuid of each event in a request's decoded body, in their order; none where the body has no JSON. */
function uuidsIn(text: string | undefined): (string | undefined)[] {
  if (text === undefined) return [];
  return eventsOf(read(text)).map((it) => {
    const uuid = isObject(it) ? own(it, "uuid") : undefined;
    return typeof uuid === "string" ? uuid : undefined;
  });
}

const resultIn = (given: string | EventResult): EventResult => (typeof given === "string" ? { result: given } : given);

/** The answer of capture v1 to a batch. Upstream PostHog rust/capture, v1/analytics. */
function resultsWriter({ status, headers = {} }: ScriptedAnswer, results: readonly EventResult[]): Write {
  const own = Object.fromEntries(lowerCased(headers));
  return ({ text, requestId }) => {
    const uuids = uuidsIn(text());
    const entries = uuids.flatMap((uuid, i): [string, EventResult][] =>
      uuid === undefined ? [] : [[uuid, results[i] ?? { result: "ok" }]],
    );
    const usual = {
      ...(isUuid(requestId) && { "posthog-request-id": requestId }),
      ...(entries.some(([, { result }]) => result === "retry") && { "retry-after": "1" }),
    };
    const body = JSON.stringify({ results: Object.fromEntries(entries) });
    return { status, headers: headersOf({ ...usual, ...own }, "application/json"), body };
  };
}

/** How an answer is written; what does not depend on the request is written once. */
export function writerOf(answer: ScriptedAnswer): Write {
  const { status, headers = {}, body, results } = answer;
  if (results !== undefined && !bodiless.has(status)) return resultsWriter(answer, results.map(resultIn));
  if (body === undefined || bodiless.has(status)) {
    const bare = { status, headers: headersOf(headers, undefined), body: null };
    return () => bare;
  }
  const isText = typeof body === "string";
  const list = headersOf(headers, isText ? "text/plain; charset=utf-8" : "application/json");
  if (!isText && isTemplate(body)) {
    return ({ text }) => ({ status, headers: list, body: JSON.stringify(filled(body, uuidsIn(text()))) });
  }
  const whole = { status, headers: list, body: isText ? body : JSON.stringify(body) };
  return () => whole;
}
