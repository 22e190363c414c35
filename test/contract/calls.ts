import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { personUuid } from "../../src/state/persons/person.ts";
import { fc } from "../support/chance.ts";
import { arbitraryOf, type Components, nearlyFitting, wrongValues } from "./arbitrary.ts";
import type { Operation, Parameter } from "./document.ts";
import { exampleFor } from "./examples.ts";
import { ids, keys } from "./two-organizations.ts";

/** A call of an operation, as a client might make it who read the document, or half of it. */
export interface GeneratedCall {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

/** The page's parts have names that the build makes; where it is not built, there are none to ask for. */
const pageFolder = join(import.meta.dirname, "../../dist/inspector/app");
const pageParts = existsSync(pageFolder) ? readdirSync(pageFolder) : ["none.js"];

/** What is there, by the word before the parameter. */
const there: Readonly<Record<string, readonly string[]>> = {
  projects: [String(ids.project), "@current", String(ids.otherProject)],
  environments: [String(ids.project), "@current"],
  organizations: [ids.acme, "@current"],
  dashboards: [String(ids.dashboard), String(ids.restrictedDashboard)],
  collaborators: [ids.collaborator, ids.member],
  dashboard_templates: [ids.template],
  batch_exports: [ids.batchExport],
  runs: [ids.run],
  backfills: [ids.backfill],
  feature_flags: [String(ids.flag), "remote", "beta"],
  flags: ["remote", "beta"],
  cohorts: [String(ids.cohort)],
  insights: [String(ids.insight), ids.shortId],
  actions: [String(ids.action)],
  annotations: [String(ids.annotation)],
  surveys: [ids.survey],
  experiments: [String(ids.experiment)],
  early_access_feature: [ids.feature],
  alerts: [ids.alert],
  hog_functions: [ids.hogFunction],
  subscriptions: [String(ids.subscription)],
  notebooks: [ids.notebook],
  insight_variables: [ids.variable],
  event_definitions: [ids.eventDefinition],
  property_definitions: [ids.propertyDefinition],
  schema_property_groups: [ids.propertyGroup],
  event_schemas: [ids.eventSchema],
  groups_types: ["0"],
  roles: [ids.role],
  invites: [ids.invite],
  users: ["@me", ids.owner],
  members: [ids.member, ids.owner],
  personal_api_keys: ["@current", "key-all"],
  persons: [personUuid(ids.project, "user-1"), "user-1"],
  person: [personUuid(ids.project, "user-1")],
  events: ["1", ids.event],
  requests: ["1"],
  groups: ["company", "acme"],
  app: pageParts,
  name: ["greeting"],
  array: [ids.projectKey],
  static: ["array.js", "nothing.js"],
  shared: [ids.sharingToken],
  embedded: [ids.sharingToken],
  shared_dashboard: [ids.sharingToken],
};

/** A lone surrogate cannot be sent: it becomes U+FFFD. */
const wellFormed = (text: string): string => Buffer.from(text).toString("utf8");

/** A segment that a URL would change, or that would make another path. */
const isSegment = (text: string): boolean => text !== "" && text !== "." && text !== ".." && wellFormed(text) === text;

const nonsense = fc.oneof(
  fc.constantFrom(
    "0",
    "-1",
    "99999999999999999999",
    "1.5",
    "null",
    "__proto__",
    "constructor",
    "toString",
    "%00",
    "a b",
    "a/b",
  ),
  fc.string({ unit: "binary", maxLength: 40 }).filter(isSegment),
  fc.uuid(),
);

function segmentFor(path: string, { name, schema }: Parameter, components: Components): fc.Arbitrary<string> {
  const before = path.slice(0, path.indexOf(`{${name}}`)).split("/");
  const collection = before.findLast((it) => it !== "" && !it.startsWith("{")) ?? "";
  const known = there[collection] ?? Object.values(ids).map(String);
  const documented = arbitraryOf(schema, components)
    .map(String)
    .filter((it) => isSegment(it) && it.length < 200);
  return fc.oneof(
    { weight: 7, arbitrary: fc.constantFrom(...known) },
    { weight: 1, arbitrary: documented },
    { weight: 2, arbitrary: nonsense },
  );
}

const asText = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value)) ?? "";

const anEvent = JSON.stringify({ api_key: ids.projectKey, event: "sent", distinct_id: "user-3" });

/** What only few values of a parameter's or header's type are good for. */
const wanted: Readonly<Record<string, readonly string[]>> = {
  token: [ids.projectKey, ids.projectKey, ids.projectKey, "phc_nobody", ""],
  "X-Phx-Project": [String(ids.project), ids.projectKey, ids.projectKey, "phc_nobody"],
  // Calls that wait would wait as long as they are reported.
  wait_ms: ["0", "1", "", "-1", "soon"],
  data: [anEvent, Buffer.from(anEvent).toString("base64"), "{"],
};

const queryValue = ({ schema, name }: Parameter, components: Components): fc.Arbitrary<string> =>
  wanted[name]
    ? fc.constantFrom(...wanted[name])
    : fc.oneof(
        { weight: 3, arbitrary: arbitraryOf(schema, components).map(asText) },
        { weight: 1, arbitrary: fc.oneof(nonsense, fc.constantFrom("", " ", "x".repeat(2_000))) },
      );

/** Header values are printable ASCII on the wire. */
const headerText = (value: unknown): string =>
  asText(value)
    .replace(/[^\x20-\x7e]/g, "?")
    .trim();

