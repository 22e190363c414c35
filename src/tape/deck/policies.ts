import { isObject, type Json, type JsonObject, own } from "../../kernel/json.ts";
import { captureRoutes } from "../routes.ts";
import type { Ask } from "./ask.ts";
import { nounOf } from "./canonical.ts";
import { isVolatileParameter } from "./volatile.ts";

/** One way to find an answer: what of a request counts. */
export interface Tier {
  /** `exact`, or why the answer fits although not all is equal. */
  name: string;
  parts(ask: Ask): JsonObject;
}

export interface Policy {
  fits(ask: Ask): boolean;
  /** Best first. */
  tiers: readonly Tier[];
  /** Do fields that SDKs fill anew in each run mean nothing here? */
  dropsVolatile: boolean;
}

/** Is the answer of this route a mere receipt? The emulator gives it; its events are what is compared. */
export const isCapture = (route: string): boolean => captureRoutes.includes(route);

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
    if (!isVolatileParameter(name)) byName.set(name, [...(byName.get(name) ?? []), value]);
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
    { name: "exact", parts: flags(distinctId, (ask) => fieldsOf(ask, [...properties, ...asked])) },
    { name: "distinct_id", parts: flags(distinctId) },
    { name: "properties", parts: flags((ask) => fieldsOf(ask, properties)) },
    { name: "route", parts: flags() },
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
