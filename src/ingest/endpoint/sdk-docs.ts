import type { EndpointDocs, JsonSchema } from "../../http/endpoint.ts";
import {
  always,
  anything,
  boolean,
  described,
  dictionary,
  exact,
  integer,
  listOf,
  nullable,
  open,
  text,
  time,
  titled,
  uuid,
} from "../../http/json-schema.ts";
import {
  answers,
  etagHeader,
  jsonBody,
  parameter,
  script,
  serviceErrors,
  tokenParameter,
  unchanged,
} from "./docs-shapes.ts";

/** A project's own settings may replace any value. */
const remoteConfig = titled(
  "RemoteConfig",
  open({ token: anything, hasFeatureFlags: anything, surveys: anything }),
);

const inArray = (reply: EndpointDocs["replies"]): EndpointDocs => ({
  replies: { ...reply, ...serviceErrors(404) },
});

const staticScript: EndpointDocs = {
  query: [parameter("v", "Version of the SDK that asks")],
  headers: [etagHeader],
  replies: {
    200: {
      description: "The script, or its source map",
      schema: dictionary,
      type: "application/javascript",
    },
    ...unchanged,
    ...serviceErrors(404),
  },
};

const publicList = (shape: JsonSchema, ...query: EndpointDocs["query"] & object): EndpointDocs => ({
  query: [tokenParameter, ...query],
  replies: { ...answers("The project's own, as they stand", shape), ...serviceErrors(401) },
});

const documents = listOf(dictionary);

const telemetry: EndpointDocs = {
  query: [tokenParameter],
  body: jsonBody(dictionary, true),
  replies: {
    200: {
      description: "Taken; in the media type of the request",
      schema: exact({}),
      type: "application/x-protobuf",
    },
    ...serviceErrors(400, 401, 408, 413),
  },
};

const prompt = titled("Prompt", exact({ name: text, prompt: anything, version: integer }, { label: text }));

const privateErrors = serviceErrors(401, 403, 404);
const privateBodyErrors = serviceErrors(400, 401, 403, 404, 408, 413);

const prompts: EndpointDocs = {
  query: [tokenParameter],
  replies: {
    ...answers(
      "The newest version of each",
      titled(
        "PromptPage",
        exact({ count: integer, next: always(null), previous: always(null), results: listOf(prompt) }),
      ),
    ),
    ...privateErrors,
  },
};

const namedPrompt: EndpointDocs = {
  query: [
    tokenParameter,
    parameter("version", "This version instead of the newest", integer),
    parameter("label", "The version with this label"),
  ],
  replies: { ...answers("The prompt", prompt), ...privateErrors },
};

const subscription: EndpointDocs = {
  body: jsonBody(
    open(
      { distinct_id: text, device_token: text },
      { api_key: described(text, "The project key; `token`, also in the query, is read as well") },
    ),
  ),
  replies: {
    ...answers("It is noted", titled("Subscribed", exact({ status: always("ok") }))),
    ...serviceErrors(400, 401, 408, 413),
  },
};

const email: EndpointDocs = {
  body: jsonBody(open({ to: text })),
  replies: {
    ...answers(
      "Accepted, with the warning that nothing is delivered",
      titled(
        "AcceptedEmail",
        exact({
          message_id: uuid,
          replayed: boolean,
          warnings: listOf(exact({ code: text, detail: text, fix: text })),
        }),
      ),
    ),
    ...privateBodyErrors,
  },
};

const emailStatus: EndpointDocs = {
  replies: {
    ...answers(
      "Queued for ever",
      titled(
        "EmailStatus",
        exact({
          id: uuid,
          status: always("queued"),
          created_at: time,
          status_at: time,
          reason: always(null),
        }),
      ),
    ),
    ...privateErrors,
  },
};

const preferences: EndpointDocs = {
  body: jsonBody(open({ identifier: text }, { all_marketing: boolean, topics: dictionary })),
  replies: {
    ...answers(
      "As they were sent",
      titled(
        "Preferences",
        exact({ identifier: text, all_marketing: nullable(boolean), topics: dictionary }),
      ),
    ),
    ...privateBodyErrors,
  },
};

/** The widget reads any body; only a message has to be one. */
const widget = (shape: JsonSchema, body = dictionary): EndpointDocs => ({
  body: jsonBody(body, body === dictionary),
  replies: { ...answers("A fixed answer", shape), ...serviceErrors(400, 408, 413) },
});

const widgetList = (shape: JsonSchema): EndpointDocs => ({ replies: answers("An empty list", shape) });

const ticket = { ticket_id: text, ticket_status: always("new"), unread_count: integer };

const roots = ["/api/environments/:project_id", "/api/projects/:project_id"];

const promptDocs = Object.fromEntries(
  roots.flatMap((root) => [
    [`GET ${root}/llm_prompts`, prompts],
    [`GET ${root}/llm_prompts/name/:name`, namedPrompt],
  ]),
);

const siteApp: EndpointDocs = { replies: script("A script that does nothing") };

/** What SDKs request apart from events and flags, by the first method and the path. */
export const sdkDocs: Readonly<Record<string, EndpointDocs>> = {
  "GET /array/:token/config": inArray(answers("The settings", remoteConfig)),
  "GET /array/:token/config.js": inArray(script("The settings as a script")),
  "GET /array/:token/array.js": inArray(script("The settings and the SDK in one script")),
  "GET /static/:name": staticScript,
  "GET /static/:version/:name": staticScript,
  "GET /api/surveys": publicList(exact({ surveys: documents, survey_config: anything })),
  "GET /api/early_access_features": publicList(
    exact({ earlyAccessFeatures: documents }),
    parameter("stage", "Only those of this stage, may be repeated; default: `beta`"),
  ),
  "GET /api/product_tours": publicList(exact({ product_tours: documents })),
  "GET /api/web_experiments": publicList(exact({ experiments: documents })),
  "POST /i/v1/logs": telemetry,
  "POST /i/v1/metrics": telemetry,
  "POST /i/v1/traces": telemetry,
  "POST /i/v0/ai/otel": telemetry,
  ...promptDocs,
  "POST /api/push_subscriptions": subscription,
  "POST /api/projects/:project_id/messaging/send/email": email,
  "GET /api/projects/:project_id/messaging/emails/:id": emailStatus,
  "POST /api/projects/:project_id/messaging/preferences": preferences,
  "POST /api/conversations/v1/widget/message": widget(
    exact({ ...ticket, message_id: uuid, created_at: time }),
    open({ message: text }, { ticket_id: text }),
  ),
  "GET /api/conversations/v1/widget/messages/:ticket_id": widgetList(
    exact({ ...ticket, messages: documents, has_more: boolean }),
  ),
  "POST /api/conversations/v1/widget/messages/:ticket_id/read": widget(
    exact({ success: boolean, unread_count: integer }),
  ),
  "GET /api/conversations/v1/widget/tickets": widgetList(exact({ count: integer, results: documents })),
  "POST /api/conversations/v1/widget/restore": widget(exact({ status: text, code: text })),
  "POST /api/conversations/v1/widget/restore/request": widget(exact({ ok: boolean })),
  "GET /site_app/:id": siteApp,
  "GET /site_app/:id/:token": siteApp,
  "GET /site_app/:id/:token/:hash": siteApp,
};
