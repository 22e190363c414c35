import { failureBody } from "../door/forward/failure.ts";
import type { Passage } from "../door/forward/forward.ts";
import type { Rejection } from "../http/app.ts";
import type { Reply } from "../http/reply.ts";
import { maskKeys, maskSecretFields } from "../kernel/secrets.ts";
import { compareAnswers } from "../tape/differences/compare.ts";
import type { ComparedAnswer } from "../tape/differences/group.ts";
import { replaceEncoded } from "../tape/redact/encoded.ts";
import { toExchange } from "../tape/to-exchange.ts";
import type { Exchange, TapeBody } from "../tape/types.ts";

/** What was passed on, as the journal and the comparison see it. */

/** Longer answers leave only their size in the journal: they need no masks. */
const mostShown = 64 * 1024;

/** As the log masks what the emulator answers. Text may have keys in base64 or compressed. */
const maskedText = (text: string): string =>
  replaceEncoded(maskKeys(maskSecretFields(text)), { text: maskKeys, whole: () => "***" });

/** A decoded body as the text that may be shown. */
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

/** Nobody was there to be answered: the usual status for logs. */
const clientGone = 499;

/** The upstream's answer, for the journal. */
export function givenReply({ res }: Exchange, { failure }: Passage): Reply {
  const source = "upstream";
  if (failure) {
    return { status: 502, headers: ["content-type", "application/json"], body: failureBody(failure), source };
  }
  if (!res) return { status: clientGone, headers: [], body: null, source };
  return { status: res.status, headers: flat(res.headers), body: shown(res.body), source };
}

/** Why a request that was passed on counts as rejected. */
export function rejectionOf({ exchange, failure }: Passage): Rejection | undefined {
  if (failure) return { reason: "upstream_unreachable", detail: failure.detail };
  if (exchange.aborted === "client")
    return { reason: "sender_gone", detail: "the sender went away before it had its answer" };
  if (exchange.aborted === "upstream")
    return { reason: "upstream_gone", detail: "the upstream ended its answer before it was whole" };
  const status = exchange.answer?.status ?? 0;
  return status >= 400 ? { reason: "upstream", detail: `the upstream answered ${status}` } : undefined;
}

/** The emulator's answer in the terms of a tape. */
function ownExchange(exchange: Exchange, own: Reply): Exchange {
  const body = own.body === null ? Buffer.alloc(0) : Buffer.from(own.body);
  const answer = {
    status: own.status,
    reason: "",
    http: "1.1",
    headers: own.headers,
    body,
    ttfb: 0,
    total: 0,
  };
  return toExchange(
    {
      at: 0,
      method: exchange.req.method,
      url: exchange.req.url,
      http: "1.1",
      headers: [],
      body: Buffer.alloc(0),
      answer,
    },
    { i: exchange.i, bodyLimit: Number.MAX_SAFE_INTEGER, isBodyless: () => false },
  );
}

/** How the emulator's answer differs from the upstream's. */
export function compared(exchange: Exchange, own: Reply): ComparedAnswer {
  const { route, i, res } = exchange;
  const { res: mine } = ownExchange(exchange, own);
  if (!res || !mine) return { route, i, differences: [] };
  const answerOf = (it: NonNullable<Exchange["res"]>) => ({
    status: it.status,
    headers: it.headers,
    body: it.body,
  });
  return { route, i, differences: compareAnswers(answerOf(res), answerOf(mine), { route }) };
}
