import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { counted } from "../../base/counted.ts";
import type { Call } from "../../http/call.ts";
import { json, type Reply } from "../../http/reply.ts";
import { pairsOf } from "../format/exchange.ts";
import type { RawExchange } from "../format/raw-exchange.ts";
import { toExchange } from "../format/raw-exchange.ts";
import type { RecordingRequest } from "../ports.ts";
import type { RedactionRules } from "../redact/rules.ts";
import type { Recorder } from "../replay/load-replay.ts";
import { headersToSend } from "../replay/replay.ts";
import {
  type Bases,
  hasHeader,
  linksOf,
  mayHavePages,
  relinked,
  relinkedHeaders,
  toUpstream,
} from "../upstream/rewriting.ts";
import {
  type Agents,
  createAgents,
  failureBody,
  failureOf,
  refuseOwnPort,
  type UpstreamFailure,
} from "../upstream/upstreams.ts";
import { createRedaction } from "./observed.ts";
import { type OwnPlace, type RecordingParts, settled, upstreamsOf } from "./recording.ts";
import { openTape } from "./recording-tape.ts";

/** An upstream that does not answer is given up after this time, ms. */
const timeoutMs = 60_000;

/** Larger answers are not taken, in bytes. */
const largestAnswer = 64 * 1024 * 1024;

interface MissParts {
  upstream: string;
  upstreamCa: string | undefined;
  offline: RecordingParts["offline"];
  /** Rules of the project for what is recorded. */
  redaction?: RedactionRules | undefined;
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

/** An upstream's answer, and the request that it was given for. */
interface Passed {
  readonly reply: Reply;
  readonly exchange: RawExchange;
}

function send(call: Call, base: URL, agents: Agents, links: Bases, signal?: AbortSignal): Promise<Passed> {
  const { method, body } = call;
  const path = `${base.pathname.replace(/\/$/, "")}${call.target}`;
  const rawHeaders = framed(call);
  const headers = toUpstream(rawHeaders, { host: base.host, method });
  const [at, started] = [Date.now(), performance.now()];
  return new Promise((resolve, reject) => {
    const open = base.protocol === "https:" ? httpsRequest : httpRequest;
    const options = { method, path, headers, agent: agents.of(base.protocol), timeout: timeoutMs };
    const request = open(base, { ...options, ...(signal && { signal }) }, (response) => {
      const ttfb = performance.now() - started;
      bytesOf(response)
        .then((bytes) => {
          const total = performance.now() - started;
          const answer = { ...rawAnswerOf(response), body: bytes, ttfb, total };
          const url = base.origin + path;
          const exchange = { at, method, url, http: "1.1", headers: rawHeaders, body, answer };
          resolve({ reply: replyOf(response, bytes, call, links), exchange });
        })
        .catch(reject);
    });
    request.on("error", reject);
    request.on("timeout", () => request.destroy(Object.assign(new Error("timeout"), { code: "ETIMEDOUT" })));
    request.end(body);
  });
}

const rawAnswerOf = ({ statusCode, statusMessage, httpVersion, rawHeaders }: IncomingMessage) => ({
  status: statusCode ?? 502,
  reason: statusMessage ?? "",
  http: httpVersion,
  headers: rawHeaders,
});

function replyOf(response: IncomingMessage, bytes: Buffer, { method, path }: Call, links: Bases): Reply {
  const status = response.statusCode ?? 502;
  const given = { headers: relinkedHeaders(response.rawHeaders, links), body: bytes };
  const changed = mayHavePages(method, path, { ...given, status })
    ? relinked(given.headers, given.body, links)
    : undefined;
  const { headers: kept, body } = changed ?? given;
  const headers = headersToSend(pairsOf(kept));
  const encoding = changed ? undefined : response.headers["content-encoding"];
  return {
    status,
    headers: encoding === undefined ? headers : [...headers, "content-encoding", encoding],
    body,
  };
}

/** Sends calls to the upstream of the parts. @throws RecordingError when it is none, or must not be reached */
function openWay(parts: MissParts) {
  const upstreams = upstreamsOf(parts.upstream, parts.offline);
  const agents = createAgents(parts.upstreamCa);
  return {
    upstreams,
    agents,
    /** The answer, or why there is none. */
    async pass(call: Call, signal?: AbortSignal): Promise<Passed | { failure: UpstreamFailure }> {
      const base = upstreams.baseOf(call.path);
      try {
        refuseOwnPort(upstreams, parts.own());
        return await send(call, base, agents, linksOf(upstreams, base, call.origin), signal);
      } catch (error) {
        return { failure: failureOf(error, base.origin) };
      }
    },
  };
}

const refusal = (failure: UpstreamFailure): Reply => json(JSON.parse(failureBody(failure)), 502);

/**
 * Asks the upstream for what a tape has no answer for; the function it returns never rejects: no answer is 502.
 * @throws RecordingError when the upstream is none, or must not be reached
 */
export function openMissForwarder(parts: MissParts): (call: Call) => Promise<Reply> {
  const { agents, pass } = openWay(parts);
  parts.closing.addEventListener("abort", () => agents.close(), { once: true });
  return async (call) => {
    const passed = await pass(call, parts.closing);
    return "failure" in passed ? refusal(passed.failure) : passed.reply;
  };
}

/** Requests in flight have this time to end when the sim closes, ms. */
const graceMs = 1000;

/**
 * As `openMissForwarder`, and records the answers on the tape that is replayed. Requests without an answer are not
 * recorded: the next run asks again. @throws RecordingError
 */
export async function openMissRecorder(
  parts: MissParts,
  order: RecordingRequest,
  notice: (text: string) => void,
): Promise<Recorder<Call>> {
  const { upstreams, agents, pass } = openWay(parts);
  const redaction = createRedaction(order, parts.redaction, true);
  const tape = await openTape(order, upstreams, { folders: [process.cwd()], notice, redaction }, true);
  const underWay = new Set<Promise<unknown>>();
  let last = "";
  let closed: Promise<void> | undefined;

  async function recorded(call: Call, signal?: AbortSignal): Promise<Reply> {
    const i = tape?.arrive() ?? 0;
    const passed = await pass(call, signal);
    if ("failure" in passed) {
      if (last !== passed.failure.detail) notice(passed.failure.detail);
      last = passed.failure.detail;
      return refusal(passed.failure);
    }
    tape?.append(
      redaction.clean(toExchange(passed.exchange, { i, bodyLimit: largestAnswer, isBodyless: () => false })),
    );
    return passed.reply;
  }

  async function end(): Promise<void> {
    await settled(underWay, graceMs);
    agents.close();
    const added = tape?.taped() ?? 0;
    await tape?.close(0);
    if (added > 0) notice(`${counted(added, "exchange")} added to ${tape?.file}`);
  }

  return {
    answer: (call) => recorded(call, parts.closing),
    pass(call) {
      // The client has its receipt already: closing lets this one arrive.
      const passing = recorded(call).finally(() => underWay.delete(passing));
      underWay.add(passing);
    },
    added: () => tape?.taped() ?? 0,
    close: () => {
      closed ??= end();
      return closed;
    },
  };
}