const headerValue = ({ schema, name }: Parameter, components: Components): fc.Arbitrary<string> =>
  wanted[name]
    ? fc.constantFrom(...wanted[name])
    : fc.oneof(
        { weight: 9, arbitrary: arbitraryOf(schema, components).map(headerText) },
        { weight: 1, arbitrary: nonsense.map(headerText) },
      );

/** Capture v1 takes nothing without its headers. */
const isNeeded = (path: string, { name }: Parameter): boolean =>
  path.startsWith("/i/v1/") && wanted[name] === undefined;

const some = <T>(entries: readonly [string, fc.Arbitrary<T>][], required: readonly string[] = []) =>
  fc.record(Object.fromEntries(entries), { requiredKeys: [...required] });

/** The key that opens the operation, in most of the calls. */
function bearer({ security }: Operation): fc.Arbitrary<string | undefined> {
  const isProjectKey = security.some((it) => Object.hasOwn(it, "project_key"));
  const right: string = isProjectKey ? ids.projectKey : keys.all;
  return fc.oneof(
    { weight: 12, arbitrary: fc.constant(right) },
    {
      weight: 4,
      arbitrary: fc.constantFrom<string | undefined>(...Object.values(keys), "phs_contract", "phx_nobody", undefined),
    },
  );
}

/** Calls that wait would wait as long as they are reported. */
const patience: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  "/__sim/events/wait": { timeout_ms: 1 },
  "/__sim/events/verify": { timeout_ms: 1, settle_ms: 1 },
  "/__sim/settle": { idle_ms: 0, timeout_ms: 50 },
};

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Most bodies that name a project's key name one that is there. */
function finished(operation: Operation, body: unknown, isKnownKey: boolean): unknown {
  if (Array.isArray(body)) return body.map((it) => finished(operation, it, isKnownKey));
  if (!isRecord(body)) return body;
  const entries = [...Object.entries(body), ...Object.entries(patience[operation.path] ?? {})];
  if (isKnownKey && typeof body.api_key === "string") entries.push(["api_key", ids.projectKey]);
  return Object.fromEntries(entries);
}

/** The example, or the example with one key gone or changed. */
function variations(example: object): fc.Arbitrary<object> {
  const entries = Object.entries(example);
  const changed = fc.tuple(fc.nat(entries.length - 1), wrongValues).map(([at, value]) => {
    const before = entries.slice(0, at);
    const after = entries.slice(at + 1);
    const name = entries[at]?.[0] ?? "";
    return Object.fromEntries(value === undefined ? [...before, ...after] : [...before, [name, value], ...after]);
  });
  return fc.oneof({ weight: 2, arbitrary: fc.constant(example) }, { weight: 1, arbitrary: changed });
}

const broken = fc.constantFrom<string>("{", "[1,", "nonsense", '{"a": NaN}', "null", "[]", "7", '""', "[".repeat(300));

function bodies(operation: Operation, components: Components): fc.Arbitrary<string | undefined> {
  const { requestBody, path, method } = operation;
  if (!requestBody) return fc.constant(undefined);
  const [schema = {}] = Object.values(requestBody.content).map((it) => it.schema);
  const example = exampleFor(method, path.replace(/\{(\w+)\}/g, ":$1"));
  const value = fc.oneof(
    { weight: 3, arbitrary: arbitraryOf(schema, components) },
    { weight: 2, arbitrary: nearlyFitting(schema, components) },
    ...(example ? [{ weight: 3, arbitrary: variations(example) }] : []),
  );
  const json = fc
    .tuple(value, fc.boolean(), fc.boolean())
    .map(([body, ...known]) => JSON.stringify(finished(operation, body, known.includes(true))));
  const none = patience[path] === undefined ? undefined : JSON.stringify(patience[path]);
  return fc.oneof(
    { weight: 18, arbitrary: json },
    { weight: 1, arbitrary: broken },
    { weight: 1, arbitrary: fc.constant(none) },
  );
}

function target(path: string, segments: Record<string, string>, query: Record<string, string>, slash: boolean): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(segments[name] ?? ""));
  const pairs = Object.entries(query).map(([name, value]): [string, string] => [name, wellFormed(value)]);
  const search = new URLSearchParams(pairs).toString();
  return `${filled}${slash && !filled.endsWith("/") ? "/" : ""}${search === "" ? "" : `?${search}`}`;
}

const typeOf = ({ requestBody }: Operation): string | undefined => Object.keys(requestBody?.content ?? {})[0];

/** Calls of an operation: the right and the wrong ids, keys, parameters and bodies. */
export function callsOf(operation: Operation, components: Components): fc.Arbitrary<GeneratedCall> {
  const { path, parameters } = operation;
  const inPlace = (place: Parameter["in"]) => parameters.filter((it) => it.in === place);
  const pathNames = inPlace("path").map((it) => it.name);
  const headerNames = inPlace("header").flatMap((it) => (isNeeded(path, it) ? [it.name] : []));
  return fc
    .record({
      segments: some(
        inPlace("path").map((it) => [it.name, segmentFor(path, it, components)]),
        pathNames,
      ),
      query: fc.oneof(fc.constant({}), some(inPlace("query").map((it) => [it.name, queryValue(it, components)]))),
      named: some(
        inPlace("header").map((it) => [it.name, headerValue(it, components)]),
        headerNames,
      ),
      key: bearer(operation),
      body: bodies(operation, components),
      slash: fc.boolean(),
    })
    .map(({ segments, query, named, key, body, slash }) => ({
      path: target(path, segments, query, slash),
      body,
      headers: {
        "user-agent": "generated-client/1",
        ...named,
        ...(key !== undefined && { authorization: `Bearer ${key}` }),
        ...(body !== undefined && { "content-type": typeOf(operation) ?? "application/json" }),
      },
    }));
}
