import { type Exchange, type HeaderPairs, jsonOf, pairsOf, targetOf } from "../format/exchange.ts";
import type { Redactor } from "../format/header.ts";
import { type RawAnswer, toExchange } from "../format/raw-exchange.ts";
import { isCapture } from "../format/routes.ts";
import { fillingOf, type GivenKeys, placeholdersOf, planSend, skipOf } from "../send/plan.ts";
import type { Prepared } from "../upstream/transport.ts";
import { type CompareSkipReason, compareAnswers, skipReasonOf, type Verified } from "./compare.ts";
import { createIdMap } from "./id-map.ts";

interface VerifierOptions {
  skip(exchange: Exchange): CompareSkipReason | undefined;
  prepare(exchange: Exchange): Exchange;
  baseOf(path: string): URL;
  keys: GivenKeys;
  /** The time at which a request is sent, ms since the epoch. */
  timeOf(exchange: Exchange): number;
  /** @throws the reason why there is no answer */
  send(prepared: Prepared, base: URL): Promise<RawAnswer>;
  /** Removes the secrets of new answers, which are shown where they differ. */
  redact(exchange: Exchange): Exchange;
  noise: readonly string[];
}

/** Largest decoded answer that is compared, in bytes. */
const bodyLimit = 32 * 1024 * 1024;

const writes: ReadonlySet<string> = new Set(["POST", "PUT", "PATCH"]);

/** True for a request of the management API: only these name what the service made. */
const isManaging = ({ route }: Exchange): boolean => route.includes(" ");

const pathOf = ({ req }: Exchange): string => targetOf(req.url).split("?")[0] ?? "/";

const isDone = ({ res }: Exchange): boolean => res !== null && res.status < 300;

function verifierWith(options: VerifierOptions) {
  const { skip, prepare, baseOf, keys, timeOf, send, redact, noise } = options;
  const ids = createIdMap();

  function withIds(exchange: Exchange): Exchange {
    const { req } = exchange;
    const [path = "/", ...query] = targetOf(req.url).split("?");
    const body = isManaging(exchange) && req.body && "json" in req.body && { json: ids.inBody(req.body.json) };
    return { ...exchange, req: { ...req, url: [ids.inPath(path), ...query].join("?"), ...(body && { body }) } };
  }

  function learn(exchange: Exchange, now: Exchange): void {
    const [theirs, mine] = [jsonOf(exchange.res?.body), jsonOf(now.res?.body)];
    if (!isManaging(exchange) || !writes.has(exchange.req.method) || !isDone(exchange) || !isDone(now)) return;
    if (theirs !== undefined && mine !== undefined) ids.learn(pathOf(exchange), theirs, mine);
  }

  return {
    /** @throws what `send` throws */
    async verify(exchange: Exchange): Promise<Verified> {
      const reason = skip(exchange);
      if (reason !== undefined) return { skipped: reason };
      const base = baseOf(pathOf(exchange));
      const at = timeOf(exchange);
      const planned = planSend(withIds(prepare(exchange)), { target: base, keys, shiftMs: 0 }, at);
      if ("skip" in planned) return { skipped: "not_http" };
      const { method, target, headers, body } = planned.prepared;
      const answer = await send(planned.prepared, base);
      if (answer.status === 429) return { skipped: "busy_now" };
      const now = toExchange(
        { at, method, url: `${base.origin}${target}`, http: "1.1", headers, body, answer },
        { i: exchange.i, bodyLimit },
      );
      learn(exchange, now);
      const { route, i, res } = exchange;
      const { res: own } = redact(now);
      if (res === null || own === null) return { skipped: "cut_off" };
      return { compared: { route, i, differences: compareAnswers(res, own, { route, noise }) } };
    },
  };
}

interface SimVerifierOptions {
  handle(request: Request): Promise<Response>;
  /** The sim's keys by the tape's placeholders, or by the keys of a tape that is not redacted. */
  keys: ReadonlyMap<string, string>;
  noise?: readonly string[];
}

/** Not used for connections: the sim is in this process. */
const simUrl = new URL("http://localhost");

const unsendable = /^(?:connect|trace|track)$/i;

