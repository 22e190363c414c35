import { z } from "zod";
import { writingJson } from "../../kernel/base/json-turns.ts";
import { onFirstUse } from "../../kernel/base/on-first-use.ts";
import { version } from "../../kernel/base/version.ts";
import { inSlices, type Work } from "../../kernel/base/work.ts";
import type { Endpoint, JsonSchema } from "../../kernel/http/endpoint.ts";
import type { Family } from "../../kernel/http/family.ts";
import { type OpenApiDocument, type OpenApiFacts, openApiOf } from "../../kernel/http/openapi.ts";
import { jsonText } from "../../kernel/http/reply.ts";
import { row } from "../../kernel/http/row.ts";
import { slice } from "../../kernel/http/slice.ts";

const text: JsonSchema = { type: "string" };
const integer: JsonSchema = { type: "integer" };
const uuid: JsonSchema = { type: "string", format: "uuid" };

const familyTags: Readonly<Partial<Record<Family, string>>> = {
  capture: "capture",
  "capture-v1": "capture",
  flags: "flags",
  control: "control",
};

const root = /^\/api\/(?:projects|environments|organizations)\/:\w+(?=\/)/;

const aliases: Readonly<Record<string, string>> = { feature_flag: "feature_flags", person: "persons" };

const sharedPages: ReadonlySet<string> = new Set(["shared", "shared_dashboard", "embedded"]);

function tagOf({ path, family }: Pick<Endpoint, "path" | "family">): string {
  const tag = familyTags[family];
  if (tag !== undefined) return tag;
  const [first = "", second = ""] = path.replace(root, "/api").split("/").slice(1);
  if (first === "api") return aliases[second] ?? second;
  return sharedPages.has(first) ? "sharing" : "sdk";
}

interface PathParameter {
  /** `collection/:name`, or `:name` for any place. */
  parameter: string;
  description: string;
  schema?: JsonSchema;
}

const pathParameters: readonly PathParameter[] = [
  { parameter: ":project_id", description: "Number of a project, or `@current`" },
  { parameter: ":organization_id", description: "UUID of an organization, or `@current`" },
  { parameter: "organizations/:id", description: "UUID of an organization, or `@current`" },
  { parameter: "projects/:id", description: "Number of a project, or `@current`" },
  { parameter: "projects/:project", description: "Number of a project", schema: integer },
  { parameter: "environments/:id", description: "Number of a project, or `@current`" },
  { parameter: "dashboards/:id", description: "Number of a dashboard", schema: integer },
  { parameter: ":dashboard_id", description: "Number of a dashboard", schema: integer },
  { parameter: ":user__uuid", description: "UUID of a user", schema: uuid },
  { parameter: "users/:uuid", description: "UUID of a user, or `@me`" },
  { parameter: "users/:id", description: "UUID of a user, or `@me`" },
  { parameter: "personal_api_keys/:id", description: "Id of a personal key, or `@current`" },
  { parameter: "keys/:id", description: "Id of a personal key, or a project's number" },
  { parameter: "batch_exports/:id", description: "UUID of a batch export", schema: uuid },
  { parameter: ":batch_export_id", description: "UUID of a batch export", schema: uuid },
  { parameter: ":run_id", description: "UUID of a run", schema: uuid },
  { parameter: ":backfill_id", description: "UUID of a backfill", schema: uuid },
  { parameter: "dashboard_templates/:id", description: "UUID of a template", schema: uuid },
  { parameter: "feature_flags/:id", description: "Number of a feature flag", schema: integer },
  { parameter: "feature_flags/:key", description: "Key or number of a feature flag" },
  { parameter: "runs/:id", description: "UUID of a run", schema: uuid },
  { parameter: "files/:batch_export", description: "Id of a batch export" },
  { parameter: "files/:run", description: "UUID of a run", schema: uuid },
  { parameter: "files/:name", description: "Name of a file, percent-encoded as a whole" },
  { parameter: "faults/:id", description: "Id or name of a fault" },
  { parameter: "flags/:key", description: "Key of a feature flag" },
  { parameter: "cohorts/:id", description: "Number of a cohort", schema: integer },
  { parameter: "insights/:id", description: "Number or short id of an insight" },
  { parameter: "persons/:id", description: "UUID or distinct id of a person" },
  { parameter: "sessions/:id", description: "Id of a session (`$session_id`)" },
  { parameter: ":session", description: "Id of a session (`$session_id`)" },
  { parameter: "groups/:type", description: "Name of a group type, or its index" },
  { parameter: "groups/:key", description: "Key of a group, percent-encoded as a whole" },
  { parameter: "person/:id", description: "UUID or distinct id of a person" },
  { parameter: "events/:id", description: "UUID of an event" },
  { parameter: "events/:seq", description: "Number of an event", schema: integer },
  { parameter: "exchanges/:i", description: "Number of an exchange on the tape", schema: integer },
  { parameter: "requests/:n", description: "Number of a request", schema: integer },
  { parameter: ":token", description: "Key of a project, or token of a shared page" },
  { parameter: ":ticket_id", description: "Id of a ticket" },
  { parameter: "emails/:id", description: "Id of an email", schema: uuid },
  { parameter: "snapshots/:name", description: "Name of a snapshot" },
  { parameter: "name/:name", description: "Name of a prompt" },
  { parameter: "static/:name", description: "File name of a script" },
  { parameter: "static/:version", description: "Version of posthog-js" },
  { parameter: ":part", description: "File name of a part of the page" },
  { parameter: ":group_type_index", description: "Index of a group type", schema: integer },
  { parameter: ":role_id", description: "UUID of a role", schema: uuid },
  { parameter: "query/:id", description: "Id of a query in the background" },
  { parameter: "site_app/:id", description: "Id of a site app" },
  { parameter: "site_app/:hash", description: "Hash of the site app" },
];

