import type { Json } from "../../../src/kernel/json.ts";
import type { RequestInFull } from "../../api/requests.ts";
import { jsonText, scriptText, shellQuoted } from "../../copy/quote.ts";

/** Headers that whoever sends it again writes anew. */
const ofTheConnection: ReadonlySet<string> = new Set([
  "host",
  "connection",
  "content-length",
  "transfer-encoding",
  "keep-alive",
  "proxy-connection",
  "upgrade",
  "te",
  "trailer",
  "expect",
  "accept-encoding",
]);

/** Headers that say how the bytes of the body are packed; what is copied is unpacked. */
const ofTheBytes: ReadonlySet<string> = new Set(["content-encoding", "content-type"]);

/** A header in which the journal has masked a secret: sent again, it would be a wrong one. */
const isMasked = (value: string): boolean => value.includes("***");

/** What is sent again. */
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
  /** Names of headers that had to be left out. */
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

/** What is not in the copy, in words. */
function leftOut({ masked, payload }: Parts): string[] {
  const headers = masked.map(
    (name) => `the header ${name.replace(/[^\w-]/g, "")} is left out: its secret is masked`,
  );
  const body =
    payload.is === "omitted"
      ? [`the body is left out: ${payload.bytes} bytes that are no text, or were not kept`]
      : [];
  const keys = /ph[a-z]_\*{3}/.test(bodyText(payload) ?? "")
    ? ["keys in the body are masked: put yours there"]
    : [];
  return [...headers, ...body, ...keys];
}

const bodyText = (payload: Payload): string | undefined => {
  if (payload.is === "json") return jsonText(payload.value);
  return payload.is === "text" ? payload.text : undefined;
};

/** A shell takes no NUL in a word, and a header no line break. */
const inHeader = (text: string): string => text.replace(/[\r\n\0]/g, " ");

/**
 * The request as a command for any POSIX shell, unpacked. `--data-raw` takes a body that begins with `@` as it is.
 * @param base Where the sim is, without a slash at the end
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

/** Names that `fetch` does not let a script set. */
const forbidden = /^(?:sec-|proxy-)|^(?:cookie|origin|referer|date|dnt|via|accept-charset)$/i;

/** The request as JavaScript. */
export function requestFetch(request: RequestInFull, base: string): string {
  const parts = partsOf(request, base);
  const headers = new Map(parts.headers.filter(([name]) => !forbidden.test(name)));
  const { payload } = parts;
  const body = [
    ...(payload.is === "json" ? [`  body: JSON.stringify(${scriptText(payload.value, 2)}),`] : []),
    ...(payload.is === "text" ? [`  body: ${scriptText(payload.text)},`] : []),
  ];
  const lines = [
    `  method: ${scriptText(request.method)},`,
    ...(headers.size > 0 ? [`  headers: ${scriptText(headers, 2)},`] : []),
    ...body,
  ];
  const notes = leftOut(parts).map((it) => `// ${it}\n`);
  return `${notes.join("")}await fetch(${scriptText(parts.url)}, {\n${lines.join("\n")}\n});`;
}
