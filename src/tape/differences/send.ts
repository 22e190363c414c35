import type { Json } from "../../kernel/json.ts";
import { isLeftOut } from "../send/headers.ts";
import type { Exchange, HeaderPairs, TapeBody } from "../types.ts";
import type { Aliases } from "./aliases.ts";
import { credentialWithKeys, jsonWithKeys, type Keys, withKeys } from "./keys.ts";
import type { AnswerLike } from "./types.ts";

/** Bodies are sent, and answered, as they are: the sim is in the process. */
const encodings: ReadonlySet<string> = new Set(["content-encoding", "accept-encoding"]);

const bodiless = new Set(["GET", "HEAD"]);

/** Who the recorded requests are asked by. Nothing goes there: the sim is in the process. */
const origin = "http://localhost";

/** Path and query of an absolute URL or a target, as they stand. */
export const targetOf = (url: string): string => {
  const rest = url.replace(/^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i, "");
  return rest.startsWith("/") ? rest : `/${rest}`;
};

function requestTarget({ req }: Exchange, keys: Keys, aliases: Aliases): string {
  const [path = "/", ...query] = withKeys(targetOf(req.url), keys).split("?");
  const search = query.join("?");
  // The body goes decoded.
  const kept = req.body === undefined ? search : withoutCompression(search);
  return `${aliases.inPath(path)}${kept === "" ? "" : `?${kept}`}`;
}

const withoutCompression = (search: string): string =>
  search
    .split("&")
    .filter((it) => !it.startsWith("compression="))
    .join("&");

interface Sent {
  body: string | Uint8Array<ArrayBuffer> | undefined;
  isJson: boolean;
}

function bodyOf({ req, route }: Exchange, keys: Keys, aliases: Aliases): Sent {
  const { body } = req;
  if (body === undefined || bodiless.has(req.method.toUpperCase())) return { body: undefined, isJson: false };
  if ("json" in body) return { body: JSON.stringify(jsonOf(body.json, route, keys, aliases)), isJson: true };
  if ("text" in body) return { body: withKeys(body.text, keys), isJson: false };
  if ("b64" in body) return { body: new Uint8Array(Buffer.from(body.b64, "base64")), isJson: false };
  return { body: undefined, isJson: false };
}

/** Only management requests name what the service made. */
function jsonOf(value: Json, route: string, keys: Keys, aliases: Aliases): Json {
  const restored = jsonWithKeys(value, keys);
  return route.includes(" ") ? aliases.inBody(restored) : restored;
}

function headersOf({ req }: Exchange, isJson: boolean, keys: Keys): Headers {
  const headers = new Headers();
  for (const [name, value] of req.headers) {
    const lower = name.toLowerCase();
    if (isLeftOut(lower) || encodings.has(lower)) continue;
    const restore = lower === "authorization" ? credentialWithKeys : withKeys;
    append(headers, lower, restore(value, keys));
  }
  if (isJson) headers.set("content-type", "application/json");
  return headers;
}

/** What a recorder took down cannot always be sent: a header that is none is left out. */
function append(headers: Headers, name: string, value: string): void {
  try {
    headers.append(name, value);
  } catch {
    // Not a header that fetch knows how to send.
  }
}

/**
 * A recorded request for the sim, decoded, with its keys and ids.
 * @throws TypeError for a method or a URL that fetch cannot send
 */
export function requestOf(exchange: Exchange, keys: Keys, aliases: Aliases): Request {
  const { body, isJson } = bodyOf(exchange, keys, aliases);
  return new Request(`${origin}${requestTarget(exchange, keys, aliases)}`, {
    method: exchange.req.method,
    headers: headersOf(exchange, isJson, keys),
    ...(body !== undefined && { body }),
  });
}

/** An answer of the sim as it would stand on a tape. */
export async function answerOf(response: Response): Promise<AnswerLike> {
  const text = await response.text();
  const headers: HeaderPairs = [...response.headers];
  return { status: response.status, headers, body: bodyIn(text) };
}

function bodyIn(text: string): TapeBody | undefined {
  if (text === "") return undefined;
  try {
    return { json: JSON.parse(text) };
  } catch {
    return { text };
  }
}
