import { isObject, type Json, type JsonObject, own as ownKey } from "../../base/json.ts";
import { type Exchange, type HeaderPairs, jsonOf, type TapeBody, targetOf } from "../format/exchange.ts";
import { fillBody, fillText } from "../redact/bind.ts";
import type { Placeholder } from "../redact/placeholders.ts";
import { isLeftOut } from "../send/plan.ts";
import { compareAnswers, skipReasonOf, type Verified } from "./compare.ts";
import type { AnswerLike } from "./compare-json.ts";

interface VerifierOptions {
  /** The sim's door. */
  handle(request: Request): Promise<Response>;
  keys: Keys;
  noise?: readonly string[];
}

const writes = new Set(["POST", "PUT", "PATCH"]);

/** Sends recorded requests to a sim, in order, and compares its answers with the recorded ones. */
export function createVerifier({ handle, keys, noise = [] }: VerifierOptions) {
  const aliases = createAliases();

  function learn({ req, res }: Exchange, own: AnswerLike): void {
    const [theirs, mine] = [jsonOf(res?.body), jsonOf(own.body)];
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
      return { compared: { route, i, differences: compareAnswers(res, own, { route, noise }) } };
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

/** Bodies are sent, and answered, as they are: the sim is in the process. */
const encodings: ReadonlySet<string> = new Set(["content-encoding", "accept-encoding"]);

const bodiless = new Set(["GET", "HEAD"]);

/** Who the recorded requests are asked by. Nothing goes there: the sim is in the process. */
const origin = "http://localhost";

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
  if (req.body === undefined || bodiless.has(req.method.toUpperCase()))
    return { body: undefined, isJson: false };
  const body = fillBody(req.body, keyFor(keys));
  if ("json" in body) {
    // only management requests name what the service made
    const json = route.includes(" ") ? aliases.inBody(body.json) : body.json;
    return { body: JSON.stringify(json), isJson: true };
  }
  if ("text" in body) return { body: body.text, isJson: false };
  if ("b64" in body) return { body: new Uint8Array(Buffer.from(body.b64, "base64")), isJson: false };
  return { body: undefined, isJson: false };
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

/** The sim's keys by the tape's placeholders (or keys, where it has them in plain). */
type Keys = ReadonlyMap<string, string>;

/** A secret that is not a key of the sim gets a readable stand-in. */
const keyFor =
  (keys: Keys) =>
  ({ text, kind, number }: Placeholder): string =>
    keys.get(text) ?? `redacted-${kind.replaceAll("_", "-")}-${number}`;

/** A text, or a path and query, with placeholders replaced by keys. */
const withKeys = (text: string, keys: Keys): string => fillText(text, keyFor(keys));

/** An `Authorization` header with the sim's key; a whole value that was taken away had its scheme before. */
function credentialWithKeys(value: string, keys: Keys): string {
  const secret = value.replace(/^bearer\s+/i, "").trim();
  const key = keys.get(secret);
  if (key !== undefined) return `Bearer ${key}`;
  const restored = withKeys(value, keys);
  return /^\S+$/.test(restored) ? `Bearer ${restored}` : restored;
}

/** Ids that the emulator gave where the service gave others, so that later requests mean the same things. */
interface Aliases {
  /** Pairs the ids of two answers to one change; `path` names what was changed. */
  learn(path: string, recorded: Json, own: Json): void;
  inPath(path: string): string;
  inBody(body: Json): Json;
}

const mostAliases = 100_000;

/** `to_dashboard`, `dashboard_id` and `dashboards` are about the same numbers. */
function kindOf(key: string): string {
  const noun = key.replace(/^(?:to|from)_/, "").replace(/_?ids?$/, "");
  return noun.endsWith("s") ? noun : `${noun}s`;
}

const isCollection = (segment: string): boolean => /^[a-z_]+$/.test(segment);

/** What a path's last id, or the one that its POST makes, is an id of. */
const kindOfPath = (path: string): string => path.split("/").filter(isCollection).at(-1) ?? "";

/** Numbers are ids of one kind of thing only; texts such as UUIDs are there once. */
const keyOf = (kind: string, id: string | number): string =>
  typeof id === "number" ? `${kind} ${id}` : `"${id}`;

const idKeys: ReadonlySet<string> = new Set(["id", "uuid", "short_id", "access_token"]);

const isId = (value: Json | undefined): value is string | number =>
  typeof value === "string" || typeof value === "number";

/** Aliases of one run; it starts with none. */
export function createAliases(): Aliases {
  const known = new Map<string, string | number>();

  function pair(kind: string, recorded: Json | undefined, own: Json | undefined): void {
    if (!isId(recorded) || !isId(own) || recorded === own || known.size >= mostAliases) return;
    if (recorded !== "") known.set(keyOf(kind, recorded), own);
  }

  function learn(kind: string, recorded: Json, own: Json): void {
    if (Array.isArray(recorded) && Array.isArray(own)) {
      for (const [i, it] of recorded.entries()) learn(kind, it, own[i] ?? null);
    } else if (isObject(recorded) && isObject(own)) learnKeys(kind, recorded, own);
  }

  function learnKeys(kind: string, recorded: JsonObject, own: JsonObject): void {
    for (const [key, value] of Object.entries(recorded)) {
      const mine = ownKey(own, key);
      if (idKeys.has(key)) pair(kind, value, mine);
      else if (mine !== undefined) learn(kindOf(key), value, mine);
    }
  }

  function replaced(kind: string, value: Json): Json {
    if (isId(value)) return known.get(keyOf(kind, value)) ?? value;
    if (Array.isArray(value)) return value.map((it) => replaced(kind, it));
    return isObject(value) ? replacedKeys(kind, value) : value;
  }

  const replacedKeys = (kind: string, value: JsonObject): JsonObject =>
    Object.fromEntries(
      Object.entries(value).map(([key, it]) => [key, replaced(key === "id" ? kind : kindOf(key), it)]),
    );

  return {
    learn: (path, recorded, own) => learn(kindOfPath(path), recorded, own),
    inPath(path) {
      const segments = path.split("/");
      const at = (segment: string, i: number): string | number | undefined =>
        /^\d{1,15}$/.test(segment)
          ? known.get(keyOf(segments[i - 1] ?? "", Number(segment)))
          : known.get(keyOf("", segment));
      return segments.map((segment, i) => String(at(segment, i) ?? segment)).join("/");
    },
    inBody: (body) => (known.size === 0 ? body : replaced("", body)),
  };
}
