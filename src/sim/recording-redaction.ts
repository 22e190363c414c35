import type { RecordingOrder } from "../control/recording-port.ts";
import { type Call, callFrom } from "../http/call.ts";
import type { Work } from "../kernel/work.ts";
import { encodeBody } from "../tape/encode.ts";
import { fillBody, fillHeaders, fillText } from "../tape/redact/bind.ts";
import { createRedactor } from "../tape/redact/redactor.ts";
import { type RedactionRules, tapeRules } from "../tape/redact/rules.ts";
import type { Exchange, Redactor } from "../tape/types.ts";

/**
 * What is written and shown of exchanges. Nothing else of a recording sees what the service's clients sent: tape, log,
 * data folder and terminal get what `clean` leaves.
 */
export interface Redaction {
  readonly profile: string;
  /** The exchange for the tape. */
  clean(exchange: Exchange): Exchange;
  /** As `clean`, with other calls in between; the next exchange must wait until it is done. */
  cleanInSteps(exchange: Exchange): Work<Exchange>;
  /** A clean exchange in which the service's own keys are legible again: the emulator knows projects by them. */
  withKeys(clean: Exchange): Exchange;
  /** Paths that differ without meaning, by the project's rules. */
  readonly ignore: readonly string[];
  /** What a writer of tapes needs, for exchanges that are clean already. */
  readonly forCleaned: Redactor;
}

const mostShown = 64 * 1024;

const isServiceKey = (secret: string): boolean => /^ph[a-z]_[\w-]+$/.test(secret);

const unchanged = (exchange: Exchange): Exchange => exchange;

/** Nothing is taken out: the user wants it so. */
const none: Redaction = {
  profile: "none",
  clean: unchanged,
  *cleanInSteps(exchange) {
    yield undefined;
    return exchange;
  },
  withKeys: unchanged,
  ignore: [],
  forCleaned: { profile: "none", redact: unchanged },
};

/**
 * @param own Rules of the project
 * @param reusesKeys The keys of the app are those that the tape has placeholders for
 */
export function createRedaction(
  { raw = false, redact: profile = "default" }: RecordingOrder,
  own?: RedactionRules,
  reusesKeys = false,
): Redaction {
  const ignore = own?.ignore ?? [];
  if (raw) return { ...none, ignore };
  const rules = tapeRules(own);
  const keys = new Map<string, string>();
  const redactor = createRedactor({
    profile,
    rules,
    reusesKeys,
    onSecret(placeholder, secret) {
      if (isServiceKey(secret)) keys.set(placeholder, secret);
    },
  });
  const keyOf = ({ text }: { text: string }): string => keys.get(text) ?? text;
  return {
    profile,
    clean: redactor.redact,
    cleanInSteps: redactor.redactInSteps,
    withKeys({ req, res, ...rest }) {
      const side = <Side extends Exchange["req"] | NonNullable<Exchange["res"]>>(it: Side): Side => ({
        ...it,
        headers: fillHeaders(it.headers, keyOf),
        ...(it.body && { body: fillBody(it.body, keyOf) }),
      });
      return {
        ...rest,
        req: { ...side(req), url: fillText(req.url, keyOf) },
        // Of a large answer the log keeps no more than its size.
        res: res && (res.wire.bytes > mostShown ? res : side(res)),
      };
    },
    ignore,
    forCleaned: { profile, ...(rules && { rules }), redact: unchanged, reserve: redactor.reserve },
  };
}

/** Of a call that was passed on, what no exchange says. */
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
  for (const [name, value] of req.headers) {
    const known = headers.get(name.toLowerCase());
    headers.set(name.toLowerCase(), known === undefined ? value : `${known}, ${value}`);
  }
  return callFrom({
    ...passed,
    method: req.method,
    target: req.url.replace(/^https?:\/\/[^/?#]*/i, "") || "/",
    headers: Object.fromEntries(headers),
    rawHeaders: req.headers.flat(),
    body: bytesOf(req),
    signal: () => never,
  });
}
