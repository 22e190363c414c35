import { SimError } from "../base/errors.ts";
import { isJsonType } from "../codec/media-type.ts";
import type { Call } from "./call.ts";
import type { ControlAccess, Endpoint } from "./endpoint.ts";
import { isLoopbackHost, isLoopbackOrigin, withoutPort } from "./host-rules.ts";

export interface GuardRules {
  /** Needed on every call; null: none is. */
  token: string | null;
  publicUrl?: string | undefined;
}

/** A call through our own proxy may come from any client, and may be meant for the real host's path. */
function checkDirect(call: Call): void {
  if (!call.proxied) return;
  throw new SimError("forbidden_host", "the control API and the page only answer direct calls", {
    hint: "call phx-sim's own address without a proxy (add 127.0.0.1 and localhost to NO_PROXY)",
  });
}

/**
 * Local does not mean harmless: a web page can send requests to 127.0.0.1. A known Host defeats DNS rebinding, an own
 * Origin defeats other sites, a JSON body defeats plain forms. In-process calls pass.
 */
function checkCaller(call: Call, rules: GuardRules): void {
  if (call.transport === "fetch") return;
  checkSender(call, rules);
  if (isChange(call)) checkBody(call);
  if (rules.token !== null && tokenOf(call) !== rules.token) {
    throw new SimError("control_token_required", "the control API needs its token", {
      hint: "send `Authorization: Bearer <token>`: the one that the sim was started with (--token or PHX_SIM_TOKEN), else the one in its banner and run.json",
    });
  }
}

/** For opening the feed: its token comes with the first message. @throws SimError forbidden_host, forbidden_origin */
export function checkSender(call: Call, rules: GuardRules): void {
  checkDirect(call);
  checkHost(call, rules);
  checkOrigin(call, rules);
}

/** The page's files hold no data: they need no token, and any page may link to them; no other page embeds them. */
function checkVisitor(call: Call, rules: GuardRules): void {
  if (call.transport === "fetch") return;
  checkDirect(call);
  checkHost(call, rules);
  if (!isVisit(call)) checkOrigin(call, rules);
}

export function mayVisit(call: Call, rules: GuardRules): boolean {
  try {
    checkVisitor(call, rules);
    return true;
  } catch {
    return false;
  }
}

const isVisit = (call: Call): boolean =>
  call.headers["sec-fetch-mode"] === "navigate" && call.headers["sec-fetch-dest"] === "document";

/** The badge runs in pages of this machine with another origin. A script without `crossorigin` has only a Referer. */
function checkNeighbour(call: Call, rules: GuardRules): void {
  if (call.transport === "fetch") return;
  checkDirect(call);
  if (rules.token !== null) {
    throw new SimError("control_token_required", "there is no badge where the control API needs a token", {
      hint: "start the sim on loopback and without --token",
    });
  }
  checkHost(call, rules);
  const { origin, referer, "sec-fetch-site": site, "sec-fetch-dest": dest } = call.headers;
  const page = origin ?? (dest === "script" ? referer : undefined);
  const isHere = page === undefined ? dest === "script" || !isOtherSite(site) : isLoopbackOrigin(page);
  if (isHere) return;
  throw new SimError("forbidden_origin", "the badge is only for pages that are served from this machine", {
    hint: "open the app as http://localhost, *.localhost or 127.0.0.1",
  });
}

const isOtherSite = (site: string | undefined): boolean =>
  site !== undefined && site !== "same-origin" && site !== "none";

/** A port that is open to the network is reached by names we cannot know; there the token protects. */
function checkHost(call: Call, rules: GuardRules): void {
  const host = call.headers.host ?? "";
  if (rules.token !== null || isLoopbackHost(withoutPort(host))) return;
  throw new SimError("forbidden_host", `the control API does not answer to the host "${host}"`, {
    hint: "use the address that `phx-sim start` prints, or start it with the address that others use: --public-url",
  });
}

/** Behind a reverse proxy the page's origin is the public address, whatever Host the proxy sends. */
function checkOrigin(call: Call, { publicUrl }: GuardRules): void {
  const { origin, host = "" } = call.headers;
  const site = call.headers["sec-fetch-site"];
  const own = [undefined, publicUrl, `http://${host}`, `https://${host}`].includes(origin);
  if (own && !isOtherSite(site)) return;
  throw new SimError("forbidden_origin", "the control API does not answer to other web pages", {
    hint: "call it from a test, a terminal or the inspector page",
  });
}

const isChange = (call: Call): boolean => !["GET", "HEAD"].includes(call.method);

function checkBody(call: Call): void {
  const type = call.headers["content-type"] ?? "";
  if (call.body.length === 0 || isJsonType(type)) return;
  throw new SimError("unsupported_media_type", `the body's content type is "${type}"`, {
    hint: "send `Content-Type: application/json` (curl: --json)",
  });
}

const tokenOf = (call: Call): string | undefined => call.headers.authorization?.replace(/^Bearer /i, "");

type Check = (call: Call, rules: GuardRules) => void;

const checks: Readonly<Record<ControlAccess, Check>> = {
  control: checkCaller,
  page: checkVisitor,
  badge: checkNeighbour,
  open() {},
};

/** Rows of the control API with the guard in front; none of them is journaled or sends CORS headers. */
export const guarded = (endpoints: readonly Endpoint[], rules: GuardRules): Endpoint[] =>
  endpoints.map((endpoint) => {
    if (endpoint.family !== "control") return endpoint;
    const check = checks[endpoint.access ?? "control"];
    return {
      ...endpoint,
      journaled: false,
      handle(call) {
        check(call, rules);
        return endpoint.handle(call);
      },
    };
  });
