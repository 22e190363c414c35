import type { Work } from "../../base/work.ts";
import type { Exchange } from "../format/exchange.ts";
import { routeOf } from "../format/routes.ts";
import { sieveBody } from "./body.ts";
import { sieveHeaders, sieveUrl } from "./head.ts";
import type { Sieve, Take } from "./sieve.ts";

const hintOf = (url: string): string | null => /[?&]compression=([^&#]*)/i.exec(url)?.[1] ?? null;

type Side = Pick<Exchange["req"], "headers" | "wire" | "body">;

function* sideOf(
  side: Side,
  path: "req" | "res",
  hint: string | null,
  sieve: Sieve,
  take: Take,
): Work<Pick<Side, "headers" | "body">> {
  const headers = sieveHeaders(side.headers, `${path}.headers`, sieve, take);
  if (side.body === undefined) return { headers };
  const bulk = { ...side, body: side.body, path: `${path}.body`, isAnswer: path === "res", hint };
  const body = yield* sieveBody(bulk, sieve);
  return { headers, body };
}

/** An exchange through a sieve: headers first, because what they call secret is secret in the body as well. */
export function* sieveExchange(exchange: Exchange, sieve: Sieve, take: Take): Work<Exchange> {
  const { req, res } = exchange;
  const request = yield* sideOf(req, "req", hintOf(req.url), sieve, take);
  const answer = res && {
    ...res,
    ...(yield* sideOf(res, "res", null, sieve, take)),
    reason: sieve.text(res.reason, "res.reason"),
  };
  const url = sieveUrl(req.url, "req.path", "req.query", sieve, take);
  const hasSafeRoute = sieve.text(exchange.route, "route") === exchange.route;
  const safe: Exchange = {
    ...exchange,
    route: hasSafeRoute ? exchange.route : routeOf(req.method, url),
    req: { ...req, ...request, url },
    res: answer,
  };
  if (exchange.client !== undefined) safe.client = sieve.text(exchange.client, "client");
  return safe;
}
