import { brotliDecompressSync, gunzipSync, inflateSync } from "node:zlib";
import { parsedJson } from "../../kernel/base/json.ts";
import { withoutPort } from "../../kernel/http/host-rules.ts";
import type { ProxyCode } from "./codes.ts";
import { gunzipped, type ProbeArrival, type ProxyAnswer, type ProxyOutcome } from "./exchange.ts";
import type { Probe } from "./probes.ts";

/** One difference between what was sent and what came, at one probe. */
export interface ProxyDifference {
  readonly code: ProxyCode;
  readonly detail: string;
}

/** One probe, and all that became of it. */
export interface ProbeExchange {
  readonly probe: Probe;
  readonly outcome: ProxyOutcome;
  readonly arrivals: readonly ProbeArrival[];
}

export interface ProxyPlace {
  /** Path of the proxy, without a slash at its end; "" for none. */
  readonly prefix: string;
  /** Host and port of the proxy. */
  readonly host: string;
}

const size = (bytes: Buffer): string => `${bytes.length} bytes`;

/** Only the beginning of what another program wrote. */
const shown = (text: string): string => (text.length > 120 ? `${text.slice(0, 120)}…` : text);

const sameJson = (a: Buffer, b: Buffer): boolean => {
  const [first, second] = [parsedJson(a.toString()), parsedJson(b.toString())];
  return first !== undefined && JSON.stringify(first) === JSON.stringify(second);
};

/** What a body parser leaves of a body that it could not read. */
const leftovers = ["", "{}", "[]", '""', "null", "undefined", "[object Object]"];

/** How often U+FFFD stands in it: often where bytes were read as text, rarely by chance. */
const replacements = (bytes: Buffer): number => bytes.toString("latin1").split("\xef\xbf\xbd").length - 1;

/** How the body that arrived differs; each test is tried in turn. */
const bodyTests: readonly (readonly [ProxyCode, (sent: Buffer, got: Buffer) => boolean])[] = [
  ["body_missing", (_, got) => got.length < 20 && leftovers.includes(got.toString().trim())],
  ["body_truncated", (sent, got) => got.length < sent.length && sent.subarray(0, got.length).equals(got)],
  ["body_decompressed", (sent, got) => gunzipped(sent)?.equals(got) === true],
  [
    "body_text",
    (sent, got) =>
      got.equals(Buffer.from(sent.toString())) ||
      got.equals(Buffer.from(sent.toString("latin1"), "utf8")) ||
      replacements(got) > got.length / 50 ||
      got.equals(Buffer.from(sent.toString("utf8"), "latin1")),
  ],
  [
    "body_reencoded",
    (sent, got) => {
      const text = got.toString("latin1").trim().replace(/^"|"$/g, "");
      const opened = gunzipped(got);
      return (
        text === sent.toString("base64") ||
        sameJson(sent, got) ||
        opened?.equals(gunzipped(sent) ?? sent) === true ||
        (sent.indexOf("data=") === 0 && decodeForm(sent) === decodeForm(got))
      );
    },
  ],
  ["body_changed", () => true],
];

const decodeForm = (bytes: Buffer): string =>
  [...new URLSearchParams(bytes.toString())].map((pair) => pair.join("=")).join("&");

function bodyDifference(sent: Buffer, got: Buffer): ProxyDifference[] {
  if (sent.equals(got)) return [];
  const [code] = bodyTests.find(([, fits]) => fits(sent, got)) ?? ["body_changed" as const];
  return [{ code, detail: `sent ${size(sent)}, arrived ${size(got)}` }];
}

/** Without a slash at its end: the service has both forms. */
const plainPath = (path: string): string => path.replace(/\/+$/, "") || "/";

const split = (target: string): [path: string, query: string] => {
  const at = target.indexOf("?");
  return at < 0 ? [target, ""] : [target.slice(0, at), target.slice(at + 1)];
};