const idIn = (collection: string): PathParameter => ({
  parameter: `${collection}/:id`,
  description: `Id among the ${collection.replaceAll("_", " ")}`,
});

const known = new Map(pathParameters.map((it) => [it.parameter, it]));

const parameterOf: OpenApiFacts["parameterOf"] = (name, collection) => {
  const found =
    known.get(`${collection}/:${name}`) ?? known.get(`:${name}`) ?? (name === "id" ? idIn(collection) : undefined);
  return { description: found?.description ?? "", schema: found?.schema ?? text };
};

const documentOf = (endpoints: readonly Endpoint[]): Work<OpenApiDocument> =>
  openApiOf(endpoints, {
    title: "phx-sim",
    description:
      "The PostHog API as phx-sim emulates it, and the control API of phx-sim below /__sim. Every path is served with and without a trailing slash.",
    version,
    url: "/",
    tagOf,
    parameterOf,
  });

const Document = z.looseObject({ openapi: z.string(), info: z.looseObject({}), paths: z.looseObject({}) });

interface EndpointPorts {
  endpoints(): Promise<readonly Endpoint[]>;
}

/** The endpoint of the OpenAPI document, which is made from all rows on first use. */
export const openApiSlice = slice(["endpoints"], ({ endpoints }: EndpointPorts) => {
  const made = onFirstUse(async () => {
    const { paths, components, tags, ...head } = await inSlices(documentOf(await endpoints()));
    return { head, rest: await inSlices(writingJson({ tags, paths, components })) };
  });
  return [
    row({
      method: "GET",
      path: "/__sim/openapi.json",
      access: "control",
      summary: "Describes this API as an OpenAPI 3.1 document",
      replies: { 200: { description: "The document", shape: Document } },
      async handle({ call }) {
        const { head, rest } = await made();
        // all but the server's address is the same for each client
        const start = JSON.stringify({ ...head, servers: [{ url: call.origin }] }).slice(0, -1);
        return { ...jsonText(""), body: Buffer.concat([Buffer.from(`${start},`), rest.subarray(1)]) };
      },
    }),
  ];
});
