import { z } from "zod";
import type { EndpointDocs } from "../../../kernel/http/endpoint.ts";
import { jsonSchemaOf } from "../../../kernel/http/row.ts";
import {
  AnyJson,
  AnyObject,
  answers,
  etagHeader,
  jsonBody,
  parametersOf,
  script,
  serviceErrors,
  Time,
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
const privateBodyErrors = serviceErrors(400, 401, 403, 404, 408, 413);

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

const Subscription = z.looseObject({
  distinct_id: z.string(),
  device_token: z.string(),
  api_key: z.string().optional().describe("The project key; `token`, also in the query, is read as well"),
});

const Subscribed = z.strictObject({ status: z.literal("ok") }).meta({ title: "Subscribed" });

const subscription: EndpointDocs = {
  body: jsonBody(Subscription),
  replies: { ...answers("Accepted", Subscribed), ...serviceErrors(400, 401, 408, 413) },
};

const AcceptedEmail = z
  .strictObject({
    message_id: z.uuid(),
    replayed: z.boolean(),
    warnings: z.array(z.strictObject({ code: z.string(), detail: z.string(), fix: z.string() })),
  })
  .meta({ title: "AcceptedEmail" });

const email: EndpointDocs = {
  body: jsonBody(z.looseObject({ to: z.string() })),
  replies: { ...answers("Accepted, with the warning that nothing is delivered", AcceptedEmail), ...privateBodyErrors },
};

const EmailStatus = z
  .strictObject({ id: z.uuid(), status: z.literal("queued"), created_at: Time, status_at: Time, reason: z.null() })
  .meta({ title: "EmailStatus" });

const emailStatus: EndpointDocs = { replies: { ...answers("Always queued", EmailStatus), ...privateErrors } };

const Preferences = z
  .strictObject({ identifier: z.string(), all_marketing: z.boolean().nullable(), topics: AnyObject })
  .meta({ title: "Preferences" });

const PreferencesOrder = z.looseObject({
  identifier: z.string(),
  all_marketing: z.boolean().optional(),
  topics: AnyObject.optional(),
});

const preferences: EndpointDocs = {
  body: jsonBody(PreferencesOrder),
  replies: { ...answers("The preferences of the request", Preferences), ...privateBodyErrors },
};

/** The widget's endpoints accept any body; only a message is required. */
const widget = (reply: z.ZodRawShape, body?: z.ZodType): EndpointDocs => ({
  body: jsonBody(body ?? AnyObject, body === undefined),
  replies: { ...answers("A fixed response", z.strictObject(reply)), ...serviceErrors(400, 408, 413) },
});

const widgetList = (reply: z.ZodRawShape): EndpointDocs => ({
  replies: answers("An empty list", z.strictObject(reply)),
});

const ticket = { ticket_id: z.string(), ticket_status: z.literal("new"), unread_count: z.int() };

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
  "POST /api/push_subscriptions": subscription,
  "POST /api/projects/:project_id/messaging/send/email": email,
  "GET /api/projects/:project_id/messaging/emails/:id": emailStatus,
  "POST /api/projects/:project_id/messaging/preferences": preferences,
  "POST /api/conversations/v1/widget/message": widget(
    { ...ticket, message_id: z.uuid(), created_at: Time },
    z.looseObject({ message: z.string(), ticket_id: z.string().optional() }),
  ),
  "GET /api/conversations/v1/widget/messages/:ticket_id": widgetList({
    ...ticket,
    messages: Documents,
    has_more: z.boolean(),
  }),
  "POST /api/conversations/v1/widget/messages/:ticket_id/read": widget({ success: z.boolean(), unread_count: z.int() }),
  "GET /api/conversations/v1/widget/tickets": widgetList({ count: z.int(), results: Documents }),
  "POST /api/conversations/v1/widget/restore": widget({ status: z.string(), code: z.string() }),
  "POST /api/conversations/v1/widget/restore/request": widget({ ok: z.boolean() }),
  "GET /site_app/:id": siteApp,
  "GET /site_app/:id/:token": siteApp,
  "GET /site_app/:id/:token/:hash": siteApp,
};
