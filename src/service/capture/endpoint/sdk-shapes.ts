import { z } from "zod";
import type { EndpointDocs } from "../../../kernel/http/endpoint.ts";
import { jsonSchemaOf } from "../../../kernel/http/row.ts";
import { acceptedCalls } from "../sdk/accepted-calls.ts";
import {
  AnyJson,
  AnyObject,
  answers,
  etagHeader,
  jsonBody,
  parametersOf,
  script,
  serviceErrors,
  token,
  unchanged,
} from "./docs-shapes.ts";

// Wire formats of the SDKs' endpoints apart from events and flags, for the OpenAPI document only.

const tokenQuery = parametersOf({ token });

/** Settings of a project may replace any value. */
const RemoteConfig = z
  .looseObject({ token: AnyJson, hasFeatureFlags: AnyJson, surveys: AnyJson })
  .meta({ title: "RemoteConfig" });

const inArray = (reply: EndpointDocs["replies"]): EndpointDocs => ({ replies: { ...reply, ...serviceErrors(404) } });

const staticScript: EndpointDocs = {
  query: parametersOf({ v: z.string().describe("Version of the SDK that sends the request") }),
  headers: parametersOf(etagHeader),
  replies: {
    200: {
      description: "The script, or its source map",
      schema: jsonSchemaOf(AnyObject, "output"),
      type: "application/javascript",
    },
    ...unchanged,
    ...serviceErrors(404),
  },
};

const publicList = (shape: z.ZodRawShape, query: Readonly<Record<string, z.ZodType>> = {}): EndpointDocs => ({
  query: parametersOf({ token, ...query }),
  replies: { ...answers("The project's documents, unchanged", z.strictObject(shape)), ...serviceErrors(401) },
});

const Documents = z.array(AnyObject);

const telemetry: EndpointDocs = {
  query: tokenQuery,
  body: jsonBody(AnyObject, true),
  replies: {
    200: {
      description: "Accepted; in the media type of the request",
      schema: jsonSchemaOf(z.strictObject({}), "output"),
      type: "application/x-protobuf",
    },
    ...serviceErrors(400, 401, 408, 413),
  },
};

const Prompt = z
  .strictObject({ name: z.string(), prompt: AnyJson, version: z.int(), label: z.string().optional() })
  .meta({ title: "Prompt" });

const PromptPage = z
  .strictObject({ count: z.int(), next: z.null(), previous: z.null(), results: z.array(Prompt) })
  .meta({ title: "PromptPage" });

const privateErrors = serviceErrors(401, 403, 404);

const prompts: EndpointDocs = {
  query: tokenQuery,
  replies: { ...answers("The newest version of each", PromptPage), ...privateErrors },
};

const namedPrompt: EndpointDocs = {
  query: parametersOf({
    token,
    version: z.int().describe("This version instead of the newest"),
    label: z.string().describe("The version with this label"),
  }),
  replies: { ...answers("The prompt", Prompt), ...privateErrors },
};

const acceptedDocs = Object.fromEntries(
  acceptedCalls.map(([methods, path, , , { scope, hasProjectKey, required = [] } = {}]): [string, EndpointDocs] => {
    const [method = ""] = methods.split(" ");
    const fields = z.looseObject(Object.fromEntries(required.map((name) => [name, z.string()])));
    const errors = [...(scope === undefined ? [] : [401, 403, 404]), ...(hasProjectKey ? [401] : [])];
    const replies = answers("Accepted; nothing is delivered", AnyObject);
    const docs: EndpointDocs =
      method === "GET"
        ? { replies: { ...replies, ...serviceErrors(...errors) } }
        : {
            body: jsonBody(fields, required.length === 0),
            replies: { ...replies, ...serviceErrors(400, ...errors, 408, 413) },
          };
    return [`${method} ${path}`, docs];
  }),
);

const promptDocs = Object.fromEntries(
  ["/api/environments/:project_id", "/api/projects/:project_id"].flatMap((root) => [
    [`GET ${root}/llm_prompts`, prompts],
    [`GET ${root}/llm_prompts/name/:name`, namedPrompt],
  ]),
);

const siteApp: EndpointDocs = { replies: script("A script without effect") };

/** The SDKs' endpoints in the OpenAPI document, by the first method and the path. */
export const sdkDocs: Readonly<Record<string, EndpointDocs>> = {
  "GET /array/:token/config": inArray(answers("The settings", RemoteConfig)),
  "GET /array/:token/config.js": inArray(script("The settings as a script")),
  "GET /array/:token/array.js": inArray(script("The settings and the SDK in one script")),
  "GET /static/:name": staticScript,
  "GET /static/:version/:name": staticScript,
  "GET /api/surveys": publicList({ surveys: Documents, survey_config: AnyJson }),
  "GET /api/early_access_features": publicList(
    { earlyAccessFeatures: Documents },
    { stage: z.string().describe("Only those of this stage, may be repeated; default: `beta`") },
  ),
  "GET /api/product_tours": publicList({ product_tours: Documents }),
  "GET /api/web_experiments": publicList({ experiments: Documents }),
  "POST /i/v1/logs": telemetry,
  "POST /i/v1/metrics": telemetry,
  "POST /i/v1/traces": telemetry,
  ...promptDocs,
  ...acceptedDocs,
  "GET /site_app/:id": siteApp,
  "GET /site_app/:id/:token": siteApp,
  "GET /site_app/:id/:token/:hash": siteApp,
};
