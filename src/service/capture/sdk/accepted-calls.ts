import { SimError } from "../../../kernel/base/errors.ts";
import { isObject, type JsonObject, own } from "../../../kernel/base/json.ts";
import type { Call } from "../../../kernel/http/call.ts";
import { bearerOf, queryToken } from "../../../kernel/http/call.ts";
import type { Endpoint } from "../../../kernel/http/endpoint.ts";
import { json, type Reply } from "../../../kernel/http/reply.ts";
import type { Desk } from "../desk.ts";
import {
  answered,
  type JsonBody,
  jsonBodyOf,
  noteBody,
  objectBodyOf,
  privateProject,
  projectOfToken,
  requiredText,
  serviceRow,
  textField,
} from "./requests.ts";

/** A call that is checked, journaled and answered; nothing is stored or delivered. */
type AcceptedCall = readonly [methods: string, path: string, summary: string, answer: JsonObject, more?: More];

interface More {
  /** Private: the scope that its key needs. */
  readonly scope?: string;
  /** True if the project key is in the body or the query. */
  readonly hasProjectKey?: true;
  /** Strings that the body, a JSON object, must have. Absent: any body. */
  readonly required?: readonly string[];
  /** Fields of the answer that are new ids, times, and repeated from the path or the body. */
  readonly ids?: readonly string[];
  readonly times?: readonly string[];
  readonly repeated?: readonly string[];
}

/** posthog-node logs a warning's code and detail. */
const notDelivered = {
  code: "not_delivered",
  detail: "phx-sim kept the request and delivers nothing.",
  fix: "Look at the request in the journal.",
};

const messaging = "/api/projects/:project_id/messaging";
/** The support widget runs only where a project's `remote_config.conversations` has a token of its own, not checked here. */
const widget = "/api/conversations/v1/widget";

/** posthog-node's `emails` and preferences, push devices of the mobile SDKs, and the support widget. */
export const acceptedCalls: readonly AcceptedCall[] = [
  [
    "POST DELETE",
    "/api/push_subscriptions",
    "Registers or removes a device for push messages",
    { status: "ok" },
    { hasProjectKey: true, required: ["distinct_id", "device_token"] },
  ],
  [
    "POST",
    `${messaging}/send/email`,
    "Accepts an email; nothing is delivered",
    { replayed: false, warnings: [notDelivered] },
    { scope: "transactional_email:write", required: ["to"], ids: ["message_id"] },
  ],
  [
    "GET",
    `${messaging}/emails/:id`,
    "Status of an accepted email",
    { status: "queued", reason: null },
    { scope: "transactional_email:read", repeated: ["id"], times: ["created_at", "status_at"] },
  ],
  [
    "POST",
    `${messaging}/preferences`,
    "Messaging preferences, answered as they were sent",
    { all_marketing: null, topics: {} },
    {
      scope: "messaging_preference:write",
      required: ["identifier"],
      repeated: ["identifier", "all_marketing", "topics"],
    },
  ],
  [
    "POST",
    `${widget}/message`,
    "Accepts a message; there is no reply",
    { ticket_status: "new", unread_count: 0 },
    { required: ["message"], ids: ["ticket_id", "message_id"], times: ["created_at"], repeated: ["ticket_id"] },
  ],
  [
    "GET",
    `${widget}/messages/:ticket_id`,
    "Messages of a ticket: none",
    { ticket_status: "new", messages: [], has_more: false, unread_count: 0 },
    { repeated: ["ticket_id"] },
  ],
  [
    "POST",
    `${widget}/messages/:ticket_id/read`,
    "Marks a ticket's messages as read",
    { success: true, unread_count: 0 },
  ],
  ["GET", `${widget}/tickets`, "Tickets: none", { count: 0, results: [] }],
  ["POST", `${widget}/restore`, "No session can be restored", { status: "invalid", code: "not_emulated" }],
  ["POST", `${widget}/restore/request`, "Accepts the request; no mail is sent", { ok: true }],
];

const projectKeyIn = (call: Call, body: JsonObject): string | undefined =>
  textField(body, "api_key") ?? textField(body, "token") ?? queryToken(call);

function accept(answer: JsonObject, more: More, call: Call, desk: Desk): Reply {
  const { scope, hasProjectKey, required, ids = [], times = [], repeated = [] } = more;
  if (scope !== undefined) privateProject(call, desk, scope);
  const body = required ? objectBodyOf(call) : call.method === "GET" ? undefined : jsonBodyOf(call);
  noteBody(call, body);
  const fields = body && isObject(body.json) ? body.json : {};
  if (hasProjectKey) projectOfToken(desk, call, projectKeyIn(call, fields));
  for (const field of required ?? []) requiredText(fields, field);
  const sent = { ...call.params, ...fields };
  return answered({
    ...answer,
    ...Object.fromEntries(ids.map((name) => [name, desk.ids.uuid()])),
    ...Object.fromEntries(times.map((name) => [name, new Date(call.at).toISOString()])),
    ...Object.fromEntries(repeated.flatMap((name) => (own(sent, name) === undefined ? [] : [[name, own(sent, name)]]))),
  });
}

export const acceptedCallEndpoints = (desk: Desk): Endpoint[] =>
  acceptedCalls.map(([methods, path, summary, answer, more = {}]) => ({
    ...serviceRow(path, summary, (call) => accept(answer, more, call, desk), methods),
    ...(more.scope !== undefined && { scope: more.scope }),
  }));

/** OTLP over HTTP, as JSON or protobuf. The request stays in the journal; nothing is evaluated. */
const telemetryRows: readonly (readonly [path: string, summary: string])[] = [
  ["/i/v1/logs", "OTLP logs"],
  ["/i/v1/metrics", "OTLP metrics"],
  ["/i/v1/traces", "OTLP traces"],
];

const protobufType = "application/x-protobuf";

const isOf = (call: Call, type: string): boolean => call.headers["content-type"]?.startsWith(type) === true;

/** The answer has the type of the request; an empty protobuf message has no bytes. */
const telemetryAnswer = (call: Call): Reply =>
  isOf(call, protobufType) ? { status: 200, headers: ["content-type", protobufType], body: Buffer.alloc(0) } : json({});

function telemetryBody(call: Call): JsonBody | undefined {
  const body = isOf(call, protobufType) ? undefined : jsonBodyOf(call);
  if (!body && isOf(call, "application/json")) throw new SimError("parse_error", "The body is not valid JSON.");
  return body;
}

function acceptTelemetry(call: Call, desk: Desk): Reply {
  projectOfToken(desk, call, queryToken(call) ?? bearerOf(call));
  noteBody(call, telemetryBody(call));
  return telemetryAnswer(call);
}

/** OTLP endpoints; the project key is in `?token=` or a bearer header. */
export const telemetryEndpoints = (desk: Desk): Endpoint[] =>
  telemetryRows.map(([path, summary]) => serviceRow(path, summary, (call) => acceptTelemetry(call, desk), "POST"));
