import { STATUS_CODES } from "node:http";
import { headersWithout } from "../../kernel/http/reply.ts";
import type { CallFacts } from "./call-facts.ts";
import type { FaultEffect, Quota, ScriptedResult } from "./shapes.ts";

interface Answer {
  status: number;
  /** name, value, name, value … */
  headers: string[];
  body: string | null;
}

const jsonType = "application/json";
const textType = "text/plain; charset=utf-8";

const typed = (type: string, ...more: string[]): string[] => ["content-type", type, ...more];

type Write = (status: number) => Omit<Answer, "status">;

const text = (body: string, ...headers: string[]): Write => {
  const answer = { headers: typed(textType, ...headers), body };
  return () => answer;
};

const json = (body: object, ...headers: string[]): Write => {
  const answer = { headers: typed(jsonType, ...headers), body: JSON.stringify(body) };
  return () => answer;
};

const detailed = (type: string, code: string, detail: string, ...headers: string[]): Write =>
  json({ type, code, detail, attr: null }, ...headers);

const v1 = (error: string, description: string, ...headers: string[]): Write =>
  json({ error, error_description: description, error_uri: "https://posthog.com/docs/api" }, ...headers);

const soon = ["retry-after", "1"];
const throttled = detailed(
  "throttled_error",
  "throttled",
  "Request was throttled. Expected available in 1 second.",
  ...soon,
);
const failed = detailed("server_error", "error", "A server error occurred.");
const overQuota = detailed("quota_limited", "payment_required", "You have exceeded your feature flag request quota");

/**
 * What the service says with a status, by status and family of endpoints. Upstream PostHog rust/capture
 * (api.rs, v1/error.rs), rust/feature-flags (api/errors.rs) and posthog/exceptions.py; where the service has no
 * text of its own, ours.
 */
const known: Readonly<Record<number, Readonly<Record<string, Write>>>> = {
  402: { flags: overQuota, service: overQuota },
  429: {
    capture: text("rate limited"),
    "capture-v1": v1("rate_limited", "Too many requests.", ...soon),
    flags: detailed("validation_error", "rate_limit_exceeded", "Rate limit exceeded"),
    service: throttled,
    management: throttled,
  },
  500: {
    capture: text("internal error"),
    "capture-v1": v1("internal_error", "The request could not be handled.", ...soon),
    flags: text("Internal server error. Please try again later."),
    service: failed,
    management: failed,
  },
  503: {
    capture: text("transient error, please retry"),
    "capture-v1": v1("service_unavailable", "The service is not available. Please retry.", ...soon),
    flags: text("The service is not available. Please try again later."),
    service: failed,
    management: failed,
  },
};

const phrase = (status: number): string => STATUS_CODES[status] ?? "Unknown";

const anyJson = (status: number): Omit<Answer, "status"> =>
  status < 400
    ? json({})(status)
    : detailed(status < 500 ? "invalid_request" : "server_error", "error", `${phrase(status)}.`)(status);

/** How a family answers a status that the table does not have. */
const others: Readonly<Record<string, Write>> = {
  capture: (status) => (status < 400 ? json({ status: "Ok" })(status) : text(phrase(status))(status)),
  "capture-v1": (status) =>
    status < 400
      ? anyJson(status)
      : v1(phrase(status).toLowerCase().replaceAll(/\W+/g, "_"), `${phrase(status)}.`)(status),
  flags: (status) => (status < 400 ? anyJson(status) : text(phrase(status))(status)),
};

const bodiless: ReadonlySet<number> = new Set([204, 205, 304]);

function usualAnswer(status: number, family: string): Answer {
  if (bodiless.has(status)) return { status, headers: [], body: null };
  const write = known[status]?.[family] ?? others[family] ?? anyJson;
  return { status, ...write(status) };
}

/** Text is sent as text, anything else as JSON; the headers that are given replace those of the same name. */
function answerOf(status: number, family: string, body: unknown, headers: Readonly<Record<string, string>>): Answer {
  const usual = usualAnswer(status, family);
  const isText = typeof body === "string";
  const own = { status, headers: typed(isText ? textType : jsonType), body: isText ? body : JSON.stringify(body) };
  const base = body === undefined || bodiless.has(status) ? usual : own;
  return { ...base, headers: replaced(base.headers, headers) };
}

function replaced(flat: readonly string[], by: Readonly<Record<string, string>>): string[] {
  const names = new Set(Object.keys(by).map((name) => name.toLowerCase()));
  const kept = headersWithout(flat, (name) => names.has(name));
  // The length is set when the answer is sent: a wrong one would damage the connection.
  const given = Object.entries(by).filter(([name]) => !/^(content-length|transfer-encoding)$/i.test(name));
  return [...kept, ...given.flatMap(([name, value]) => [name.toLowerCase(), value])];
}

interface Outgoing {
  status: number;
  headers: string[];
  body: string | Buffer | null;
}

/** What an effect does to a call apart from its delay (delay.ts). */
export interface Effect {
  readonly answer?: Answer;
  readonly change?: <R extends Outgoing>(reply: R) => R;
  readonly transport?: "reset" | "hang" | "truncate";
  readonly flags?: "partial" | readonly string[];
  readonly quota?: readonly Quota[];
  readonly results?: ScriptedResult;
}

const garbage = '{"status":"Ok",,,\ufffd\u0000<html>';

const isBare = ({ body }: Outgoing): boolean => body === null || body.length === 0;

const garbled = <R extends Outgoing>(reply: R): R =>
  isBare(reply)
    ? reply
    : { ...reply, body: garbage, headers: headersWithout(reply.headers, (name) => name === "content-length") };

const noAnswer = (): Answer => ({ status: 0, headers: [], body: null });

const damages: Readonly<Record<string, Effect>> = { garbage: { change: garbled }, truncate: { transport: "truncate" } };

const isEvaluation = ({ path, method }: CallFacts): boolean =>
  method === "POST" && (path === "/flags" || path === "/decide");

const isDefinitions = ({ path, method }: CallFacts): boolean =>
  method === "GET" && (path === "/flags/definitions" || path.endsWith("/local_evaluation"));

const isRecording = ({ path }: CallFacts): boolean => path === "/s";

const spends: Readonly<Record<Quota, (facts: CallFacts) => boolean>> = {
  events: (facts) => facts.family.startsWith("capture") && facts.method !== "HEAD" && !isRecording(facts),
  recordings: isRecording,
  feature_flags: (facts) => isEvaluation(facts) || isDefinitions(facts),
};

/** The effect on a call; undefined if it does not concern it. `{}`: a latency alone. */
export function effectFor(effect: FaultEffect, facts: CallFacts): Effect | undefined {
  const { status, socket, body, flags, quota, results } = effect;
  if (status !== undefined) return { answer: answerOf(status, facts.family, body, effect.headers ?? {}) };
  if (socket !== undefined) {
    return effect.after === true ? { transport: socket } : { transport: socket, answer: noAnswer() };
  }
  if (typeof body === "string") return damages[body];
  if (flags !== undefined) return isEvaluation(facts) ? { flags } : undefined;
  if (results !== undefined) return facts.family === "capture-v1" ? { results } : undefined;
  if (quota === undefined) return {};
  const spent = quota.filter((it) => spends[it](facts));
  return spent.length > 0 ? { quota: spent } : undefined;
}
