import { isObject } from "../base/json.ts";
import type { Work } from "../base/work.ts";
import type { Endpoint, EndpointDocs, JsonSchema, QueryParameter, ReplyDocs } from "./endpoint.ts";
import { type Components, createComponents } from "./openapi-components.ts";

export interface OpenApiFacts {
  readonly title: string;
  readonly description: string;
  readonly version: string;
  /** Address of the server, without a trailing slash. */
  readonly url: string;
  tagOf(endpoint: Pick<Endpoint, "path" | "family">): string;
  parameterOf(name: string, collection: string): Omit<QueryParameter, "name">;
}

type Part = { readonly [key: string]: unknown };

export interface OpenApiDocument extends Part {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Part>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, JsonSchema>>; readonly [key: string]: Part };
}

/** What a method does, in the words of the service's own document. Upstream drf-spectacular. */
const verbs: Readonly<Record<string, string>> = {
  GET: "retrieve",
  POST: "create",
  PUT: "update",
  PATCH: "partial_update",
  DELETE: "destroy",
};

const isParameter = (segment: string): boolean => segment.startsWith(":");

const segmentsOf = (path: string): string[] => path.split("/").filter((it) => it !== "");

const template = (path: string): string => path.replace(/:(\w+)/g, "{$1}");

function isList(schema: JsonSchema | undefined): boolean {
  const properties = isObject(schema?.properties) ? schema.properties : {};
  return schema?.type === "array" || isObject(properties.results);
}

/** Paths that hold a parameter only: what stands before it is a collection. */
const collectionsOf = (endpoints: readonly Endpoint[]): ReadonlySet<string> =>
  new Set(
    endpoints.flatMap(({ path }) => {
      const [last = "", ...before] = segmentsOf(path).reverse();
      return isParameter(last) ? [`/${before.reverse().join("/")}`] : [];
    }),
  );

/** `projects_dashboards_partial_update`: the fixed words of the path, then what the method does. */
function operationName({ path }: Endpoint, method: string, isListed: boolean): string {
  const words = segmentsOf(path)
    .filter((it) => it !== "api" && !isParameter(it))
    .map((it) => it.replace(/^_+/, "").replaceAll(/\W+/g, "_"));
  const verb = method === "GET" && isListed ? "list" : verbs[method];
  return [...(words.length > 0 ? words : ["root"]), verb].join("_");
}

function pathParameters(path: string, facts: OpenApiFacts): Part[] {
  const segments = segmentsOf(path);
  return segments.flatMap((it, i) => {
    if (!isParameter(it)) return [];
    const name = it.slice(1);
    const collection = segments.slice(0, i).findLast((before) => !isParameter(before)) ?? "";
    return [{ name, in: "path", required: true, ...facts.parameterOf(name, collection) }];
  });
}

const optionalParameters = (place: "query" | "header", parameters: readonly QueryParameter[] = []): Part[] =>
  parameters.map(({ name, description, schema }) => ({ name, in: place, description, schema }));

const textSchema: JsonSchema = { type: "string" };

function replyOf({ description, schema, type }: ReplyDocs, { place }: Components): Part {
  const content = {
    ...(schema && { "application/json": { schema: place(schema) } }),
    ...(type !== undefined && { [type]: { schema: textSchema } }),
  };
  return { description, ...(Object.keys(content).length > 0 && { content }) };
}

function bodyOf({ body }: EndpointDocs, method: string, { place }: Components): Part | undefined {
  if (!body || method === "GET") return undefined;
  return { required: body.isOptional !== true, content: { [body.type]: { schema: place(body.schema) } } };
}

function securityOf({ family, scope }: Endpoint, { bearer }: EndpointDocs): Part[] {
  const scopes = scope === undefined ? [] : [scope];
  if (bearer === "project" || family === "capture-v1") return [{ project_key: [] }];
  if (family === "control") return [{}, { control_token: [] }];
  if (family === "management") return [{ personal_api_key: scopes }];
  return scope === undefined ? [] : [{ personal_api_key: scopes }, { project_secret_key: [] }];
}

const bearerScheme = (description: string): Part => ({ type: "http", scheme: "bearer", description });

const securitySchemes: Part = {
  personal_api_key: bearerScheme("A personal key, `phx_…`; the scopes that it needs are named where it is used"),
  project_secret_key: bearerScheme("A project's secret key, `phs_…`"),
  project_key: bearerScheme("A project's public key, `phc_…`"),
  control_token: bearerScheme("Needed once the port is bound wider than loopback; the banner shows it"),
};

const noDocs = (summary: string): EndpointDocs => ({ replies: { 200: { description: summary } } });

interface Making {
  readonly components: Components;
  readonly collections: ReadonlySet<string>;
  readonly facts: OpenApiFacts;
}

function operationOf(endpoint: Endpoint, method: string, making: Making): Part {
  const { components, collections, facts } = making;
  const docs = endpoint.docs?.() ?? noDocs(endpoint.summary);
  const parameters = [
    ...pathParameters(endpoint.path, facts),
    ...optionalParameters("query", docs.query),
    ...optionalParameters("header", docs.headers),
  ];
  const requestBody = bodyOf(docs, method, components);
  const isFixed = !isParameter(segmentsOf(endpoint.path).at(-1) ?? "");
  const isListed = isList(docs.replies[200]?.schema) || (isFixed && collections.has(endpoint.path));
  return {
    operationId: operationName(endpoint, method, isListed),
    summary: endpoint.summary,
    tags: [facts.tagOf(endpoint)],
    security: securityOf(endpoint, docs),
    ...(parameters.length > 0 && { parameters }),
    ...(requestBody && { requestBody }),
    responses: Object.fromEntries(
      Object.entries(docs.replies).map(([status, reply]) => [status, replyOf(reply, components)]),
    ),
  };
}

/** The second operation of a name gets a `_2`, as the service's document has it. */
function unique(operation: Part, taken: Set<unknown>): Part {
  let id = operation.operationId;
  for (let i = 2; taken.has(id); i++) id = `${String(operation.operationId)}_${i}`;
  taken.add(id);
  return { ...operation, operationId: id };
}

/** The OpenAPI 3.1 document of the rows, in order, without HEAD and OPTIONS. Schemas with a title become components. */
export function* openApiOf(endpoints: readonly Endpoint[], facts: OpenApiFacts): Work<OpenApiDocument> {
  const components = createComponents();
  const making = { components, collections: collectionsOf(endpoints), facts };
  const taken = new Set<unknown>();
  const paths = new Map<string, Record<string, Part>>();
  for (const endpoint of endpoints) {
    const item = paths.get(template(endpoint.path)) ?? {};
    paths.set(template(endpoint.path), item);
    for (const method of endpoint.methods.filter((it) => Object.hasOwn(verbs, it))) {
      item[method.toLowerCase()] = unique(operationOf(endpoint, method, making), taken);
      yield;
    }
  }
  const tags = [...new Set(endpoints.map(facts.tagOf))].map((name) => ({ name }));
  const { title, description, version, url } = facts;
  return {
    openapi: "3.1.1",
    info: { title, description, version },
    servers: [{ url }],
    tags,
    paths: Object.fromEntries(paths),
    components: { schemas: Object.fromEntries(components.schemas), securitySchemes },
  };
}
