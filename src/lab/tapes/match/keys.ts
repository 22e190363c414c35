import { hash } from "node:crypto";
import { isObject, type Json, type JsonObject, own } from "../../../kernel/base/json.ts";
import { isUuid } from "../../../kernel/base/text.ts";
import { isVolatileProperty } from "../../../state/journal/sdk-properties.ts";
import type { TapeHeader } from "../format/header.ts";
import { isCapture } from "../format/routes.ts";
import { createSecretRules } from "../redact/rules.ts";
import { canonical, createSecrecy, idPattern, nounOf, type Rules, type SecretFields } from "./canonical.ts";
import type { Ask } from "./requests.ts";

/** One way to find an answer: what of a request counts. */
export interface Tier {
  /** `exact`, or why the answer fits although not all is equal. */
  name: string;
  parts(ask: Ask): JsonObject;
  /** Recorded requests that answer in this way. Default: all. */
  from?(recorded: Ask): boolean;
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

/** PHP sends `[]` for an empty map. */
const isEmpty = (value: Json): boolean =>
  value === null || (typeof value === "object" && Object.keys(value).length === 0);

/** Other names of the fields of a flags request; the service reads them all. */
const otherNames: Readonly<Record<string, readonly string[]>> = {
  token: ["api_key", "$token"],
  distinct_id: ["$distinct_id"],
  $anon_distinct_id: ["anon_distinct_id"],
  $device_id: ["device_id"],
  groups: ["$groups"],
  person_properties: ["$properties"],
  group_properties: ["$group_properties"],
  flag_keys_to_evaluate: ["flag_keys"],
  evaluation_contexts: ["evaluation_environments"],
};

const fieldOf = (body: JsonObject, name: string): Json | undefined =>
  [name, ...(otherNames[name] ?? [])].map((it) => own(body, it)).find((it) => it !== undefined);

/** Fields of a body; an empty object and an absent one are the same to the flags endpoint. */
function fieldsOf({ body }: Ask, names: readonly string[]): JsonObject {
  if (!isObject(body)) return {};
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = fieldOf(body, name);
      return value === undefined || isEmpty(value) ? [] : [[name, value] as const];
    }),
  );
}

const version = (ask: Ask): JsonObject => {
  const { v = "1", config = "" } = parametersOf(ask.query);
  return { v, config };
};

const properties = ["person_properties", "group_properties"];

const askedKeys = (ask: Ask): JsonObject => fieldsOf(ask, ["flag_keys_to_evaluate"]);

const scope = (ask: Ask): JsonObject => fieldsOf(ask, ["only_evaluate_survey_feature_flags", "evaluation_contexts"]);

/** Which flags are asked for: an answer has no others. */
const asked = (ask: Ask): JsonObject => ({ ...askedKeys(ask), ...scope(ask) });

const projectOf = (ask: Ask): JsonObject => fieldsOf(ask, ["token"]);

/** The ids that SDKs make for a visitor who is not identified, of version 7; these differ from run to run. */
const anonymousId = /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[\da-f]{4}-[\da-f]{12}$/i;

const isAnonymousId = (value: Json): boolean => typeof value === "string" && anonymousId.test(value);

/** Like an id that is not made anew in each run: equal values only are the same. */
const fixedText = (value: Json): string => digest(JSON.stringify(value));

const mapValues = (object: JsonObject, of: (value: Json) => Json): JsonObject =>
  Object.fromEntries(Object.entries(object).map(([name, value]) => [name, of(value)]));

/** The app's own UUIDs, such as the id of a tenant, are values as any others. */
function withFixedIds(value: Json): Json {
  if (typeof value === "string") return isUuid(value) && !isAnonymousId(value) ? fixedText(value) : value;
  if (Array.isArray(value)) return value.map(withFixedIds);
  return isObject(value) ? mapValues(value, withFixedIds) : value;
}

/** The properties that the app sets; an SDK's own (`$os`) differ from machine to machine. */
const ownProperties = (value: Json): JsonObject =>
  isObject(value)
    ? Object.fromEntries(
        Object.entries(value).flatMap(([name, it]) => (name.startsWith("$") ? [] : [[name, withFixedIds(it)]])),
      )
    : {};

const allProperties = (ask: Ask): JsonObject => mapValues(fieldsOf(ask, properties), withFixedIds);

function facts(ask: Ask): JsonObject {
  const { person_properties: person = {}, group_properties: groups = {} } = fieldsOf(ask, properties);
  const ofGroups = isObject(groups) ? Object.entries(mapValues(groups, ownProperties)) : [];
  return {
    person_properties: ownProperties(person),
    group_properties: Object.fromEntries(ofGroups.filter(([, it]) => !isEmpty(it))),
  };
}

