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
import {
  type Agents,
  createAgents,
  type Offline,
  openUpstreams,
  refuseOwnPort,
  type Upstreams,
} from "../upstream/upstreams.ts";
import {
  createRedaction,
  createUnkeptReport,
  givenReply,
  observedCall,
  type Passed,
  type Redaction,
  rejectionOf,
} from "./observed.ts";
import { openTape, type Taping } from "./recording-tape.ts";

export interface RecordingParts {
  app(): Pick<ObservingApp, "observe">;
  clock: TimeSource;
  gauge: Gauge;
  notice(text: string): void;
  redaction?: RedactionRules | undefined;
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

/** Largest body that is kept of each request and each answer; larger ones pass unkept. */
const bodyLimit = 32 * 1024 * 1024;

/** Requests in flight have this time to end when a recording does, ms. */
const graceMs = 1000;

/** Paths of websockets that are reported one by one. */
const mostSockets = 20;

/** Events of these go to the log as if the emulator had taken them. */
const shadowedFamilies: ReadonlySet<Family> = new Set(["capture", "capture-v1"]);

const isRead = (method: string): boolean => method === "GET" || method === "HEAD";

export class RunningRecording {
  readonly passing: Passing;
  readonly #order: RecordingRequest;
  readonly #parts: RecordingParts;
  readonly #upstreams: Upstreams;
  readonly #redaction: Redaction;
  readonly #tape: Taping | undefined;
  readonly #agents: Agents;
  readonly #started = new Date().toISOString();
  readonly #counts = { passed: 0, bytes_sent: 0, bytes_received: 0, aborted: 0, failed: 0 };
  readonly #underWay = new Set<Promise<void>>();
  readonly #reportUnkept: (clean: Exchange) => void;
  readonly #sockets = new Set<string>();
  readonly #backlog = new Backlog(() => this.#counts.passed);
  #lastFailure: string | null = null;
  #ownPort: number;

  /** @param isTrusted The tape may be anywhere, not only below the parts' folders @throws TapeOrderError */
  static async open(
    order: RecordingRequest,
    parts: RecordingParts,
    isTrusted: boolean,
    own: OwnPlace | undefined,
  ): Promise<RunningRecording> {
    const upstreams = openUpstreams(order.upstream, parts.offline);
    if (own) refuseOwnPort(upstreams, own);
    const redaction = createRedaction(order, parts.redaction);
    const tape = await openTape(order, upstreams, { ...parts, redaction }, isTrusted);
    return new RunningRecording(order, parts, { upstreams, redaction, tape, ownPort: own?.port ?? 0 });
  }

  constructor(
    order: RecordingRequest,
    parts: RecordingParts,
    opened: { upstreams: Upstreams; redaction: Redaction; tape: Taping | undefined; ownPort: number },
  ) {
    this.#order = order;
    this.#parts = parts;
    this.#upstreams = opened.upstreams;
    this.#redaction = opened.redaction;
    this.#tape = opened.tape;
    this.#ownPort = opened.ownPort;
    this.#agents = createAgents(parts.upstreamCa);
    this.#reportUnkept = createUnkeptReport(parts.notice);
    this.passing = {
      offer: (req, res, offered, answerHere) => this.#offer(req, res, offered, answerHere),
      upgrade: (...all) => this.#track(this.#upgrade(...all)),
    };
  }

  facts(state: RecordingFacts["state"] = "recording"): RecordingFacts {
    const tape = this.#tape;
    return {
      state,
      mode: this.#order.mode ?? "record",
      upstream: this.#upstreams.name,
      started_at: this.#started,
      ...this.#counts,
      last_failure: this.#lastFailure,
      in_flight: this.#underWay.size,
      tape: tape?.file ?? null,
      taped: tape?.taped() ?? 0,
      redacted: tape?.redacted() ?? 0,
      trouble: tape?.trouble() ?? null,
      redaction: this.#redaction.profile,
    };
  }

  /** @throws TapeOrderError when the upstream is that itself */
  listensAt(place: OwnPlace): void {
    refuseOwnPort(this.#upstreams, place);
    this.#ownPort = place.port;
  }

  /** What is under way goes on, but is not waited for long. */
  async close(): Promise<RecordingFacts> {
    await this.#backlog.finish();
    await settled(this.#underWay, graceMs);
    this.#agents.close();
    await this.#tape?.close(this.#counts.failed);
    return this.facts("stopped");
  }

  #track(work: Promise<void>): void {
    const passing = work.finally(() => this.#underWay.delete(passing));
    this.#underWay.add(passing);
  }

  #offer(req: IncomingMessage, res: ServerResponse, offered: Offered, answerHere: () => void): void {
    const go = () => this.#track(this.#pass(req, res, offered));
    const isSpy = this.#order.mode === "spy";
    const mayGo = !isSpy || this.#order.allow_writes === true || isRead(req.method ?? "GET");
    if (!mayGo) answerHere();
    else if (!isSpy) go();
    else this.#parts.knows(offered.path).then((isKnown) => (isKnown ? answerHere() : go()), answerHere);
  }

  async #pass(req: IncomingMessage, res: ServerResponse, { path, host, origin }: Offered): Promise<void> {
    const { gauge, clock, notice } = this.#parts;
    const ticket = gauge.begin();
    const i = this.#tape?.arrive() ?? this.#counts.passed + 1;
    this.#counts.passed++;
    const times = { at: clock.now(), started: performance.now() };
    const base = this.#upstreams.baseOf(path, host);
    try {
      const passage = await forward(req, res, {
        base,
        path,
        links: linksOf(this.#upstreams, base, origin),
        agents: this.#agents,
        at: Date.now(),
        bodyLimit,
        ownPort: this.#ownPort,
      });
      const ended = performance.now();
      const peer = req.socket.remoteAddress ?? "unknown";
      this.#count(passage);
      const clean = await this.#backlog.take(weightOf(passage), res, () => this.#record(passage, i));
      await this.#observe(clean, passage, { ended, ticket, peer, ...times });
    } catch (error) {
      notice(`a bug in phx-sim: a request that was passed on is not shown: ${String(error)}`);
    } finally {
      gauge.end(ticket);
    }
  }

  *#record({ exchange }: ForwardedExchange, i: number): Work<Exchange> {
    const whole = toExchange(exchange, { i, bodyLimit });
    yield undefined;
    const clean = yield* this.#redaction.cleanInSteps(whole);
    yield undefined;
    this.#tape?.append(clean);
    this.#reportUnkept(clean);
    return clean;
  }

