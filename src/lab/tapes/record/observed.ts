import { maskKeys, maskSecretFields } from "../../../kernel/base/secrets.ts";
import type { Work } from "../../../kernel/base/work.ts";
import { type Call, callFrom } from "../../../kernel/http/call.ts";
import type { Rejection, Reply } from "../../../kernel/http/reply.ts";
import { encodeBody } from "../format/bodies.ts";
import type { Exchange, TapeBody } from "../format/exchange.ts";
import type { Redactor } from "../format/header.ts";
import { pathOf } from "../format/routes.ts";
import type { RecordingRequest } from "../ports.ts";
import { fillBody, fillHeaders, fillText } from "../redact/bind.ts";
import { replaceEncoded } from "../redact/encoded.ts";
import { createRedactor } from "../redact/redactor.ts";
import { type RedactionRules, tapeRules } from "../redact/rules.ts";
import type { ForwardedExchange } from "../upstream/forward.ts";
import { failureBody } from "../upstream/upstreams.ts";

/** The journal keeps only the size of longer answers. */
const mostShown = 64 * 1024;

const isServiceKey = (secret: string): boolean => /^ph[a-z]_[\w-]+$/.test(secret);

const unchanged = (exchange: Exchange): Exchange => exchange;

/** Tape, log, folder and terminal get only what `clean` leaves. `reusesKeys`: the app's keys are the tape's own. */
export function createRedaction(
  { raw = false, redact: profile = "default" }: RecordingRequest,
  own?: RedactionRules,
  reusesKeys = false,
) {
  const keys = new Map<string, string>();
  const keyOf = ({ text }: { text: string }): string => keys.get(text) ?? text;
  const side = <Side extends Exchange["req"] | NonNullable<Exchange["res"]>>(it: Side): Side => ({
    ...it,
    headers: fillHeaders(it.headers, keyOf),
    body: it.body && fillBody(it.body, keyOf),
  });
  const redactor = raw
    ? undefined
    : createRedactor({
        profile,
        rules: tapeRules(own),
        reusesKeys,
        onSecret(placeholder, secret) {
          if (isServiceKey(secret)) keys.set(placeholder, secret);
        },
      });
  const forCleaned: Redactor = { profile: "none", ...redactor, redact: unchanged };
  return {
    profile: forCleaned.profile,
    clean: redactor?.redact ?? unchanged,
    /** As `clean`, with other calls in between; the next exchange must wait until it is done. */
    *cleanInSteps(exchange: Exchange): Work<Exchange> {
      if (redactor) return yield* redactor.redactInSteps(exchange);
      yield undefined;
      return exchange;
    },
    /** A clean exchange in which the service's own keys are legible again: the emulator knows projects by them. */
    withKeys(clean: Exchange): Exchange {
      const { req, res } = clean;
      if (!redactor) return clean;
      return {
        ...clean,
        req: { ...side(req), url: fillText(req.url, keyOf) },
        // of a large answer the log keeps no more than its size
        res: res && (res.wire.bytes > mostShown ? res : side(res)),
      };
    },
    /** Paths that differ without meaning, by the project's rules. */
    ignore: own?.ignore ?? [],
    /** What a writer of tapes needs, for exchanges that are clean already. */
    forCleaned,
  };
}

export type Redaction = ReturnType<typeof createRedaction>;

const unkept: Readonly<Record<string, string>> = {
  too_large: "it is too large",
  redacted: "it cannot be searched for secrets",
};

const mostReasons = 20;

/** Reports why a body is not on the tape, each reason once. */
export function createUnkeptReport(notice: (text: string) => void): (clean: Exchange) => void {
  const reported = new Set<string>();
  return ({ req, res, complete }) => {
    if (!complete) return;
    for (const [side, what] of [[req, "request"] as const, [res, "response"] as const]) {
      if (!side?.body || !("omitted" in side.body) || side.body.omitted === "excluded") continue;
      const why = side.wire.trouble ?? unkept[side.body.omitted] ?? side.body.omitted;
      if (reported.has(why) || reported.size === mostReasons) continue;
      reported.add(why);
      notice(`the body of a ${what} is not recorded, ${req.method} ${pathOf(req.url)}: ${why}`);
    }
  };
}

/** Facts of a call that was passed on that no exchange holds. */
export interface Passed {
  readonly at: number;
  /** When it came and when its answer was over, on the monotonic clock. */
  readonly started: number;
  readonly ended: number;
  readonly ticket: number;
  readonly peer: string;
}

const never = new AbortController().signal;

/** The bytes of a body that is on the exchange: as they travelled, where they can be made again. */
function bytesOf({ body, wire }: Exchange["req"]): Buffer {
  try {
    return encodeBody(body, wire);
  } catch {
    return Buffer.alloc(0);
  }
}

/** A passed call as the emulator and the log see it: made of the redacted exchange, so that nothing else can get there. */
export function observedCall({ req }: Exchange, passed: Passed): Call {
  const headers = new Map<string, string>();
  const rawHeaders: string[] = [];
  for (const [name, value] of req.headers) {
    rawHeaders.push(name, value);
    const plain = name.toLowerCase();
    const known = headers.get(plain);
    headers.set(plain, known === undefined ? value : `${known}, ${value}`);
  }
  return callFrom({
    method: req.method,
    target: req.url.replace(/^https?:\/\/[^/?#]*/i, "") || "/",
    headers: Object.fromEntries(headers),
    rawHeaders,
    body: bytesOf(req),
    signal: () => never,
    // last: V8 takes half a microsecond for each member that is added to a spread one
    ...passed,
  });
}

/** As the log masks what the emulator answers. Text may have keys in base64 or compressed. */
const maskedText = (text: string): string =>
  replaceEncoded(maskKeys(maskSecretFields(text)), { text: maskKeys, whole: () => "***" });

function shown(body: TapeBody | undefined): string | Buffer | null {
  if (body === undefined) return null;
  if ("json" in body || "text" in body) {
    const text = "json" in body ? JSON.stringify(body.json) : body.text;
    if (text.length > mostShown) return text;
    return "json" in body ? maskKeys(maskSecretFields(text)) : maskedText(text);
  }
  return "b64" in body ? Buffer.from(body.b64, "base64") : null;
}

/** Lower-case names: the journal looks for the type of the content. */
const flat = (headers: readonly (readonly [string, string])[]): string[] =>
  headers.flatMap(([name, value]) => [name.toLowerCase(), value]);

/** The client was gone: the usual status for logs. */
const clientGone = 499;

export function givenReply({ res }: Exchange, { exchange, failure }: ForwardedExchange): Reply {
  const source = "upstream";
  if (failure && exchange.aborted === "upstream") return { status: 0, headers: [], body: null, source };
  if (failure) {
    return { status: 502, headers: ["content-type", "application/json"], body: failureBody(failure), source };
  }
  if (!res) return { status: clientGone, headers: [], body: null, source };
  return { status: res.status, headers: flat(res.headers), body: shown(res.body), source };
}

/** Why a request that was passed on counts as rejected. */
export function rejectionOf({ exchange, failure }: ForwardedExchange): Rejection | undefined {
  if (failure) return { reason: "upstream_unreachable", detail: failure.detail };
  if (exchange.aborted === "client")
    return { reason: "sender_gone", detail: "the sender went away before it had its response" };
  if (exchange.aborted === "upstream")
    return { reason: "upstream_gone", detail: "the upstream ended its response before it was complete" };
  const status = exchange.answer?.status ?? 0;
  return status >= 400 ? { reason: "upstream", detail: `the upstream answered ${status}` } : undefined;
}
