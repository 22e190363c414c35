import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { type Agents, createAgents } from "../door/forward/agents.ts";
import { failureBody, failureOf } from "../door/forward/failure.ts";
import { hasHeader, pairsOf, toUpstream } from "../door/forward/headers.ts";
import { mayHavePages, relinked, relinkedHeaders } from "../door/forward/links.ts";
import { linksOf, refuseOwnPort } from "../door/forward/upstreams.ts";
import type { Call } from "../http/call.ts";
import { json, type Reply } from "../http/reply.ts";
import { headersToSend } from "../replay/headers.ts";
import type { Bases } from "../tape/page-links.ts";
import { type OwnPlace, type RecordingParts, upstreamsOf } from "./recording.ts";

/** An upstream that says nothing is given up after this long, ms. */
const timeoutMs = 60_000;

/** Larger answers are not taken, in bytes. */
const largestAnswer = 64 * 1024 * 1024;

interface MissParts {
  upstream: string;
  upstreamCa: string | undefined;
  offline: RecordingParts["offline"];
  /** Where the sim itself listens. */
  own(): OwnPlace;
  /** Ends when the sim closes. */
  closing: AbortSignal;
}

async function bytesOf(response: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response) {
    const bytes: Buffer = chunk;
    size += bytes.length;
    if (size > largestAnswer) throw new Error(`an answer of more than ${largestAnswer} bytes`);
    chunks.push(bytes);
  }
  return Buffer.concat(chunks);
}

/** A request that came in process names no length. */
const framed = ({ rawHeaders, body }: Call): readonly string[] =>
  body.length === 0 || hasHeader(rawHeaders, "content-length") || hasHeader(rawHeaders, "transfer-encoding")
    ? rawHeaders
    : [...rawHeaders, "content-length", String(body.length)];

function send(call: Call, base: URL, agents: Agents, signal: AbortSignal): Promise<IncomingMessage> {
  const { method, target, body } = call;
  const path = `${base.pathname.replace(/\/$/, "")}${target}`;
  const headers = toUpstream(framed(call), { host: base.host, method });
  return new Promise((resolve, reject) => {
    const open = base.protocol === "https:" ? httpsRequest : httpRequest;
    const options = { method, path, headers, agent: agents.of(base.protocol), signal, timeout: timeoutMs };
    const request = open(base, options, resolve);
    request.on("error", reject);
    request.on("timeout", () => request.destroy(Object.assign(new Error("timeout"), { code: "ETIMEDOUT" })));
    request.end(body);
  });
}

async function replyOf(response: IncomingMessage, { method, path }: Call, links: Bases): Promise<Reply> {
  const status = response.statusCode ?? 502;
  const given = { headers: relinkedHeaders(response.rawHeaders, links), body: await bytesOf(response) };
  const changed = mayHavePages(method, path, { ...given, status })
    ? relinked(given.headers, given.body, links)
    : undefined;
  const { headers: said, body } = changed ?? given;
  const headers = headersToSend(pairsOf(said));
  const encoding = changed ? undefined : response.headers["content-encoding"];
  return {
    status,
    headers: encoding === undefined ? headers : [...headers, "content-encoding", encoding],
    body,
  };
}

/**
 * Asks the upstream for what a tape has no answer for; the function it returns never rejects: no answer is 502.
 * @throws RecordingError when the upstream is none, or must not be reached
 */
export function openMissForwarder(parts: MissParts): (call: Call) => Promise<Reply> {
  const upstreams = upstreamsOf(parts.upstream, parts.offline);
  const agents = createAgents(parts.upstreamCa);
  parts.closing.addEventListener("abort", () => agents.close(), { once: true });
  return async (call) => {
    const base = upstreams.baseOf(call.path);
    try {
      refuseOwnPort(upstreams, parts.own());
      const links = linksOf(upstreams, base, call.origin);
      return await replyOf(await send(call, base, agents, parts.closing), call, links);
    } catch (error) {
      return json(JSON.parse(failureBody(failureOf(error, base.origin))), 502);
    }
  };
}
