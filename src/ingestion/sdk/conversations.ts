import type { Call } from "../../http/call.ts";
import type { Endpoint } from "../../http/endpoint.ts";
import type { Reply } from "../../http/reply.ts";
import type { Desk } from "../../model/desk.ts";
import { answered } from "./answer.ts";
import { jsonBodyOf, objectBodyOf, requiredText, textField } from "./body.ts";

/** The customer's message is accepted and journaled; nobody answers it. */
function sendMessage(call: Call, desk: Desk): Reply {
  const body = objectBodyOf(call);
  requiredText(body.json, "message");
  return answered(
    {
      ticket_id: textField(body.json, "ticket_id") ?? desk.ids.uuid(),
      message_id: desk.ids.uuid(),
      ticket_status: "new",
      created_at: new Date(call.at).toISOString(),
      unread_count: 0,
    },
    null,
    body,
  );
}

const noMessages = (call: Call): Reply =>
  answered(
    {
      ticket_id: call.params.ticket_id,
      ticket_status: "new",
      messages: [],
      has_more: false,
      unread_count: 0,
    },
    null,
  );

/** A fixed answer to a request whose body only matters to the journal. */
const always =
  (value: object) =>
  (call: Call): Reply =>
    answered(value, null, jsonBodyOf(call));

const rows: readonly (readonly [
  method: string,
  tail: string,
  handle: (call: Call, desk: Desk) => Reply,
  summary: string,
])[] = [
  ["POST", "/message", sendMessage, "Accepts a message; nobody answers"],
  ["GET", "/messages/:ticket_id", noMessages, "Messages of a ticket: none"],
  [
    "POST",
    "/messages/:ticket_id/read",
    always({ success: true, unread_count: 0 }),
    "Marks a ticket's messages as read",
  ],
  ["GET", "/tickets", always({ count: 0, results: [] }), "Tickets: none"],
  ["POST", "/restore", always({ status: "invalid", code: "not_emulated" }), "No session can be restored"],
  ["POST", "/restore/request", always({ ok: true }), "Accepts the request; no mail is sent"],
];

/**
 * Stand-ins for the support widget, which runs only where a project's `remote_config.conversations` has a
 * token of its own (sent as `X-Conversations-Token`, not checked here). Nothing is stored.
 */
export const conversationEndpoints = (desk: Desk): Endpoint[] =>
  rows.map(([method, tail, handle, summary]) => ({
    methods: [method],
    path: `/api/conversations/v1/widget${tail}`,
    family: "service",
    summary,
    handle: (call) => handle(call, desk),
  }));
