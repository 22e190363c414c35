import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import type { TimeSource } from "../../../kernel/base/clock.ts";
import { clearTimeout, performance, setTimeout } from "../../../kernel/base/real-time.ts";
import { atOnce, inSlices, type Work } from "../../../kernel/base/work.ts";
import type { ObservingApp } from "../../../kernel/http/app.ts";
import type { Family } from "../../../kernel/http/family.ts";
import type { Gauge } from "../../../kernel/http/gauge.ts";
import type { Exchange } from "../format/exchange.ts";
import { sizeOf, toExchange } from "../format/raw-exchange.ts";
import type { RecordingRequest } from "../ports.ts";
import type { RedactionRules } from "../redact/rules.ts";
import type { RecordingFacts } from "../shapes.ts";
import { type ForwardedExchange, forward, type Offered, type Passing } from "../upstream/forward.ts";
import { passUpgrade } from "../upstream/pass-upgrade.ts";
import { linksOf } from "../upstream/rewriting.ts";
import { createAgents, type Offline, openUpstreams, refuseOwnPort } from "../upstream/upstreams.ts";
import { createRedaction, createUnkeptReport, givenReply, observedCall, type Passed, rejectionOf } from "./observed.ts";
import { openTape, type Taping } from "./recording-tape.ts";

export interface RecordingParts {
  app(): Pick<ObservingApp, "observe">;
  clock: TimeSource;
  gauge: Gauge;
  notice(text: string): void;
  /** Rules of the project for what is taped. */
  redaction?: RedactionRules | undefined;
  /** True if the emulator has an endpoint for the path. */
  knows(path: string): Promise<boolean>;
  offline: Offline;
  /** Folders in which tapes that the control API orders may lie. */
  folders: readonly string[];
  /** A certificate authority (PEM) that is trusted in addition to the usual ones. */
  upstreamCa?: string;
}

export interface OwnPlace {
  readonly host: string;
  readonly port: number;
}

export interface RunningRecording {
  readonly passing: Passing;
  facts(): RecordingFacts;
  /** @throws TapeOrderError when the upstream is that itself */
  listensAt(own: OwnPlace): void;
  /** Ends it: what is under way goes on, but is not waited for long. */
  close(): Promise<RecordingFacts>;
}

/** Largest body that is kept of each request and each answer; larger ones pass unkept. */
const bodyLimit = 32 * 1024 * 1024;

/** Requests in flight have this time to end when a recording does, ms. */
const graceMs = 1000;

/** Paths of websockets that are reported one by one. */
const mostSockets = 20;

/** Events of these go to the log as if the emulator had taken them. */
const shadowedFamilies: ReadonlySet<Family> = new Set(["capture", "capture-v1"]);

const isRead = (method: string): boolean => method === "GET" || method === "HEAD";

/**
 * Starts a recording. @param isTrusted May the tape be anywhere? Else below the parts' folders
 * @throws TapeOrderError
 */
export async function openRecording(
  order: RecordingRequest,
  parts: RecordingParts,
  isTrusted: boolean,
  own: OwnPlace | undefined,
): Promise<RunningRecording> {
  const mode = order.mode ?? "record";
  const upstreams = openUpstreams(order.upstream, parts.offline);
  if (own) refuseOwnPort(upstreams, own);
  const redaction = createRedaction(order, parts.redaction);
  const tape = await openTape(order, upstreams, { ...parts, redaction }, isTrusted);
  const agents = createAgents(parts.upstreamCa);
  const started = new Date().toISOString();
  const counts = createCounts(parts.notice);
  const underWay = new Set<Promise<void>>();
  const reportUnkept = createUnkeptReport(parts.notice);
  const sockets = new Set<string>();
  let ownPort = own?.port ?? 0;
  const backlog = createBacklog(() => counts.shown().passed);

  async function pass(req: IncomingMessage, res: ServerResponse, offered: Offered): Promise<void> {
    const ticket = parts.gauge.begin();
    const i = counts.arrive(tape?.arrive());
    const times = { at: parts.clock.now(), started: performance.now() };
    const base = upstreams.baseOf(offered.path, offered.host);
    try {
      const passage = await forward(req, res, {
        base,
        path: offered.path,
        links: linksOf(upstreams, base, offered.origin),
        agents,
        at: Date.now(),
        bodyLimit,
        ownPort,
      });
      const ended = performance.now();
      const peer = req.socket.remoteAddress ?? "unknown";
      counts.add(passage);
      const clean = await backlog.take(weightOf(passage), res, function* () {
        const whole = toExchange(passage.exchange, { i, bodyLimit });
        yield undefined;
        const exchange = yield* redaction.cleanInSteps(whole);
        yield undefined;
        tape?.append(exchange);
        reportUnkept(exchange);
        return exchange;
      });
      await observe(redaction.withKeys(clean), passage, { ended, ticket, peer, ...times });
    } catch (error) {
      parts.notice(`a bug in phx-sim: a request that was passed on is not shown: ${String(error)}`);
    } finally {
      parts.gauge.end(ticket);
    }
  }

  /** Shows it in log and journal. */
  async function observe(exchange: Exchange, passage: ForwardedExchange, passed: Passed): Promise<void> {
    const rejection = rejectionOf(passage);
    const call = observedCall(exchange, passed);
    await parts
      .app()
      .observe(call, givenReply(exchange, passage), {
        isShadowed: (family) => !rejection && shadowedFamilies.has(family),
        rejection,
      });
  }

  function offer(req: IncomingMessage, res: ServerResponse, offered: Offered, answerHere: () => void): void {
    const go = () => {
      const passing = pass(req, res, offered).finally(() => underWay.delete(passing));
      underWay.add(passing);
    };
    const mayGo = mode !== "spy" || order.allow_writes === true || isRead(req.method ?? "GET");
    if (!mayGo) answerHere();
    else if (mode !== "spy") go();
    else parts.knows(offered.path).then((isKnown) => (isKnown ? answerHere() : go()), answerHere);
  }

  /** Passes a websocket on; only its handshake is shown. */
  async function upgrade(...[req, socket, head, { path, host }]: Parameters<Passing["upgrade"]>): Promise<void> {
    const times = { at: parts.clock.now(), started: performance.now() };
    const peer = socket.remoteAddress ?? "unknown";
    const base = upstreams.baseOf(path, host);
    if (!sockets.has(path) && sockets.size < mostSockets)
      parts.notice(`the websocket ${base.host}${path} is passed on; websockets are not recorded`);
    sockets.add(path);
    const passage = await passUpgrade(req, socket, head, { base, agents, at: Date.now(), ownPort });
    counts.arrive(undefined);
    counts.add(passage);
    const { exchange } = passage;
    const clean = redaction.withKeys(redaction.clean(toExchange(exchange, { i: counts.shown().passed, bodyLimit })));
    const passed = { ...times, ended: performance.now(), ticket: 0, peer };
    await parts
      .app()
      .observe(observedCall(clean, passed), givenReply(clean, passage), {
        isShadowed: () => false,
        rejection: rejectionOf(passage),
      });
  }

  const facts = (state: RecordingFacts["state"] = "recording"): RecordingFacts => ({
    state,
    mode,
    upstream: upstreams.name,
    started_at: started,
    ...counts.shown(),
    in_flight: underWay.size,
    ...tapeFacts(tape),
    redaction: redaction.profile,
  });

  return {
    passing: {
      offer,
      upgrade(...all) {
        const passing = upgrade(...all).finally(() => underWay.delete(passing));
        underWay.add(passing);
      },
    },
    facts,
    listensAt(place) {
      refuseOwnPort(upstreams, place);
      ownPort = place.port;
    },
    async close() {
      await backlog.finish();
      await settled(underWay, graceMs);
      agents.close();
      await tape?.close(counts.shown().failed);
      return facts("stopped");
    },
  };
}

