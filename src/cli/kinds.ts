import { resolve } from "node:path";
import { isObject, type Json, type JsonObject } from "../kernel/json.ts";
import { controlTokenExpected, isControlToken, publicUrlExpected, readPublicUrl } from "../kernel/reach.ts";

/** A kind of option value: how its text is read, and how it is spelled in a JSON config file. */
export interface Kind<T extends Json = Json> {
  /** Completes "--port must be …". */
  readonly expects: string;
  readonly json: "string" | "number" | "boolean";
  /** A complaint does not quote the value. */
  readonly isSecret?: true;
  /** Undefined when the text is not of this kind. `folder` is what relative paths start from. */
  read(text: string, folder: string): T | undefined;
}

const switches: Readonly<Record<string, boolean>> = {
  true: true,
  "1": true,
  yes: true,
  on: true,
  false: false,
  "0": false,
  no: false,
  off: false,
};

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000 };

function readPort(text: string): number | undefined {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  return port <= 65_535 ? port : undefined;
}

function readDuration(text: string): number | undefined {
  const found = /^(\d{1,6}(?:\.\d{1,3})?)(ms|s|m)?$/.exec(text);
  return found ? Math.round(Number(found[1]) * (unitMs[found[2] ?? "s"] ?? 0)) : undefined;
}

function readUrl(text: string): string | undefined {
  const full = text.includes("://") ? text : `http://${text}`;
  const url = URL.canParse(full) ? new URL(full) : undefined;
  return url && /^https?:$/.test(url.protocol) ? url.origin : undefined;
}

/** Text that is JSON as what it says, any other text as itself: `3`, `true`, `"3"`, `pro`. */
function jsonOrText(text: string): Json {
  const parsed = parseJson(text);
  return parsed ? parsed.value : text;
}

/** In a box, so that JSON's null is not mistaken for none. */
function parseJson(text: string): { value: Json } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

/** `KEY=VALUE`. Object.fromEntries takes any key for a key, `__proto__`, too. */
function readPair(text: string): JsonObject | undefined {
  const at = text.indexOf("=");
  return at > 0 ? Object.fromEntries([[text.slice(0, at), jsonOrText(text.slice(at + 1))]]) : undefined;
}

function readProperties(text: string): JsonObject | undefined {
  const parsed = parseJson(text);
  if (parsed && isObject(parsed.value)) return parsed.value;
  return readPair(text);
}

function readGroup(text: string): JsonObject | undefined {
  const at = text.indexOf(":");
  const key = text.slice(at + 1);
  return at > 0 && key !== "" ? Object.fromEntries([[text.slice(0, at), key]]) : undefined;
}

function readGroupProperty(text: string): JsonObject | undefined {
  const at = text.indexOf(".");
  const properties = at > 0 ? readPair(text.slice(at + 1)) : undefined;
  return properties && Object.fromEntries([[text.slice(0, at), properties]]);
}

/** `a,b,c`; blanks beside a name do not count. */
function readNames(text: string): string[] | undefined {
  const names = text.split(",").map((name) => name.trim());
  return names.includes("") ? undefined : names;
}

export const kinds = {
  text: { expects: "text", json: "string", read: (text: string) => text || undefined },
  folder: {
    expects: "a folder",
    json: "string",
    read: (text: string, folder: string) =>
      text === "" || text.includes("\0") ? undefined : resolve(folder, text),
  },
  file: {
    expects: "the path of a file",
    json: "string",
    read: (text: string, folder: string) =>
      text === "" || text.includes("\0") ? undefined : resolve(folder, text),
  },
  scenario: {
    expects: "a shipped scenario's name or the path of a scenario file",
    json: "string",
    // A bare word names a shipped scenario, as in library mode.
    read: (text: string, folder: string) =>
      text === "" || text.includes("\0") ? undefined : /^[\w-]+$/.test(text) ? text : resolve(folder, text),
  },
  host: {
    expects: "a host name or an IP address",
    json: "string",
    read: (text: string) => (/^[\w.:%-]+$/.test(text) ? text : undefined),
  },
  port: { expects: "a whole number from 0 to 65535", json: "number", read: readPort },
  switch: {
    expects: "true or false",
    json: "boolean",
    read: (text: string) =>
      Object.hasOwn(switches, text.toLowerCase()) ? switches[text.toLowerCase()] : undefined,
  },
  duration: { expects: "a time such as 10s, 500ms or 2m", json: "string", read: readDuration },
  url: { expects: "an http address such as http://127.0.0.1:7490", json: "string", read: readUrl },
  "public url": { expects: publicUrlExpected, json: "string", read: readPublicUrl },
  "control token": {
    expects: controlTokenExpected,
    json: "string",
    isSecret: true,
    read: (text: string) => (isControlToken(text) ? text : undefined),
  },
  count: {
    expects: "a whole number",
    json: "number",
    read: (text: string) => (/^\d{1,9}$/.test(text) ? Number(text) : undefined),
  },
  word: { expects: "text", json: "string", read: (text: string) => text },
  names: { expects: "names with commas between them", json: "string", read: readNames },
  json: { expects: "JSON", json: "string", read: (text: string) => parseJson(text)?.value },
  properties: { expects: "NAME=VALUE or a JSON object", json: "string", read: readProperties },
  group: { expects: "TYPE:KEY", json: "string", read: readGroup },
  "group property": { expects: "TYPE.NAME=VALUE", json: "string", read: readGroupProperty },
} as const satisfies Record<string, Kind<Json>>;

export type KindName = keyof typeof kinds;
export type KindValue<K extends KindName> = Exclude<ReturnType<(typeof kinds)[K]["read"]>, undefined>;
