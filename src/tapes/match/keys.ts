import { hash } from "node:crypto";
import { isObject, type Json, type JsonObject, own } from "../../base/json.ts";
import { isVolatileProperty } from "../../journal/sdk-properties.ts";
import type { TapeHeader } from "../format/header.ts";
import { isCapture } from "../format/routes.ts";
import { createJudge } from "../redact/rules.ts";
import { canonical, createSecrecy, idPattern, nounOf, type Rules, type SecretFields } from "./canonical.ts";
import type { Ask } from "./requests.ts";

/** One way to find an answer: what of a request counts. */
export interface Tier {
  /** `exact`, or why the answer fits although not all is equal. */
  name: string;
  parts(ask: Ask): JsonObject;
}

interface Policy {
  fits(ask: Ask): boolean;
  /** Best first. */
  tiers: readonly Tier[];
  /** Answers that are another person's or group's, where the user allows them. */
  approximate?: readonly Tier[];
  /** True if fields that SDKs fill anew in each run are ignored. */
  dropsVolatile: boolean;
}

/** Numbers in a path become fields, so that ids are known by their noun: `/dashboards/42` → `{dashboard_id: 42}`. */
function segmentsOf(path: string): Json[] {
  const segments = path.split("/").slice(1);
  return segments.map((segment, at) =>
    /^\d{1,15}$/.test(segment) ? { [`${nounOf(segments[at - 1] ?? "")}_id`]: Number(segment) } : segment,
  );
}

/** Parameters by name; the order of different ones means nothing, that of equal ones does. */
export function parametersOf(query: Ask["query"]): JsonObject {
  const byName = new Map<string, Json[]>();
  for (const [name, value] of query) {
    if (!parameters.has(name)) byName.set(name, [...(byName.get(name) ?? []), value]);
  }
  return Object.fromEntries([...byName].map(([name, values]) => [name, textOf(values)]));
}

const textOf = (values: Json[]): Json => (values.length === 1 ? (values[0] ?? "") : values);

const isEmpty = (value: Json | undefined): boolean =>
  value === undefined || value === null || (isObject(value) && Object.keys(value).length === 0);

/** Fields of a body; an empty object and an absent one are the same to the flags endpoint. */
function fieldsOf(ask: Ask, names: readonly string[]): JsonObject {
  const { body } = ask;
  if (!isObject(body)) return {};
  const present = names.filter((name) => !isEmpty(own(body, name)));
  return Object.fromEntries(present.map((name) => [name, body[name] ?? null]));
}

const version = (ask: Ask): JsonObject => {
  const { v = "1", config = "" } = parametersOf(ask.query);
  return { v, config };
};

const properties = ["groups", "person_properties", "group_properties"];
const asked = ["flag_keys_to_evaluate", "only_evaluate_survey_feature_flags", "evaluation_contexts"];
const tokens = ["token", "api_key", "$token"];

/** The project's key, whatever the SDK calls it. */
function projectOf(ask: Ask): JsonObject {
  const found = Object.values(fieldsOf(ask, tokens))[0];
  return found === undefined ? {} : { token: found };
}

/** What SDKs make for a visitor who is not identified; these differ from run to run. */
const anonymousId = /^[\da-f]{8}-[\da-f]{4}-[1-9a-f][\da-f]{3}-[\da-f]{4}-[\da-f]{12}$/i;

/** Like an id that is not made anew in each run: equal values only are the same. */
const fixedText = (value: Json): string => digest(JSON.stringify(value));

/**
 * Whose flags they are: an identified person and the groups must be the recorded ones. An SDK names the anonymous id,
 * too, once a visitor is identified.
 */
function identity({ body }: Ask): JsonObject {
  if (!isObject(body)) return {};
  const { distinct_id: id = null, $anon_distinct_id: anonymous = null, groups = null } = body;
  const isAnonymous = typeof id === "string" && anonymousId.test(id) && (anonymous ?? id) === id;
  return {
    ...(id !== null && !isAnonymous && { person: fixedText(id) }),
    ...(!isEmpty(groups) && { groups: fixedText(groups) }),
  };
}

const distinctId = (ask: Ask): JsonObject => fieldsOf(ask, ["distinct_id"]);

/** What a flags answer looks like depends on the version; whose it is, on the project. */
const flags =
  (...more: readonly ((ask: Ask) => JsonObject)[]): Tier["parts"] =>
  (ask) => ({ query: version(ask), body: Object.assign(projectOf(ask), ...more.map((part) => part(ask))) });

/** Method and path, numbers in it by what they number. */
export const pathParts = ({ method, path }: Ask): JsonObject => ({ method, path: segmentsOf(path) });

