import { resolve } from "node:path";
import { isObject, type Json, type JsonObject, parsedJson } from "../base/json.ts";
import { didYouMean } from "../base/nearest.ts";
import { controlTokenExpected, isControlToken, publicUrlExpected, readPublicUrl } from "../http/reach.ts";
import { clean } from "./clean-text.ts";
import { Failure } from "./failure.ts";

/** A kind of option value: how its text is read, and how it is spelled in a JSON config file. */
export interface OptionKind<T extends Json = Json> {
  /** Completes "--port must be …". */
  readonly expects: string;
  readonly json: "string" | "number" | "boolean";
  /** A complaint does not quote the value. */
  readonly isSecret?: true;
  /** Undefined when the text is not of this kind. `folder` is what relative paths start from. */
  read(text: string, folder: string): T | undefined;
}

const on = ["true", "1", "yes", "on"];
const off = ["false", "0", "no", "off"];

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

const readPath = (text: string, folder: string): string | undefined =>
  text === "" || text.includes("\0") ? undefined : resolve(folder, text);

/** A value that is no JSON, or a whole number that a double does not hold, is a string. Any key is valid. */
function readPair(text: string): JsonObject | undefined {
  const at = text.indexOf("=");
  const value = text.slice(at + 1);
  const isInexact = /^-?\d{16,}$/.test(value) && BigInt(Number(value)) !== BigInt(value);
  const json = isInexact ? undefined : parsedJson(value);
  return at > 0 ? Object.fromEntries([[text.slice(0, at), json === undefined ? value : json]]) : undefined;
}

function readProperties(text: string): JsonObject | undefined {
  const value = parsedJson(text);
  return isObject(value) ? value : readPair(text);
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
  folder: { expects: "a folder", json: "string", read: readPath },
  file: { expects: "the path of a file", json: "string", read: readPath },
  scenario: {
    expects: "a shipped scenario's name or the path of a scenario file",
    json: "string",
    // A bare word names a shipped scenario, as in library mode.
    read: (text: string, folder: string) => (/^[\w-]+$/.test(text) ? text : readPath(text, folder)),
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
    read: (text: string) => on.includes(text.toLowerCase()) || (off.includes(text.toLowerCase()) ? false : undefined),
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
  json: { expects: "JSON", json: "string", read: parsedJson },
  properties: { expects: "NAME=VALUE or a JSON object", json: "string", read: readProperties },
  "flag value": {
    expects: "text",
    json: "string",
    read: (text: string) => text === "true" || (text !== "false" && (text || undefined)),
  },
  group: { expects: "TYPE:KEY", json: "string", read: readGroup },
  "group property": { expects: "TYPE.NAME=VALUE", json: "string", read: readGroupProperty },
} as const satisfies Record<string, OptionKind<Json>>;

type KindName = keyof typeof kinds;
type KindValue<K extends KindName> = Exclude<ReturnType<(typeof kinds)[K]["read"]>, undefined>;

/** A row of a command's table: what the command line, the environment and the config file may set. */
export interface Option {
  /** Default: `text`. */
  readonly kind?: KindName;
  readonly describe: string;
  /** Text, as a user would type it; switches are off by default. */
  readonly default?: string;
  readonly choices?: readonly string[];
  /** Also set by an environment variable and in the config file. */
  readonly configurable?: true;
  /** Another option that cannot be on at the same time; where both are, the nearer source wins. */
  readonly excludes?: string;
  /** Name of the parameter of the control API (default: the option's). */
  readonly parameter?: string;
  /** Given by its place among the words after the command, from 1, and not by its name. Not configurable. */
  readonly place?: number;
  /** What is given by its place, or after `--`, may be left out; of places the last ones only. */
  readonly optional?: true;
  /** Any number of times, as a list in order; by place all further words, one at least unless optional. */
  readonly many?: true;
  /** All the words after `--`, as they are; with `many`. Not configurable. */
  readonly rest?: true;
}

export type Options = Readonly<Record<string, Option>>;

type Value<O extends Option> = O extends { choices: readonly (infer Choice)[] }
  ? Choice
  : KindValue<O extends { kind: infer K extends KindName } ? K : "text">;

type Always = { kind: "switch" } | { default: string } | { place: number };

/** Switches, words at their place and options with a default always have a value. */
export type ValueOf<O extends Option> = O extends { many: true }
  ? readonly Value<O>[]
  : O extends { optional: true }
    ? Value<O> | undefined
    : O extends Always
      ? Value<O>
      : Value<O> | undefined;

/** `PHX_SIM_ADOPT_TOKENS` for `adopt-tokens`. */
export const variableOf = (name: string): string => `PHX_SIM_${name.toUpperCase().replaceAll("-", "_")}`;

export const parameterOf = (name: string, { parameter }: Pick<Option, "parameter">): string =>
  parameter ?? name.replaceAll("-", "_");

/** The name in the help and in messages: `--port`, or `KEY` for an option given by its place. */
export const spelledOption = (name: string, { place }: Pick<Option, "place">): string =>
  place === undefined ? `--${name}` : name.toUpperCase();

export const placedOf = (options: Options): string[] =>
  Object.keys(options)
    .filter((name) => options[name]?.place !== undefined)
    .sort((a, b) => (options[a]?.place ?? 0) - (options[b]?.place ?? 0));

/** Reads a value's text. @param where Name of the source, e.g. `--port` @throws Failure usage */
export function readValue(option: Option, text: string, where: string, folder: string): Json {
  const kind: OptionKind = kinds[option.kind ?? "text"];
  const value = kind.read(text, folder);
  if (value === undefined) {
    const given = kind.isSecret ? "" : `, not "${clean(text)}"`;
    throw new Failure("usage", `${where} must be ${kind.expects}${given}`);
  }
  if (option.choices && !option.choices.includes(text)) {
    const wanted = `${option.choices.slice(0, -1).join(", ")} or ${option.choices.at(-1)}`;
    const given = `"${clean(text)}"${meant(text, option.choices)}`;
    throw new Failure("usage", `${where} must be ${wanted}, not ${given}`);
  }
  return value;
}

/** Also of a longer or a shorter form of a choice: `nextjs`, `react`. */
function meant(text: string, choices: readonly string[]): string {
  const near = didYouMean(text, choices);
  const form = choices.find((it) => text.length > 2 && (text.startsWith(it) || it.startsWith(text)));
  return near === "" && form !== undefined ? `; did you mean ${form}?` : near;
}
