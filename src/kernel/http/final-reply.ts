import type { Call } from "./call.ts";
import { corsHeaders } from "./cors.ts";
import type { Endpoint } from "./endpoint.ts";
import { embeddable, headerOf, headersWithout, type Reply, sameOriginOnly } from "./reply.ts";

export type ReplyKind = Pick<Endpoint, "family" | "allow" | "cors" | "isEmbeddable">;

export const finalReply = (call: Call, kind: ReplyKind, reply: Reply): Reply => ({
  status: reply.status,
  headers: finalHeaders(call, kind, reply),
  body: reply.body,
  stream: reply.stream,
  stalled: reply.stalled,
  fault: reply.fault,
  scripted: reply.scripted,
  source: reply.source,
  transport: reply.transport,
});

export const sentReply = (call: Call, reply: Reply): Reply => (call.method === "HEAD" ? headOf(reply) : reply);

/** The answer to HEAD: the GET's headers and length, no body. A recorded one has the length that it had. */
function headOf(reply: Reply): Reply {
  if (reply.source !== undefined && reply.body === null) return reply;
  if (reply.stream !== undefined)
    return { ...reply, headers: [...reply.headers, "transfer-encoding", "chunked"], stream: undefined };
  const length = reply.body === null ? 0 : Buffer.byteLength(reply.body);
  return { ...reply, headers: [...reply.headers, "content-length", String(length)], body: null };
}

const emulator = ["x-phx-source", "emulator"];
const fault = ["x-phx-source", "fault"];
const script = ["x-phx-source", "script"];

function sourceOf(reply: Reply): readonly string[] {
  if (reply.scripted) return script;
  if (reply.fault !== undefined) return fault;
  return reply.source === undefined ? emulator : ["x-phx-source", reply.source];
}

function finalHeaders(call: Call, { family, allow, cors: limit, isEmbeddable }: ReplyKind, reply: Reply): string[] {
  const given = limit === false ? [] : corsHeaders(call, family);
  // a page of another origin reads scripted answers, too; what they say of that themselves counts
  const cors = reply.scripted ? headersWithout(given, (name) => headerOf(reply, name) !== undefined) : given;
  const source = sourceOf(reply);
  const headers = cors.length > 0 ? [...reply.headers, ...cors, ...source] : [...reply.headers, ...source];
  if (allow !== undefined) headers.push("allow", allow);
  if (family === "control") headers.push(...(isEmbeddable ? embeddable : sameOriginOnly));
  return headers;
}
