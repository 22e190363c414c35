import { SimError } from "../../../kernel/base/errors.ts";
import { isUuid } from "../../../kernel/base/ids.ts";
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
  textField,
} from "./requests.ts";

/** A call that is checked, journaled and answered; nothing is stored or delivered. */
interface AcceptedCall {
  readonly methods: readonly string[];
  readonly path: string;
  readonly summary: string;
  /** Private: the scope that its key needs. */
  readonly scope?: string;
  /** True if the project key is in the body or the query. */
  readonly hasProjectKey?: true;
  /** Strings that the body, a JSON object, must have. Absent: any body. */
  readonly required?: readonly string[];
  answer(call: Call, body: JsonObject, desk: Desk): object;
}

/** The first 48 bits of a version 7 UUID are its time. */
const timeOf = (uuid: string): string =>
  new Date(Number.parseInt(uuid.replaceAll("-", "").slice(0, 12), 16)).toISOString();

/** No mail is stored: an accepted one stays queued, and its id contains its time. */
function mailStatus({ params: { id } }: Call): object {
  if (!isUuid(id) || id[14] !== "7") throw new SimError("not_found", "Not found.");
  const at = timeOf(id);
  return { id, status: "queued", created_at: at, status_at: at, reason: null };
}

/** posthog-node logs a warning's code and detail. */
const notDelivered = {
  code: "not_delivered",
  detail: "phx-sim kept the request and delivers nothing.",
  fix: "Look at the request in the journal.",
};

function preferences(_call: Call, body: JsonObject): object {
  const all = own(body, "all_marketing");
  const topics = own(body, "topics");
  return {
    identifier: own(body, "identifier"),
    all_marketing: typeof all === "boolean" ? all : null,
    topics: isObject(topics) ? topics : {},
  };
}

const messaging = "/api/projects/:project_id/messaging";
/** The support widget runs only where a project's `remote_config.conversations` has a token of its own, not checked here. */
const widget = "/api/conversations/v1/widget";

/** posthog-node's `emails` and preferences, push devices of the mobile SDKs, and the support widget. */
const calls: readonly AcceptedCall[] = [
  {
    methods: ["POST", "DELETE"],
    path: "/api/push_subscriptions",
    summary: "Registers or removes a device for push messages",
    hasProjectKey: true,
    required: ["distinct_id", "device_token"],
    answer: () => ({ status: "ok" }),
  },
  {
    methods: ["POST"],
    path: `${messaging}/send/email`,
    summary: "Accepts an email; nothing is delivered",
    scope: "transactional_email:write",
    required: ["to"],
    answer: (_call, _body, { ids }) => ({ message_id: ids.uuid(), replayed: false, warnings: [notDelivered] }),
  },
  {
    methods: ["GET"],
    path: `${messaging}/emails/:id`,
    summary: "Status of an accepted email",
    scope: "transactional_email:read",
    answer: mailStatus,
  },
  {
    methods: ["POST"],
    path: `${messaging}/preferences`,
    summary: "Messaging preferences, answered as they were sent",
    scope: "messaging_preference:write",
    required: ["identifier"],
    answer: preferences,
  },
  {
    methods: ["POST"],
    path: `${widget}/message`,
    summary: "Accepts a message; there is no reply",
    required: ["message"],
    answer: ({ at }, body, { ids }) => ({
      ticket_id: textField(body, "ticket_id") ?? ids.uuid(),
      message_id: ids.uuid(),
      ticket_status: "new",
      created_at: new Date(at).toISOString(),
      unread_count: 0,
    }),
  },
  {
    methods: ["GET"],
    path: `${widget}/messages/:ticket_id`,
    summary: "Messages of a ticket: none",
    answer: ({ params: { ticket_id } }) => ({
      ticket_id,
      ticket_status: "new",
      messages: [],
      has_more: false,
      unread_count: 0,
    }),
  },
  {
    methods: ["POST"],
    path: `${widget}/messages/:ticket_id/read`,
    summary: "Marks a ticket's messages as read",
    answer: () => ({ success: true, unread_count: 0 }),
  },
  { methods: ["GET"], path: `${widget}/tickets`, summary: "Tickets: none", answer: () => ({ count: 0, results: [] }) },
  {
    methods: ["POST"],
    path: `${widget}/restore`,
    summary: "No session can be restored",
    answer: () => ({ status: "invalid", code: "not_emulated" }),
  },
  {
    methods: ["POST"],
    path: `${widget}/restore/request`,
    summary: "Accepts the request; no mail is sent",
    answer: () => ({ ok: true }),
  },
];

const projectKeyIn = (call: Call, body: JsonObject): string | undefined =>
  textField(body, "api_key") ?? textField(body, "token") ?? queryToken(call);

function accept(row: AcceptedCall, call: Call, desk: Desk): Reply {
  const { scope, hasProjectKey, required } = row;
  if (scope !== undefined) privateProject(call, desk, scope);
  const body = required ? objectBodyOf(call) : call.method === "GET" ? undefined : jsonBodyOf(call);
  noteBody(call, body);
  const fields = body && isObject(body.json) ? body.json : {};
  if (hasProjectKey) projectOfToken(desk, call, projectKeyIn(call, fields));
  for (const field of required ?? []) requiredText(fields, field);
  return answered(row.answer(call, fields, desk));
}

export const acceptedCallEndpoints = (desk: Desk): Endpoint[] =>
  calls.map((row) => ({
    methods: row.methods,
    path: row.path,
    family: "service",
    summary: row.summary,
    ...(row.scope !== undefined && { scope: row.scope }),
    handle: (call) => accept(row, call, desk),
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

/** The body as JSON; undefined for another type. */
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
  telemetryRows.map(([path, summary]) => ({
    methods: ["POST"],
    path,
    family: "service",
    summary,
    handle: (call) => acceptTelemetry(call, desk),
  }));
