import { type Exchange, jsonOf, targetOf } from "../format/exchange.ts";
import type { Redactor } from "../format/header.ts";
import type { RawAnswer } from "../format/raw-exchange.ts";
import { toExchange } from "../format/raw-exchange.ts";
import { isCapture } from "../format/routes.ts";
import { fillingOf, type GivenKeys, placeholdersOf, planSend, skipOf } from "../send/plan.ts";
import type { Prepared } from "../upstream/transport.ts";
import { type CompareSkipReason, compareAnswers, skipReasonOf, type Verified } from "./compare.ts";
import { createAliases } from "./verifier.ts";

/** Largest decoded answer that is compared, in bytes. */
const bodyLimit = 32 * 1024 * 1024;

const safeMethods: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

/** True if the request changes nothing: a GET or HEAD that captures no event, or a POST that only asks for flags. */
const isReading = ({ route, req }: Exchange): boolean => {
  if (isCapture(route)) return false;
  return safeMethods.has(req.method.toUpperCase()) || (route === "flags" && req.method === "POST");
};

interface ServiceVerifierOptions {
  /** Where a path goes. */
  baseOf(path: string): URL;
  /** Sends a request to that place. @throws what kept the answer from coming */
  send(prepared: Prepared, base: URL): Promise<RawAnswer>;
  keys: GivenKeys;
  /** Sends requests that change something, too. */
  allowWrites: boolean;
  /** Removes the secrets of new answers, which are shown where they differ. */
  redactor: Pick<Redactor, "redact">;
  noise: readonly string[];
}

/** Sends recorded requests to a service, in order, and compares its answers with the recorded ones. */
export function createServiceVerifier(options: ServiceVerifierOptions) {
  const { baseOf, send, keys, allowWrites, redactor, noise } = options;
  const aliases = createAliases();

  /** With the ids that this service gave to what was created on the way. */
  function aliased(exchange: Exchange): Exchange {
    const { route, req } = exchange;
    if (!allowWrites || !route.includes(" ")) return exchange;
    const [path = "/", ...query] = targetOf(req.url).split("?");
    const url = [aliases.inPath(path), ...query].join("?");
    const body = req.body && "json" in req.body ? { json: aliases.inBody(req.body.json) } : req.body;
    return { ...exchange, req: { ...req, url, ...(body && { body }) } };
  }

  function learn({ req, res }: Exchange, now: Exchange): void {
    const [theirs, mine] = [jsonOf(res?.body), jsonOf(now.res?.body)];
    const isDone = (now.res?.status ?? 500) < 300 && (res?.status ?? 500) < 300;
    if (isDone && !safeMethods.has(req.method) && theirs !== undefined && mine !== undefined)
      aliases.learn(targetOf(req.url).split("?")[0] ?? "", theirs, mine);
  }

  return {
    /** @throws what `send` throws */
    async verify(exchange: Exchange): Promise<Verified> {
      const reason = leftOutBy(exchange, keys, allowWrites);
      if (reason !== undefined) return { skipped: reason };
      const base = baseOf(targetOf(exchange.req.url).split("?")[0] ?? "/");
      const planned = planSend(aliased(exchange), { target: base, keys, shiftMs: 0 }, Date.now());
      if ("skip" in planned) return { skipped: "not_http" };
      const { prepared } = planned;
      const answer = await send(prepared, base);
      if (answer.status === 429) return { skipped: "busy_now" };
      const now = toExchange(
        {
          at: Date.now(),
          method: prepared.method,
          url: `${base.origin}${prepared.target}`,
          http: "1.1",
          headers: prepared.headers,
          body: prepared.body,
          answer,
        },
        { i: exchange.i, bodyLimit },
      );
      learn(exchange, now);
      const { route, i, res } = exchange;
      const { res: own } = redactor.redact(now);
      if (res === null || own === null) return { skipped: "cut_off" };
      return { compared: { route, i, differences: compareAnswers(res, own, { route, noise }) } };
    },
  };
}

/** Why a recorded request is not sent; undefined: it is. A key that an option gives must be there before. */
export function leftOutBy(
  exchange: Exchange,
  keys: GivenKeys,
  allowWrites: boolean,
): CompareSkipReason | undefined {
  const reason = skipReasonOf(exchange);
  if (reason !== undefined) return reason;
  if (skipOf(exchange) !== undefined) return "not_http";
  if (!allowWrites && !isReading(exchange)) return "writes";
  return placeholdersOf(exchange).some((it) => fillingOf(it, keys) === "unknown") ? "secret" : undefined;
}
