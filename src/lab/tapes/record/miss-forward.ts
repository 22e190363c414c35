import { counted } from "../../../kernel/base/text.ts";
import type { Call } from "../../../kernel/http/call.ts";
import { headerOf, pairsOf } from "../format/exchange.ts";
import { type RawExchange, toExchange } from "../format/raw-exchange.ts";
import type { RecordingRequest } from "../ports.ts";
import type { RedactionRules } from "../redact/rules.ts";
import { headersToSend, type MissRecorder, ofBody, type RecordedAnswer } from "../replay/replay.ts";
import {
  type Bases,
  hasHeader,
  linksOf,
  mayHavePages,
  relinked,
  relinkedHeaders,
  toUpstream,
} from "../upstream/rewriting.ts";
import { createTransport, type Transport } from "../upstream/transport.ts";
import {
  createAgents,
  failureBody,
  failureOf,
  type Offline,
  openUpstreams,
  refuseOwnPort,
  type UpstreamFailure,
} from "../upstream/upstreams.ts";
import { createRedaction, createUnkeptReport } from "./observed.ts";
import { type OwnPlace, settled } from "./recording.ts";
import { openTape } from "./recording-tape.ts";

/** Larger answers are refused, in bytes. */
const largestAnswer = 64 * 1024 * 1024;

interface MissParts {
  upstream: string;
  upstreamCa: string | undefined;
  offline: Offline;
  redaction?: RedactionRules | undefined;
  own(): OwnPlace;
  /** Ends when the sim closes. */
  closing: AbortSignal;
}

/** A request that came in process names no length. */
const framed = ({ rawHeaders, body }: Call): readonly string[] =>
  body.length === 0 || hasHeader(rawHeaders, "content-length") || hasHeader(rawHeaders, "transfer-encoding")
    ? rawHeaders
    : [...rawHeaders, "content-length", String(body.length)];

interface Passed {
  readonly reply: RecordedAnswer;
  readonly exchange: RawExchange;
}

async function send(call: Call, base: URL, transport: Transport, links: Bases, signal?: AbortSignal) {
  const { method, body } = call;
  const target = `${base.pathname.replace(/\/$/, "")}${call.target}`;
  const rawHeaders = framed(call);
  const headers = toUpstream(rawHeaders, { host: base.host, method });
  const at = Date.now();
  const answer = await transport.send(base, { method, target, headers, body }, { limit: largestAnswer, signal });
  if (!Buffer.isBuffer(answer.body)) throw new Error(`a response of more than ${largestAnswer} bytes`);
  const given = { status: answer.status, headers: answer.headers, body: answer.body };
  const exchange = { at, method, url: base.origin + target, http: "1.1", headers: rawHeaders, body, answer };
  return { reply: replyOf(given, call, links), exchange };
}

function replyOf(
  answer: { status: number; headers: readonly string[]; body: Buffer },
  { method, path }: Call,
  links: Bases,
): RecordedAnswer {
  const { status } = answer;
  const given = { status, headers: relinkedHeaders(answer.headers, links), body: answer.body };
  const changed = mayHavePages(method, path, given) ? relinked(given.headers, given.body, links) : undefined;
  const { headers: kept, body } = changed ?? given;
  const isHead = method === "HEAD";
  const headers = headersToSend(pairsOf(kept), isHead ? ofBody : undefined);
  if (isHead) return { status, headers, body: null };
  const encoding = changed ? undefined : headerOf(pairsOf(kept), "content-encoding");
  return { status, headers: encoding === undefined ? headers : [...headers, "content-encoding", encoding], body };
}

/** Sends calls to the upstream of the parts. @throws TapeOrderError when it is none, or must not be reached */
function openWay(parts: MissParts) {
  const upstreams = openUpstreams(parts.upstream, parts.offline);
  const transport = createTransport(createAgents(parts.upstreamCa));
  return {
    upstreams,
    close: transport.close,
    async pass(call: Call, signal?: AbortSignal): Promise<Passed | { failure: UpstreamFailure }> {
      const base = upstreams.baseOf(call.path);
      try {
        refuseOwnPort(upstreams, parts.own());
        return await send(call, base, transport, linksOf(upstreams, base, call.origin), signal);
      } catch (error) {
        return { failure: failureOf(error, base.origin) };
      }
    },
  };
}

const refusal = (failure: UpstreamFailure): RecordedAnswer => ({
  status: 502,
  headers: ["content-type", "application/json"],
  body: failureBody(failure),
});

/**
 * The function it returns never rejects: no answer is 502.
 * @throws TapeOrderError when the upstream is none, or must not be reached
 */
export function openMissForwarder(parts: MissParts): (call: Call) => Promise<RecordedAnswer> {
  const { close, pass } = openWay(parts);
  parts.closing.addEventListener("abort", close, { once: true });
  return async (call) => {
    const passed = await pass(call, parts.closing);
    return "failure" in passed ? refusal(passed.failure) : passed.reply;
  };
}

/** Requests in flight have this time to end when the sim closes, ms. */
const graceMs = 1000;

/** As `openMissForwarder`, and records the answers; requests without one are not recorded. @throws TapeOrderError */
export async function openMissRecorder(
  parts: MissParts,
  order: RecordingRequest,
  notice: (text: string) => void,
): Promise<MissRecorder> {
  const { upstreams, close, pass } = openWay(parts);
  const redaction = createRedaction(order, parts.redaction, true);
  const tape = await openTape(order, upstreams, { folders: [process.cwd()], notice, redaction }, true);
  const underWay = new Set<Promise<unknown>>();
  const reportUnkept = createUnkeptReport(notice);
  let last = "";
  let closed: Promise<void> | undefined;

  async function recorded(call: Call, signal?: AbortSignal): Promise<RecordedAnswer> {
    const i = tape?.arrive() ?? 0;
    const passed = await pass(call, signal);
    if ("failure" in passed) {
      if (last !== passed.failure.detail) notice(passed.failure.detail);
      last = passed.failure.detail;
      return refusal(passed.failure);
    }
    const clean = redaction.clean(toExchange(passed.exchange, { i, bodyLimit: largestAnswer }));
    tape?.append(clean);
    reportUnkept(clean);
    return passed.reply;
  }

  async function end(): Promise<void> {
    await settled(underWay, graceMs);
    close();
    const added = tape?.taped() ?? 0;
    await tape?.close(0);
    if (added > 0) notice(`${counted(added, "exchange")} added to ${tape?.file}`);
  }

  return {
    answer: (call) => recorded(call, parts.closing),
    pass(call) {
      // the client has its receipt already: closing lets this one arrive
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