/** An identified person, a device and groups must be the recorded ones. SDKs name the anonymous id as well. */
function subject(ask: Ask): JsonObject {
  const names = ["distinct_id", "$anon_distinct_id", "groups", "person_properties"];
  const {
    distinct_id: id = null,
    $anon_distinct_id: anonymous = id,
    groups,
    person_properties: person,
  } = fieldsOf(ask, names);
  const { $device_id: device = (isObject(person) && own(person, "$device_id")) || null } = fieldsOf(ask, [
    "$device_id",
  ]);
  const isAnonymous = isAnonymousId(id) && anonymous === id;
  return {
    ...(id !== null && !isAnonymous && { person: fixedText(id) }),
    ...(device !== null && !isAnonymousId(device) && { device: fixedText(device) }),
    ...(groups !== undefined && { groups: fixedText(groups) }),
  };
}

/** Everything that decides an answer, but for what SDKs make anew. */
const identity = (ask: Ask): JsonObject => ({ ...subject(ask), ...facts(ask), ...asked(ask) });

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
    { name: "exact", parts: flags(identity, distinctId, allProperties) },
    { name: "distinct_id", parts: flags(identity, distinctId) },
    { name: "properties", parts: flags(identity, allProperties) },
    { name: "route", parts: flags(identity) },
    { name: "all_flags", parts: flags(subject, facts, scope), from: (it) => isEmpty(askedKeys(it)) },
  ],
  approximate: [
    { name: "other_properties", parts: flags(subject, asked, distinctId) },
    { name: "another_group", parts: flags(distinctId, asked) },
    { name: "another_person", parts: flags(facts, asked) },
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

/** A request in which the ids that no other ones stand for are texts; for a comparison without keys. */
export function withOwnIds(ask: Ask): Ask {
  if (policyOf(ask) !== evaluation || !isObject(ask.body)) return ask;
  const { groups } = fieldsOf(ask, ["groups"]);
  const { person, device } = subject(ask);
  const own = {
    ...(person !== undefined && isUuid(fieldsOf(ask, ["distinct_id"]).distinct_id) && { distinct_id: person }),
    ...(device !== undefined && { device }),
    ...(isObject(groups) && { groups: mapValues(groups, (it) => (isUuid(it) ? fixedText(it) : it)) }),
  };
  return { ...ask, body: { ...mapValues(ask.body, withFixedIds), ...own } };
}

/** How answers to this request are found: the first row that fits. */
export const policyOf = (ask: Ask): Policy => policies.find(({ fits }) => fits(ask)) ?? write;

/** Query parameters that mean nothing: cache busters, versions, how the body is packed. */
const parameters: ReadonlySet<string> = new Set(["_", "sent_at", "ver", "ip", "compression"]);

export interface Key {
  shape: string;
  ids: string[];
}

/** 128 bits: two documents that share a hash do not happen. */
export const digest = (text: string): string => hash("sha1", text, "base64").slice(0, 22);

export interface Lexicon {
  ids: RegExp;
  noise: ReadonlySet<string>;
  secrecy: SecretFields;
}

export const rulesOf = ({ ids, noise, secrecy }: Lexicon, { dropsVolatile }: Policy): Rules => ({
  ids,
  secrecy,
  drops: (name, path) => (dropsVolatile && isVolatileProperty(name)) || noise.has(path),
});

export function keyOf(ask: Ask, tier: Tier, lexicon: Lexicon): Key {
  const { text, ids } = canonical(tier.parts(ask), rulesOf(lexicon, policyOf(ask)));
  return { shape: digest(`${ask.route} ${tier.name} ${text}`), ids };
}

const eachSigned = ["yes", "no"] as const;

/** A recorded request's keys in one tier: one that needed no credentials answers those with and without. */
export function recordedKeys(ask: Ask, tier: Tier, lexicon: Lexicon): Key[] {
  if (tier.from?.(ask) === false) return [];
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
    secrecy: createSecrecy(isPersonal, createSecretRules(header.rules)),
  };
}

/**
 * May a recorded id stand for another live one? UUIDs, keys and tokens may; mail addresses where they are stand-ins of
 * a privacy profile; numbers where an answer of the tape gave them to something new.
 */
export const freeIds =
  (created: ReadonlySet<string>) =>
  (id: string): boolean => {
    const kind = id.slice(0, 2);
    if (kind === "n:") return created.has(id);
    return kind === "e:" ? id.endsWith("@example.test") : true;
  };
