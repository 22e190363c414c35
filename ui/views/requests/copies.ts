import type { Json } from "../../../src/kernel/base/json.ts";
import { shellQuoted } from "../../../src/kernel/base/text.ts";
import type { RequestInFull } from "../../api/requests.ts";
import { jsonText, scriptText } from "../../copy/quote.ts";

/** Headers that the client generates. */
const ofTheConnection: ReadonlySet<string> = new Set(
  "host connection content-length transfer-encoding keep-alive proxy-connection upgrade te trailer expect accept-encoding".split(
    " ",
  ),
);

/** Headers about the encoding of the body; copies are decoded. */
const ofTheBytes: ReadonlySet<string> = new Set(["content-encoding", "content-type"]);

/** True if the journal masked a secret in the header: it cannot be sent again. */
const isMasked = (value: string): boolean => value.includes("***");

type Payload =
  | { readonly is: "none" }
  | { readonly is: "json"; readonly value: Json }
  | { readonly is: "text"; readonly text: string }
  | { readonly is: "omitted"; readonly bytes: number };

function payloadOf({ body, raw, decode_steps: steps }: RequestInFull): Payload {
  if (steps[0] === "query") return { is: "none" };
  if (body !== null) return { is: "json", value: body };
  if (raw === null) return { is: "none" };
  if ("text" in raw) return { is: "text", text: raw.text };
  if ("omitted" in raw) return { is: "omitted", bytes: raw.bytes };
  return { is: "omitted", bytes: Math.floor((raw.base64.replace(/=+$/, "").length * 3) / 4) };
}

interface Parts {
  readonly url: string;
  readonly headers: readonly (readonly [string, string])[];
  /** Names of omitted headers. */
  readonly masked: readonly string[];
  readonly payload: Payload;
}

function partsOf(request: RequestInFull, base: string): Parts {
  const payload = payloadOf(request);
  const isUnpacked = payload.is === "json";
  const wanted = request.headers.filter(([name]) => {
    const lower = name.toLowerCase();
    return !ofTheConnection.has(lower) && !(isUnpacked && ofTheBytes.has(lower));
  });
  const type = isUnpacked ? [["content-type", "application/json"] as const] : [];
  return {
    url: base + (request.target.startsWith("/") ? request.target : `/${request.target}`),
    headers: [...type, ...wanted.filter(([, value]) => !isMasked(value))],
    masked: wanted.filter(([, value]) => isMasked(value)).map(([name]) => name),
    payload,
  };
}

/** Comments on what is missing in the copy. */
function leftOut({ masked, payload }: Parts): string[] {
  const headers = masked.map((name) => `the header ${name.replace(/[^\w-]/g, "")} is left out: its secret is masked`);
  const body =
    payload.is === "omitted"
      ? [`the body is left out: ${payload.bytes} bytes that are not text, or were not kept`]
      : [];
  const keys = /ph[a-z]_\*{3}/.test(bodyText(payload) ?? "") ? ["keys in the body are masked: put yours there"] : [];
  return [...headers, ...body, ...keys];
}

const bodyText = (payload: Payload): string | undefined => {
  if (payload.is === "json") return jsonText(payload.value);
  return payload.is === "text" ? payload.text : undefined;
};

/** Without NUL (not allowed in shell words) and line breaks (not allowed in headers). */
const inHeader = (text: string): string => text.replace(/[\r\n\0]/g, " ");

/**
 * The decoded request as a command for any POSIX shell. `--data-raw` allows bodies that start with `@`.
 * @param base Address of the sim, without a trailing slash
 */
export function requestCurl(request: RequestInFull, base: string): string {
  const parts = partsOf(request, base);
  const body = bodyText(parts.payload);
  const words = [
    ...(request.method === "GET" && body === undefined ? [] : [`-X ${shellQuoted(request.method)}`]),
    ...parts.headers.map(([name, value]) => `-H ${shellQuoted(inHeader(`${name}: ${value}`))}`),
    ...(body === undefined ? [] : [`--data-raw ${shellQuoted(body.replaceAll("\0", ""))}`]),
  ];
  const notes = leftOut(parts).map((it) => `# ${it}\n`);
  return `${notes.join("")}${[`curl ${shellQuoted(parts.url)}`, ...words].join(" \\\n  ")}`;
}

/** Headers that `fetch` does not allow. */
const forbidden = /^(?:sec-|proxy-)|^(?:cookie|origin|referer|date|dnt|via|accept-charset)$/i;

export function requestFetch(request: RequestInFull, base: string): string {
  const parts = partsOf(request, base);
  const headers = new Map(parts.headers.filter(([name]) => !forbidden.test(name)));
  const { payload } = parts;
  const lines = [
    `  method: ${scriptText(request.method)},`,
    ...(headers.size > 0 ? [`  headers: ${scriptText(headers, 2)},`] : []),
    ...(payload.is === "json" ? [`  body: JSON.stringify(${scriptText(payload.value, 2)}),`] : []),
    ...(payload.is === "text" ? [`  body: ${scriptText(payload.text)},`] : []),
  ];
  const notes = leftOut(parts).map((it) => `// ${it}\n`);
  return `${notes.join("")}await fetch(${scriptText(parts.url)}, {\n${lines.join("\n")}\n});`;
}

/** Selection of requests for a HAR (default: all). */
interface HarRange {
  readonly filter?: string | undefined;
  readonly project?: number | undefined;
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

/** Maximum number of requests in a HAR; the newest are taken. */
export const mostEntries = 10_000;

export function harPath({ filter, project, from, to }: HarRange): string {
  const params = new URLSearchParams({ limit: String(mostEntries) });
  if (filter) params.set("filter", filter);
  if (project !== undefined) params.set("project", String(project));
  if (from !== undefined) params.set("since", String(from - 1));
  if (to !== undefined) params.set("until", String(to));
  return `requests.har?${params}`;
}

export const harName = ({ from, to }: HarRange): string =>
  from !== undefined && from === to ? `phx-sim-request-${from}.har` : "phx-sim.har";