function targetDifferences({ target }: Probe, arrived: string, { prefix }: ProxyPlace): ProxyDifference[] {
  const [path, query] = split(target);
  const [gotPath, gotQuery] = split(arrived);
  const found: ProxyDifference[] = [];
  const detail = `sent ${shown(target)}, arrived ${shown(arrived)}`;
  if (plainPath(gotPath) !== plainPath(path)) {
    const isKept = prefix !== "" && plainPath(gotPath) === plainPath(prefix + path);
    found.push({ code: isKept ? "prefix_kept" : "path_changed", detail });
  }
  if (gotQuery !== query) found.push({ code: gotQuery === "" ? "query_lost" : "query_changed", detail });
  return found;
}

/** `text/plain; charset=UTF-8` and `text/plain;charset=utf-8` are the same. */
const mediaType = (text: string | undefined): string => (text ?? "").toLowerCase().replaceAll(" ", "");
const bareType = (text: string | undefined): string => mediaType(text).split(";")[0] ?? "";

function headerDifferences({ headers, body }: Probe, arrived: ProbeArrival, { host }: ProxyPlace): ProxyDifference[] {
  const found: ProxyDifference[] = [];
  const named = (code: ProxyCode, name: string) =>
    found.push({
      code,
      detail: `sent ${name}: ${headers[name] ?? "none"}, arrived ${arrived.headers[name] ?? "none"}`,
    });
  if (body.length > 0 && bareType(headers["content-type"]) !== bareType(arrived.headers["content-type"]))
    named("content_type", "content-type");
  if ((headers["content-encoding"] ?? "") !== (arrived.headers["content-encoding"] ?? ""))
    named("content_encoding", "content-encoding");
  const { authorization: sent } = headers;
  if (sent !== undefined && arrived.headers.authorization === undefined)
    found.push({ code: "authorization_lost", detail: "sent Authorization: Bearer and the project key, arrived none" });
  else if (sent !== undefined && arrived.headers.authorization !== sent)
    found.push({ code: "authorization_replaced", detail: "arrived with another Authorization than it was sent" });
  if (arrived.headers.host === host || arrived.headers.host === withoutPort(host))
    found.push({ code: "host_kept", detail: `arrived Host: ${arrived.headers.host}` });
  if (arrived.headers["x-forwarded-for"] === undefined)
    found.push({ code: "client_address_lost", detail: "no X-Forwarded-For arrived" });
  return found;
}

const decoders: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  "": (bytes) => bytes,
  identity: (bytes) => bytes,
  gzip: (bytes) => gunzipSync(bytes),
  deflate: (bytes) => inflateSync(bytes),
  br: (bytes) => brotliDecompressSync(bytes),
};

/** The body as a browser reads it; undefined if it cannot. */
function readable({ headers, body }: ProxyAnswer): Buffer | undefined {
  try {
    return decoders[headers["content-encoding"] ?? ""]?.(body);
  } catch {
    return undefined;
  }
}

const isHtml = ({ headers, body }: ProxyAnswer): boolean =>
  /html/.test(headers["content-type"] ?? "") || /^\s*<(?:!doctype|html)/i.test(body.toString("latin1", 0, 200));

function answerDifferences(
  { method, answer: own }: Probe,
  answer: ProxyAnswer,
  others: readonly Probe[],
): ProxyDifference[] {
  if (method === "OPTIONS") return [];
  const { status, headers } = answer;
  if (status !== 200) return [{ code: "status_changed", detail: `the sim answered 200, the proxy ${status}` }];
  if (isHtml(answer))
    return [{ code: "answer_replaced", detail: `${headers["content-type"] ?? "HTML"} in place of ${own.type}` }];
  const found: ProxyDifference[] = [];
  const body = readable(answer);
  if (bareType(headers["content-type"]) !== bareType(own.type))
    found.push({ code: "answer_type", detail: `${own.type} became ${headers["content-type"] ?? "none"}` });
  if (body?.equals(own.body)) return found;
  const isPacked = gunzipped(answer.body)?.equals(own.body) === true;
  if (body === undefined || isPacked) {
    const named = headers["content-encoding"] ?? "none";
    return [
      ...found,
      { code: "answer_encoding", detail: `content-encoding: ${named}, and the body is ${isPacked ? "gzip" : "not"}` },
    ];
  }
  if (others.some((it) => it.answer.body.equals(body)))
    return [...found, { code: "answer_cached", detail: "the answer to an earlier request came again" }];
  return [...found, { code: "answer_changed", detail: `the sim sent ${size(own.body)}, ${size(body)} came` }];
}