  /** Passes a websocket on; only its handshake is shown. */
  async #upgrade(...[req, socket, head, { path, host }]: Parameters<Passing["upgrade"]>): Promise<void> {
    const times = { at: this.#parts.clock.now(), started: performance.now() };
    const peer = socket.remoteAddress ?? "unknown";
    const base = this.#upstreams.baseOf(path, host);
    if (!this.#sockets.has(path) && this.#sockets.size < mostSockets)
      this.#parts.notice(`the websocket ${base.host}${path} is passed on; websockets are not recorded`);
    this.#sockets.add(path);
    const options = { base, agents: this.#agents, at: Date.now(), ownPort: this.#ownPort };
    const passage = await passUpgrade(req, socket, head, options);
    this.#counts.passed++;
    this.#count(passage);
    const clean = this.#redaction.clean(toExchange(passage.exchange, { i: this.#counts.passed, bodyLimit }));
    await this.#observe(clean, passage, { ...times, ended: performance.now(), ticket: 0, peer }, true);
  }

  async #observe(clean: Exchange, passage: ForwardedExchange, passed: Passed, isSocket = false): Promise<void> {
    const exchange = this.#redaction.withKeys(clean);
    const rejection = rejectionOf(passage);
    await this.#parts
      .app()
      .observe(observedCall(exchange, passed), givenReply(exchange, passage), {
        isShadowed: (family) => !isSocket && !rejection && shadowedFamilies.has(family),
        rejection,
      });
  }

  /** A failure is reported unless it equals the last one. */
  #count({ exchange, failure }: ForwardedExchange): void {
    const counts = this.#counts;
    counts.bytes_sent += sizeOf(exchange.body);
    counts.bytes_received += exchange.answer ? sizeOf(exchange.answer.body) : 0;
    if (!failure) {
      if (exchange.aborted) counts.aborted++;
      return;
    }
    counts.failed++;
    if (this.#lastFailure !== failure.detail) this.#parts.notice(failure.detail);
    this.#lastFailure = failure.detail;
  }
}

/** Bytes that have to be searched. */
const weightOf = ({ exchange: { body, answer } }: ForwardedExchange): number =>
  sizeOf(body) + (answer ? sizeOf(answer.body) : 0);

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

/** Redacting a megabyte takes a tenth of a second: such work waits for a lull, and is done in slices even then. */
const heavy = 256 * 1024;

/** No request has come for this long: a client that asks for one thing after another is done, ms. */
const lullMs = 100;

/** Waiting longer would keep too much from the disk, ms. */
const mostWaitMs = 2_000;

/** Redacts and writes exchanges in the order in which they ended. */
export class Backlog {
  readonly #arrived: () => number;
  readonly #hurried: Promise<true>;
  #hurry = () => {};
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  /** @param arrived How many requests have come so far */
  constructor(arrived: () => number) {
    this.#arrived = arrived;
    this.#hurried = new Promise((resolve) => {
      this.#hurry = () => resolve(true);
    });
  }

  /** `weight`: bytes that it is about. `res`: the answer to the client, which must not wait for the work. */
  async take<T>(weight: number, res: ServerResponse, work: () => Work<T>): Promise<T> {
    const isLight = weight < heavy;
    if (isLight && this.#waiting === 0) return atOnce(work());
    this.#waiting++;
    const turn = this.#last.then(() => (isLight ? undefined : this.#lull(res))).then(() => inSlices(work()));
    this.#last = turn.catch(() => {}).finally(() => this.#waiting--);
    return turn;
  }

  /** From now on nothing waits for a lull: the recording ends. Resolves when all of it is done. */
  async finish(): Promise<void> {
    this.#hurry();
    await this.#last;
  }

  async #lull(res: ServerResponse): Promise<void> {
    const soon = (ms: number) => Promise.race([pause(ms, undefined, { ref: false }), this.#hurried]);
    const latest = performance.now() + mostWaitMs;
    const sent = res.closed ? undefined : once(res, "close").then(undefined, () => {});
    if ((await Promise.race([sent, soon(mostWaitMs)])) === true) return;
    let before = -1;
    while (before !== this.#arrived() && performance.now() < latest) {
      before = this.#arrived();
      if (await soon(lullMs)) return;
    }
  }
}