const management = (ask: Ask): JsonObject => ({
  ...pathParts(ask),
  query: parametersOf(ask.query),
  signed: ask.signed,
});

const isRead = (method: string): boolean => method === "GET" || method === "HEAD" || method === "OPTIONS";

const capture: Policy = {
  fits: ({ route }) => isCapture(route),
  tiers: [{ name: "exact", parts: () => ({}) }],
  dropsVolatile: true,
};

const evaluation: Policy = {
  fits: ({ route, method }) => route === "flags" && !isRead(method),
  tiers: [
    { name: "exact", parts: flags(identity, distinctId, (ask) => fieldsOf(ask, [...properties, ...asked])) },
    { name: "distinct_id", parts: flags(identity, distinctId) },
    { name: "properties", parts: flags(identity, (ask) => fieldsOf(ask, properties)) },
    { name: "route", parts: flags(identity) },
  ],
  approximate: [
    { name: "another_group", parts: flags(distinctId) },
    { name: "another_person", parts: flags((ask) => fieldsOf(ask, properties)) },
    { name: "another_person", parts: flags() },
  ],
  dropsVolatile: true,
};

const assets: Policy = {
  fits: ({ route }) => route === "remote-config" || route === "static",
  tiers: [{ name: "exact", parts: pathParts }],
  dropsVolatile: false,
};

const read: Policy = {
  fits: ({ method }) => isRead(method),
  tiers: [{ name: "exact", parts: management }],
  dropsVolatile: false,
};

const write: Policy = {
  fits: () => true,
  tiers: [{ name: "exact", parts: (ask) => ({ ...management(ask), body: ask.body ?? {} }) }],
  dropsVolatile: false,
};

const policies: readonly Policy[] = [capture, evaluation, assets, read];

/** How answers to this request are found: the first row that fits. */
export const policyOf = (ask: Ask): Policy => policies.find(({ fits }) => fits(ask)) ?? write;

/** Query parameters that mean nothing: cache busters, versions, how the body is packed. */
const parameters: ReadonlySet<string> = new Set(["_", "sent_at", "ver", "ip", "compression"]);

/** What has to be equal, and the ids that have to be the same ones. */
export interface Key {
  /** Hash of everything but the ids. */
  shape: string;
  ids: string[];
}

/** 128 bits: two documents that share a hash do not happen. */
export const digest = (text: string): string => hash("sha1", text, "base64").slice(0, 22);

/** What all documents of a tape have in common. */
export interface Lexicon {
  ids: RegExp;
  noise: ReadonlySet<string>;
  secrecy: SecretFields;
}

/** The rules for the requests that a policy is for. */
export const rulesOf = ({ ids, noise, secrecy }: Lexicon, { dropsVolatile }: Policy): Rules => ({
  ids,
  secrecy,
  drops: (name, path) => (dropsVolatile && isVolatileProperty(name)) || noise.has(path),
});

/** The key of a request in one tier. */
export function keyOf(ask: Ask, tier: Tier, lexicon: Lexicon): Key {
  const { text, ids } = canonical(tier.parts(ask), rulesOf(lexicon, policyOf(ask)));
  return { shape: digest(`${ask.route} ${tier.name} ${text}`), ids };
}

const eachSigned = ["yes", "no"] as const;

/** A recorded request's keys in one tier: one that needed no credentials answers those with and without. */
export function recordedKeys(ask: Ask, tier: Tier, lexicon: Lexicon): Key[] {
  const variants = ask.signed === "any" ? eachSigned.map((signed) => ({ ...ask, signed })) : [ask];
  const keys = variants.map((it) => keyOf(it, tier, lexicon));
  return keys.filter(({ shape }, at) => keys.findIndex((other) => other.shape === shape) === at);
}

/** What tapes of this header have in common; `noise`: paths that differ without meaning, over the header's. */
export function lexiconOf(
  header: Pick<TapeHeader, "redaction" | "noise" | "rules">,
  noise: readonly string[] = [],
): Lexicon {
  const isPersonal = /pii/i.test(header.redaction);
  return {
    ids: idPattern(isPersonal),
    noise: new Set([...header.noise, ...noise]),
    secrecy: createSecrecy(isPersonal, createJudge(header.rules)),
  };
}

/**
 * May a recorded id stand for another live one? UUIDs, keys and tokens may; mail addresses where they are stand-ins
 * of a privacy profile; numbers where an answer of the tape gave them to something that was made.
 */
export const freeIds =
  (created: ReadonlySet<string>) =>
  (id: string): boolean => {
    const kind = id.slice(0, 2);
    if (kind === "n:") return created.has(id);
    return kind === "e:" ? id.endsWith("@example.test") : true;
  };