/** True for an answer of the service, not of the app. */
const isOfService = ({ headers, body }: ProxyAnswer): boolean => {
  const text = body.toString("latin1", 0, 2_000);
  return (
    headers["x-envoy-upstream-service-time"] !== undefined ||
    headers["posthog-request-id"] !== undefined ||
    /_POSTHOG_REMOTE_CONFIG|"supportedCompression"|"type":\s*"authentication_error"|Project API key invalid/.test(text)
  );
};

interface Unarrived {
  readonly code: ProxyCode;
  fits(answer: ProxyAnswer, sent: Probe): boolean;
  detail(answer: ProxyAnswer, sent: Probe): string;
}

const statusText = ({ status, headers }: ProxyAnswer): string =>
  `answered ${status}${headers["content-type"] === undefined ? "" : ` ${headers["content-type"]}`}`;

const locationOf = ({ status, headers }: ProxyAnswer): string => `${status} to ${shown(headers.location ?? "nowhere")}`;

const isRedirect = ({ status }: ProxyAnswer): boolean => status >= 301 && status <= 308 && status !== 304;

const loginPath = /log-?in|sign-?in|auth|sso|session/i;

/** True if the redirect changes nothing but the slash at the end of the path. */
function isSlash({ headers }: ProxyAnswer, { target }: Probe): boolean {
  const to = headers.location;
  const [path] = split(target);
  if (to === undefined || !URL.canParse(to, "http://proxy")) return false;
  const { pathname } = new URL(to, "http://proxy");
  return pathname.endsWith("/") !== path.endsWith("/") && plainPath(pathname).endsWith(plainPath(path));
}

/** Why a request that was answered did not arrive; the first that fits. */
const unarrived: readonly Unarrived[] = [
  {
    code: "other_sim",
    fits: ({ headers }) => headers["x-phx-source"] !== undefined,
    detail: (it) => `${statusText(it)} with x-phx-source: ${it.headers["x-phx-source"]}`,
  },
  { code: "redirect_slash", fits: (it, sent) => isRedirect(it) && isSlash(it, sent), detail: locationOf },
  { code: "login", fits: (it) => isRedirect(it) && loginPath.test(it.headers.location ?? ""), detail: locationOf },
  { code: "redirected", fits: isRedirect, detail: locationOf },
  { code: "real_service", fits: isOfService, detail: (it) => `${statusText(it)}, as the service does` },
  { code: "login", fits: ({ status }) => status === 401 || status === 403, detail: statusText },
  {
    code: "body_too_large",
    fits: ({ status }) => status === 413,
    detail: (it, { body }) => `${statusText(it)} to ${size(body)}`,
  },
  { code: "upstream_fails", fits: ({ status }) => status >= 500, detail: statusText },
  { code: "not_passed_on", fits: (it) => it.status >= 400 || isHtml(it), detail: statusText },
  { code: "swallowed", fits: () => true, detail: statusText },
];

const large = 1_000_000;

/** Rejections of a large body that others, which are small, do not have. */
const refusesSize = ["connection_cut", "upstream_fails", "not_passed_on", "timeout"];

/** Why a request did not arrive. A large one counts as refused for its size only if all the small ones arrive. */
function differenceOfUnarrived({ probe, outcome }: ProbeExchange, earlier: readonly ProbeExchange[]): ProxyDifference {
  const others = earlier.map((it) => it.probe);
  const found = unarrivedDifference(probe, outcome, others);
  if (probe.body.length <= large || !refusesSize.includes(found.code)) return found;
  const lost = earlier.findLast((it) => it.probe.method === "POST" && it.arrivals.length === 0);
  if (!lost) return { code: "body_too_large", detail: `${found.detail}, to ${size(probe.body)}` };
  // A server that refuses a request early may close the connection while its body is still being sent.
  return found.code === "connection_cut" ? unarrivedDifference(lost.probe, lost.outcome, others) : found;
}