/** Verifies a tape against a sim in this process. Requests are sent at their recorded times. */
export const createSimVerifier = ({ handle, keys, noise = [] }: SimVerifierOptions) =>
  verifierWith({
    skip: (exchange) => skipReasonOf(exchange) ?? (unsendable.test(exchange.req.method) ? "not_http" : undefined),
    baseOf: () => simUrl,
    keys: { secret: ({ text, kind, number }) => keys.get(text) ?? `redacted-${kind.replaceAll("_", "-")}-${number}` },
    timeOf: ({ at }) => (Number.isNaN(Date.parse(at)) ? Date.now() : Date.parse(at)),
    send: async (prepared) => answerOf(await handle(requestOf(prepared))),
    redact: (exchange) => exchange,
    noise,
    prepare: (exchange) => decoded(exchange, keys),
  });

/** Bodies are sent, and answered, without encodings. */
const encodings: ReadonlySet<string> = new Set(["content-encoding", "accept-encoding"]);

/** A request without its encodings, and with the sim's keys where the tape has others. */
function decoded(exchange: Exchange, keys: ReadonlyMap<string, string>): Exchange {
  const { req } = exchange;
  const [path = "/", ...query] = targetOf(req.url).split("?");
  const kept = query
    .join("?")
    .split("&")
    .filter((it) => req.body === undefined || !it.startsWith("compression="))
    .join("&");
  const isJson = req.body !== undefined && "json" in req.body;
  const headers = req.headers.flatMap(([name, value]): HeaderPairs => {
    const lower = name.toLowerCase();
    if (encodings.has(lower) || (isJson && lower === "content-type")) return [];
    const key = lower === "authorization" ? keys.get(value.replace(/^bearer\s+/i, "").trim()) : undefined;
    return [[name, key === undefined ? value : `Bearer ${key}`]];
  });
  return {
    ...exchange,
    req: {
      ...req,
      url: `${path}${kept === "" ? "" : `?${kept}`}`,
      headers: isJson ? [...headers, ["content-type", "application/json"]] : headers,
      wire: { ...req.wire, encodings: [] },
    },
  };
}

const bodiless = new Set(["GET", "HEAD"]);

function requestOf({ method, target, headers, body }: Prepared): Request {
  const own = pairsOf(headers).filter(([name]) => !/^(?:host|content-length)$/i.test(name));
  const isSent = body.length > 0 && !bodiless.has(method.toUpperCase());
  return new Request(`${simUrl.origin}${target}`, {
    method,
    headers: own,
    ...(isSent && { body: new Uint8Array(body) }),
  });
}

async function answerOf(response: Response): Promise<RawAnswer> {
  const { status, statusText: reason, headers } = response;
  const body = Buffer.from(await response.arrayBuffer());
  return { status, reason, http: "1.1", headers: [...headers].flat(), body, ttfb: 0, total: 0 };
}

interface ServiceVerifierOptions extends Pick<VerifierOptions, "baseOf" | "send" | "keys" | "noise"> {
  allowWrites: boolean;
  redactor: Pick<Redactor, "redact">;
}

export const createServiceVerifier = ({ allowWrites, redactor, ...options }: ServiceVerifierOptions) =>
  verifierWith({
    ...options,
    skip: (exchange) => leftOutBy(exchange, options.keys, allowWrites),
    timeOf: () => Date.now(),
    redact: (exchange) => redactor.redact(exchange),
    prepare: (exchange) => exchange,
  });

const safeMethods: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

/** True if the request changes nothing: a GET or HEAD that captures no event, or a POST that only asks for flags. */
const isReading = ({ route, req }: Exchange): boolean => {
  if (isCapture(route)) return false;
  return safeMethods.has(req.method.toUpperCase()) || (route === "flags" && req.method === "POST");
};

/** Why a recorded request is not sent to a service; undefined if it is. Keys that options give must exist before. */
export function leftOutBy(exchange: Exchange, keys: GivenKeys, allowWrites: boolean): CompareSkipReason | undefined {
  const reason = skipReasonOf(exchange);
  if (reason !== undefined) return reason;
  if (skipOf(exchange) !== undefined) return "not_http";
  if (!allowWrites && !isReading(exchange)) return "writes";
  return placeholdersOf(exchange).some((it) => fillingOf(it, keys) === "unknown") ? "secret" : undefined;
}