/** Counts what was passed on. A failure is reported unless it equals the last one. */
function createCounts(notice: (text: string) => void) {
  const counts = { passed: 0, bytes_sent: 0, bytes_received: 0, aborted: 0, failed: 0 };
  let last: string | null = null;
  return {
    /** Counts a request; its number is the tape's, where there is one. */
    arrive: (onTape: number | undefined): number => {
      counts.passed++;
      return onTape ?? counts.passed;
    },
    add({ exchange, failure }: ForwardedExchange): void {
      counts.bytes_sent += sizeOf(exchange.body);
      counts.bytes_received += exchange.answer ? sizeOf(exchange.answer.body) : 0;
      if (!failure) {
        if (exchange.aborted) counts.aborted++;
        return;
      }
      counts.failed++;
      if (last !== failure.detail) notice(failure.detail);
      last = failure.detail;
    },
    shown: () => ({ ...counts, last_failure: last }),
  };
}

/** Bytes that have to be searched. */
const weightOf = ({ exchange: { body, answer } }: ForwardedExchange): number =>
  sizeOf(body) + (answer ? sizeOf(answer.body) : 0);

const tapeFacts = (tape: Taping | undefined) => ({
  tape: tape?.file ?? null,
  taped: tape?.taped() ?? 0,
  redacted: tape?.redacted() ?? 0,
  trouble: tape?.trouble() ?? null,
});

/** Waits for all of them, but not longer than `ms`. */
export async function settled(all: ReadonlySet<Promise<unknown>>, ms: number): Promise<void> {
  if (all.size === 0) return;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([Promise.allSettled([...all]), late]);
  clearTimeout(timer);
}

/** Redacts and writes exchanges in the order in which they ended. */
interface Backlog {
  /**
   * Does the work in its turn, and resolves to what it returns.
   * @param weight Bytes that it is about
   * @param res The answer to the client, which must not wait for the work
   */
  take<T>(weight: number, res: ServerResponse, work: () => Work<T>): Promise<T>;
  /** From now on nothing waits for a lull: the recording ends. Resolves when all of it is done. */
  finish(): Promise<void>;
}

/** Redacting a megabyte takes a tenth of a second: such work waits for a lull, and is done in slices even then. */
const heavy = 256 * 1024;

/** No request has come for this long: a client that asks for one thing after another is done, ms. */
const lullMs = 100;

/** Waiting longer would keep too much from the disk, ms. */
const mostWaitMs = 2_000;

/** @param arrived How many requests have come so far */
export function createBacklog(arrived: () => number): Backlog {
  let last: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  let hurry = () => {};
  const hurried = new Promise<true>((resolve) => {
    hurry = () => resolve(true);
  });

  const soon = (ms: number): Promise<true | undefined> => Promise.race([pause(ms, undefined, { ref: false }), hurried]);

  async function lull(res: ServerResponse): Promise<void> {
    const latest = performance.now() + mostWaitMs;
    const sent = res.closed ? undefined : once(res, "close").then(undefined, () => {});
    if ((await Promise.race([sent, soon(mostWaitMs)])) === true) return;
    let before = -1;
    while (before !== arrived() && performance.now() < latest) {
      before = arrived();
      if (await soon(lullMs)) return;
    }
  }

  return {
    async take(weight, res, work) {
      const isLight = weight < heavy;
      if (isLight && waiting === 0) return atOnce(work());
      waiting++;
      const turn = last.then(() => (isLight ? undefined : lull(res))).then(() => inSlices(work()));
      last = turn.catch(() => {}).finally(() => waiting--);
      return turn;
    },
    async finish() {
      hurry();
      await last;
    },
  };
}
