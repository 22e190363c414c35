import type { Call } from "../http/call.ts";
import type { Endpoint } from "../http/endpoint.ts";
import { errorReply } from "../http/error-body.ts";
import { json, type Reply, withHeaders } from "../http/reply.ts";
import { takeV1 } from "../ingest/take-v1.ts";
import { SimError } from "../kernel/errors.ts";
import { isUuid } from "../kernel/ids.ts";
import { inSlices, type Work } from "../kernel/work.ts";
import type { Desk } from "../model/desk.ts";
import type { Note } from "../model/traffic.ts";

const rows = [
  { path: "/i/v1/analytics/events", summary: "Captures events, with a result for each", aiOnly: false },
  { path: "/i/v1/ai/events", summary: "Captures LLM events, with a result for each", aiOnly: true },
];

/** On the wire; the decoded body may be larger. */
const bodyLimit = 10 * 1024 * 1024;

/** The sender's request id comes back with every answer, errors included. */
function echoed(call: Call, reply: Reply, note: Note): Reply {
  const id = call.headers["posthog-request-id"];
  const full = isUuid(id) ? withHeaders(reply, "posthog-request-id", id) : reply;
  return { ...full, note };
}

/** The sender is told little, the journal all. */
function refusal(error: SimError, note: Note): Reply {
  note.rejected = { reason: error.code, detail: error.extra.hint ?? error.message };
  return errorReply("capture-v1", error);
}

function* handle(desk: Desk, call: Call, aiOnly: boolean): Work<Reply> {
  const note: Note = {};
  try {
    return echoed(call, json({ results: yield* takeV1(desk, call, note, aiOnly) }), note);
  } catch (error) {
    if (!(error instanceof SimError)) throw error;
    return echoed(call, refusal(error, note), note);
  }
}

/** Capture v1. Upstream capture, v1/analytics. */
export const captureV1Endpoints = (desk: Desk): Endpoint[] =>
  rows.map(({ path, summary, aiOnly }) => ({
    methods: ["POST"],
    path,
    family: "capture-v1",
    summary,
    bodyLimit,
    handle: (call) => inSlices(handle(desk, call, aiOnly)),
  }));
