import { isObject, type Json, mapMembers, own } from "../../../kernel/base/json.ts";
import { type Exchange, type HeaderPairs, type TapeBody, targetOf } from "../format/exchange.ts";
import type { ReplayRequest } from "../ports.ts";
import { decodedPart } from "./fields.ts";
import { type Placeholder, placeholdersIn, replacePlaceholders, valuesFor } from "./placeholders.ts";
import { shapesOf } from "./shapes.ts";

type Bindings = ReadonlyMap<string, string>;

/** Binds the placeholders of a recorded text to what a live one has there. The first binding of each stays. */
function bindText(recorded: string, live: string | undefined, into: Map<string, string>): void {
  const values = live === undefined ? undefined : valuesFor(recorded, live, 1);
  if (values === undefined) return;
  for (const { text } of placeholdersIn(recorded)) {
    const value = values.shift();
    if (value !== undefined && !into.has(text)) into.set(text, value);
  }
}

function bindJson(recorded: Json, live: Json | undefined, into: Map<string, string>): void {
  if (typeof recorded === "string") bindText(recorded, typeof live === "string" ? live : undefined, into);
  else if (Array.isArray(recorded)) {
    for (const [i, it] of recorded.entries()) bindJson(it, Array.isArray(live) ? live[i] : undefined, into);
  } else if (isObject(recorded) && isObject(live)) {
    for (const [key, it] of Object.entries(recorded)) bindJson(it, own(live, key), into);
  }
}

interface Target {
  segments: string[];
  query: [string, string][];
}

function halves(text: string, mark: string): [before: string, behind: string] {
  const at = text.indexOf(mark);
  return at === -1 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}

function partsOf(url: string): Target {
  const [address, query] = halves(targetOf(url), "?");
  return {
    segments: address.split("/").map(decodedPart),
    query: query.split("&").map((pair) => {
      const [name, value] = halves(pair, "=");
      return [decodedPart(name), decodedPart(value)];
    }),
  };
}

function bindTarget(url: string, target: string, into: Map<string, string>): void {
  const recorded = partsOf(url);
  const live = partsOf(target);
  recorded.segments.forEach((it, i) => {
    bindText(it, live.segments[i], into);
  });
  for (const [name, value] of recorded.query) bindText(value, live.query.find(([it]) => it === name)?.[1], into);
}

function bindHeaders(headers: HeaderPairs, asked: ReplayRequest, into: Map<string, string>): void {
  for (const [name, value] of headers) bindText(value, asked.headers[name.toLowerCase()], into);
}

function bindBody(body: TapeBody | undefined, live: Json | undefined, into: Map<string, string>): void {
  if (body === undefined) return;
  if ("json" in body) bindJson(body.json, live, into);
  else if ("text" in body) bindText(body.text, typeof live === "string" ? live : undefined, into);
}

/** The caller's key of a kind, where the tape and the caller have exactly one each: it may have moved. */
function bindSingles(placeholders: readonly Placeholder[], asked: ReplayRequest, into: Map<string, string>): void {
  const text = JSON.stringify([asked.target, asked.headers, asked.body]);
  for (const { text: name, kind } of placeholders) {
    const isOnly = placeholders.every((other) => other.kind !== kind || other.text === name);
    const live = new Set(isOnly && !into.has(name) ? shapesOf(kind, text) : []);
    const [value] = live;
    if (live.size === 1 && value !== undefined) into.set(name, value);
  }
}

/** What the caller sent in the places of placeholders; else the only key of that kind that both have. */
function bind(recorded: Exchange["req"], asked: ReplayRequest): Bindings {
  const into = new Map<string, string>();
  bindHeaders(recorded.headers, asked, into);
  bindTarget(recorded.url, asked.target, into);
  bindBody(recorded.body, asked.body, into);
  bindSingles(placeholdersIn(JSON.stringify([recorded.url, recorded.headers, recorded.body])), asked, into);
  return into;
}

/** Values that are visibly not real, in the shape that clients check. */
const fakes: Readonly<Record<string, string>> = {
  project_key: "phc_redacted_",
  personal_api_key: "phx_redacted_",
  secret_api_key: "phs_redacted_",
  oauth_access_token: "pha_redacted_",
  oauth_refresh_token: "phr_redacted_",
};

/** A secret as reports show it; which kind of key it is, is worth knowing: `phx_***`. */
export const maskOf = ({ kind }: Placeholder): string =>
  Object.hasOwn(fakes, kind) ? `${fakes[kind]?.slice(0, 4)}***` : "***";

/** What stands for a secret whose value is not known: `phx_redacted_1`, `redacted_password_1`. */
const fakeOf = ({ kind, number }: Placeholder): string =>
  `${Object.hasOwn(fakes, kind) ? fakes[kind] : `redacted_${kind}_`}${number}`;

/** A text with values for its placeholders; those of `value` that are undefined become visible fakes. */
export const fillText = (text: string, value: (placeholder: Placeholder) => string | undefined): string =>
  replacePlaceholders(text, (placeholder) => value(placeholder) ?? fakeOf(placeholder));

function fillJson(json: Json, value: (placeholder: Placeholder) => string | undefined): Json {
  if (typeof json === "string") return fillText(json, value);
  if (Array.isArray(json)) return json.map((it) => fillJson(it, value));
  return isObject(json) ? mapMembers(json, (key, it) => [fillText(key, value), fillJson(it, value)]) : json;
}

/** As `fillText`, in a body. Bytes and side files are left as they are. */
export function fillBody(body: TapeBody, value: (placeholder: Placeholder) => string | undefined): TapeBody {
  if ("json" in body) return { json: fillJson(body.json, value) };
  return "text" in body ? { text: fillText(body.text, value) } : body;
}

export const fillHeaders = (
  headers: HeaderPairs,
  value: (placeholder: Placeholder) => string | undefined,
): HeaderPairs =>
  headers.map((header) => {
    const [name, it] = header;
    const filled = fillText(it, value);
    return filled === it ? header : [name, filled];
  });

/** The exchange with the caller's own values for placeholders; what is unknown becomes a fake of the right shape. */
export function restore(exchange: Exchange, asked: ReplayRequest): Exchange {
  const { res } = exchange;
  if (res === null) return exchange;
  const bindings = bind(exchange.req, asked);
  const value = ({ text }: Placeholder): string | undefined => bindings.get(text);
  return {
    ...exchange,
    res: { ...res, headers: fillHeaders(res.headers, value), ...(res.body && { body: fillBody(res.body, value) }) },
  };
}

/** Placeholders that stand in a body, each once: what must be known before it can be sent. */
export function unresolved(body: TapeBody | undefined): string[] {
  const text = body && "json" in body ? JSON.stringify(body.json) : body && "text" in body ? body.text : "";
  return [...new Set(placeholdersIn(text).map((it) => it.text))];
}
