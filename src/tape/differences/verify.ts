import type { Json } from "../../kernel/json.ts";
import type { Exchange, TapeBody } from "../types.ts";
import { createAliases } from "./aliases.ts";
import { compareAnswers } from "./compare.ts";
import type { ComparedAnswer } from "./group.ts";
import type { Keys } from "./keys.ts";
import { answerOf, requestOf, targetOf } from "./send.ts";
import type { AnswerLike } from "./types.ts";

/** Why an exchange is not compared; the last rows: with a service only. */
export const skipReasons = {
  cut_off: "cut off, or without an answer",
  upstream_failed: "the service failed or was too busy (5xx, 429)",
  not_modified: "the service had nothing new (304)",
  body_left_out: "the request's body was not recorded",
  not_http: "it cannot be sent (its method, its URL, or a tunnel)",
  writes: "would change something (--allow-writes sends them)",
  secret: "need a secret that the tape has no value for (set PHX_SIM_SECRET_KIND_N, or --fill redacted)",
  busy_now: "the service is too busy now (429)",
  no_answer: "without an answer now",
} as const;
export type SkipReason = keyof typeof skipReasons;

export type Verified = { compared: ComparedAnswer } | { skipped: SkipReason };

export interface VerifierOptions {
  /** The sim's door. */
  handle(request: Request): Promise<Response>;
  keys: Keys;
  noise?: readonly string[];
}

const isLeftOut = (body: TapeBody | undefined): boolean =>
  body !== undefined && ("file" in body || "omitted" in body);

const skipRows: readonly (readonly [SkipReason, (exchange: Exchange) => boolean])[] = [
  ["cut_off", ({ res, complete }) => res === null || !complete],
  ["upstream_failed", ({ res }) => res !== null && (res.status >= 500 || res.status === 429)],
  ["not_modified", ({ res }) => res?.status === 304],
  ["body_left_out", ({ req }) => isLeftOut(req.body)],
  ["not_http", ({ req, res }) => /^connect$/i.test(req.method) || (res?.status ?? 0) < 200],
];

/** Why an exchange says nothing about anybody else's answer; undefined: it does. */
export const skipReasonOf = (exchange: Exchange): SkipReason | undefined =>
  skipRows.find(([, applies]) => applies(exchange))?.[0];

const writes = new Set(["POST", "PUT", "PATCH"]);

/** Sends recorded requests to a sim, in order, and compares its answers with the recorded ones. */
export function createVerifier({ handle, keys, noise = [] }: VerifierOptions) {
  const aliases = createAliases();

  function learn({ req, res }: Exchange, own: AnswerLike): void {
    const [theirs, mine] = [jsonIn(res?.body), jsonIn(own.body)];
    const isDone = own.status < 300 && res !== null && res.status < 300;
    if (!isDone || theirs === undefined || mine === undefined || !writes.has(req.method)) return;
    aliases.learn(targetOf(req.url).split("?")[0] ?? "", theirs, mine);
  }

  return {
    async verify(exchange: Exchange): Promise<Verified> {
      const reason = skipReasonOf(exchange);
      const request = reason === undefined ? sendable(exchange) : undefined;
      const { res, route, i } = exchange;
      if (request === undefined || res === null) return { skipped: reason ?? "not_http" };
      const own = await answerOf(await handle(request));
      learn(exchange, own);
      const recorded = { status: res.status, headers: res.headers, body: res.body };
      return { compared: { route, i, differences: compareAnswers(recorded, own, { route, noise }) } };
    },
  };

  function sendable(exchange: Exchange): Request | undefined {
    try {
      return requestOf(exchange, keys, aliases);
    } catch {
      return undefined;
    }
  }
}

const jsonIn = (body: TapeBody | undefined): Json | undefined =>
  body !== undefined && "json" in body ? body.json : undefined;