function unarrivedDifference(probe: Probe, outcome: ProxyOutcome, others: readonly Probe[]): ProxyDifference {
  if (outcome.kind === "silent") return { code: "timeout", detail: "no answer, and nothing arrived at the sim" };
  if (outcome.kind === "broken") return { code: brokenCode(outcome.cause), detail: outcome.cause };
  const { answer } = outcome;
  const body = readable(answer);
  if (body && answer.status === 200 && others.some((it) => it.answer.body.equals(body)))
    return { code: "answer_cached", detail: "the answer to an earlier request came, and nothing arrived" };
  const row = unarrived.find((it) => it.fits(answer, probe));
  return { code: row?.code ?? "swallowed", detail: row?.detail(answer, probe) ?? statusText(answer) };
}

const brokenCode = (cause: string): ProxyCode =>
  /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL)$/.test(cause)
    ? "unreachable"
    : "connection_cut";

/** A preflight is right if the page may send, no matter which server answers. */
function preflightDifferences({ probe, outcome }: ProbeExchange): ProxyDifference[] {
  if (outcome.kind !== "answer") return [];
  const { status, headers } = outcome.answer;
  const allowed = headers["access-control-allow-origin"];
  const { origin } = probe.headers;
  if (status < 300 && (allowed === origin || allowed === "*")) return [];
  return [
    {
      code: "cors",
      detail: `OPTIONS of ${origin}: answered ${status}, access-control-allow-origin: ${allowed ?? "none"}`,
    },
  ];
}

/** A proxy that passes a body on while it counts its bytes: the beginning arrives, and the proxy refuses the request. */
function cutOffBy({ probe, outcome }: ProbeExchange, got: Buffer): ProxyDifference | undefined {
  if (outcome.kind !== "answer" || outcome.answer.status < 400 || got.length === 0 || got.length >= probe.body.length)
    return undefined;
  if (!probe.body.subarray(0, got.length).equals(got)) return undefined;
  const detail = `${statusText(outcome.answer)} to ${size(probe.body)}, of which ${size(got)} arrived`;
  return { code: "body_too_large", detail };
}

/** Everything that differs at one probe. @param earlier Those before it */
export function differencesOf(
  exchange: ProbeExchange,
  place: ProxyPlace,
  earlier: readonly ProbeExchange[],
): ProxyDifference[] {
  const { probe, outcome, arrivals } = exchange;
  const [arrived, second] = arrivals;
  const others = earlier.map((it) => it.probe);
  if (probe.method === "OPTIONS" && outcome.kind === "answer" && !isRedirect(outcome.answer))
    return preflightDifferences(exchange);
  if (!arrived) return [differenceOfUnarrived(exchange, earlier)];
  const refused = cutOffBy(exchange, arrived.body);
  if (refused) return [refused];
  return [
    ...(arrived.method === probe.method
      ? []
      : [{ code: "method_changed", detail: `sent ${probe.method}, arrived ${arrived.method}` } as const]),
    ...targetDifferences(probe, arrived.target, place),
    ...bodyDifference(probe.body, arrived.body),
    ...headerDifferences(probe, arrived, place),
    ...(second ? [{ code: "duplicated", detail: `arrived ${arrivals.length} times` } as const] : []),
    ...outcomeDifferences(exchange, others),
  ];
}

function outcomeDifferences({ probe, outcome }: ProbeExchange, others: readonly Probe[]): ProxyDifference[] {
  if (outcome.kind === "silent") return [{ code: "timeout", detail: "the request arrived, and no answer came" }];
  if (outcome.kind === "broken")
    return [{ code: "connection_cut", detail: `the request arrived, then ${outcome.cause}` }];
  return answerDifferences(probe, outcome.answer, others);
}
