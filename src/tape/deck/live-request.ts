import { maskOf } from "../redact/bind.ts";
import { type Placeholder, replacePlaceholders } from "../redact/placeholders.ts";
import { createRedactor, type RedactorOptions } from "../redact/redactor.ts";
import { isPublic } from "../redact/shapes.ts";
import { routeOf } from "../routes.ts";
import type { Asked, Exchange, TapeBody } from "../types.ts";
import { type Ask, bodyValue, liveAsk } from "./ask.ts";

/** A live request in the form in which the tape has its own: a request must find itself, whatever secrets it holds. */
export interface LiveRequest {
  /** Redacted by the tape's rules; its placeholders have numbers of their own. */
  ask: Ask;
  /** As it came, where redaction changed something that counts: for tapes that were redacted by fewer rules. */
  plain: Ask | undefined;
  /** Path and query as reports may show them. */
  target: string;
  /** An id with the secrets that the client sent in place of placeholders. */
  reveal(id: string): string;
}

/** The whole request, before redaction; answers do not matter. */
function exchangeOf({ method, target, headers, body, sent }: Asked): Exchange {
  const pairs = Object.entries(headers).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, value]],
  );
  const given: TapeBody | undefined =
    body === undefined ? undefined : typeof body === "string" ? { text: body } : { json: body };
  const whole = sent ?? {
    headers: pairs,
    wire: { bytes: 0, encodings: [] },
    ...(given && { body: given }),
  };
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
export function createLiveRequests(options: RedactorOptions): (asked: Asked) => LiveRequest {
  const secrets = new Map<string, string>();
  const redactor = createRedactor({ ...options, onSecret: (text, secret) => secrets.set(text, secret) });
  const revealed = ({ text }: Placeholder): string => secrets.get(text) ?? text;
  const shown = (it: Placeholder): string =>
    (isPublic(it.kind) ? secrets.get(it.text) : undefined) ?? maskOf(it);
  return (asked) => {
    const plain = (): Ask =>
      liveAsk({ ...asked, body: asked.sent ? bodyValue(asked.sent.body) : asked.body });
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
