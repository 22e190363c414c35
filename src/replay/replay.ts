import type { Note } from "../model/traffic.ts";
import { type Decoded, decodeBody } from "../tape/decode.ts";
import { pairsOf } from "../tape/headers.ts";
import { captureRoutes, routeOf } from "../tape/routes.ts";
import type { Answered, Asked, Deck, Exchange, Miss, MissPolicy, TapeBody } from "../tape/types.ts";
import { answerOf, obstacleOf, type RecordedAnswer } from "./answer.ts";
import { clientOf } from "./client.ts";
import { missBody, missStatus, missText } from "./miss.ts";
import { delayOf, type Timing } from "./timing.ts";

/** What is read of a call; the request core's `Call` has it. */
export interface Sent {
  readonly method: string;
  readonly path: string;
  /** Path and query. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly rawHeaders: readonly string[];
  /** Scheme, host and port the sender used. */
  readonly origin: string;
  readonly body: Buffer;
}

/** An answer with what the journal is to know of its call. */
interface Given extends RecordedAnswer {
  note: Note;
  source: string;
}

/** What is to become of a call, as the request core's `CallFault` says it. */
export interface Decided {
  readonly source: "tape";
  /** `tape:checkout#12`. */
  readonly name: string;
  /** ms. */
  readonly delay: number;
  readonly answer: Given | Promise<Given>;
  readonly rejection?: { readonly reason: string; readonly detail: string };
}

type SideBody = Extract<TapeBody, { file: string }>;

type Hit = Extract<Answered, { hit: Exchange }>;
type Missed = Extract<Answered, { miss: Miss }>;

/** A tape in force. */
export interface ReplayParts<C extends Sent> {
  /** The tape's name, as answers tell it. */
  readonly name: string;
  readonly deck: Deck;
  readonly onMiss: MissPolicy;
  readonly timing: Timing;
  /** Loads a body that has a file of its own. */
  readSide(body: SideBody): Promise<TapeBody | undefined>;
  /** Puts the asker's own keys in the place of the recorded ones, in the answer. */
  restore(exchange: Exchange, asked: Asked): Exchange;
  /** Asks the service itself; there with the policy `upstream` only. Must not reject. */
  forward?(call: C): Promise<RecordedAnswer>;
  /** Gets requests with events that the tape does not have; the emulator answers them. */
  pass?(call: C): void;
}

/** A browser's question before a request: the sim answers it for the page that asks now. */
const isPreflight = ({ method, headers }: Sent): boolean =>
  method === "OPTIONS" && headers["access-control-request-method"] !== undefined;

const isInFile = (body: TapeBody | undefined): body is SideBody => body !== undefined && "file" in body;

const unusableText = (name: string, { i }: Exchange, why: string): string =>
  `the tape ${name} cannot give the answer of #${i}: ${why}`;

/** The body that came, as the deck compares it. */
function askedBody({ body }: Decoded): Asked["body"] {
  if (body === undefined) return undefined;
  if ("json" in body) return body.json;
  if ("text" in body) return body.text;
  return "b64" in body ? body.b64 : undefined;
}

function askedOf({ method, target, headers, rawHeaders, origin, body }: Sent, client: string): Asked {
  const pairs = pairsOf(rawHeaders);
  const decoded = decodeBody(body, pairs, target);
  return {
    method,
    target,
    headers,
    scheme: origin.startsWith("https:") ? "https" : "http",
    client,
    body: askedBody(decoded),
    sent: { headers: pairs, ...decoded },
  };
}

/** Recorded refusals are not the app's mistakes; the journal tells them by their exchange. */
const recordedRefusal = (name: string) => ({ reason: "tape", detail: `${name} has this answer` });

/**
 * Answers calls from a tape. `read` finds out whose call it is and what its body says. Requests of the capture family
 * are left to the emulator: their answer is a mere receipt, and their events are to be in the log; the tape's events
 * are ticked off by them.
 */
export function createReplay<C extends Sent, F extends string>(
  parts: ReplayParts<C>,
  read: (call: C, family: F) => Note,
) {
  const { name, deck, onMiss, timing } = parts;

  const restored = (hit: Exchange, body: TapeBody | undefined, asked: Asked): RecordedAnswer =>
    answerOf(parts.restore({ ...hit, res: hit.res && { ...hit.res, ...(body && { body }) } }, asked));

  async function load(side: SideBody, hit: Exchange, asked: Asked): Promise<RecordedAnswer> {
    try {
      const body = await parts.readSide(side);
      const obstacle = obstacleOf(hit, body);
      if (obstacle !== undefined) throw new Error(obstacle);
      return restored(hit, body, asked);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      return refusalOf(unusableText(name, hit, why));
    }
  }

  function given(hit: Exchange, body: TapeBody | undefined, asked: Asked, note: Note): Decided["answer"] {
    const source = `tape:${name}#${hit.i}`;
    if (!isInFile(body)) return { ...restored(hit, body, asked), note, source };
    return load(body, hit, asked).then((it) => ({ ...it, note, source }));
  }

  /** undefined: the tape has no answer after all, and the emulator is to answer. */
  function hitOf({ hit, body }: Hit, asked: Asked, note: Note): Decided | undefined {
    const source = `tape:${name}#${hit.i}`;
    const obstacle = obstacleOf(hit, body);
    if (obstacle !== undefined && onMiss === "emulate") return undefined;
    if (obstacle !== undefined) {
      const detail = unusableText(name, hit, obstacle);
      const answer = { ...refusalOf(detail), note, source };
      return { source: "tape", name: source, delay: 0, answer, rejection: { reason: "tape_miss", detail } };
    }
    const delay = delayOf(timing, hit.res?.ttfb ?? 0);
    const answer = given(hit, body, asked, note);
    return { source: "tape", name: source, delay, answer, rejection: recordedRefusal(source) };
  }

  function missOf(call: C, { miss, target }: Missed, note: Note): Decided | undefined {
    if (onMiss === "emulate") return undefined;
    if (onMiss === "upstream" && parts.forward) {
      const answer = parts.forward(call).then((it) => ({ ...it, note, source: "upstream" }));
      return { source: "tape", name: "upstream", delay: 0, answer };
    }
    const shown = { method: call.method, target };
    const detail = missText(name, shown, miss);
    const source = `tape:${name}`;
    const headers = [...jsonType, "x-phx-miss", printable(miss.route)];
    const answer = { status: missStatus, headers, body: missBody(name, shown, miss), note, source };
    return { source: "tape", name: source, delay: 0, answer, rejection: { reason: "tape_miss", detail } };
  }

  return {
    /** What is to become of the call; undefined: the emulator answers. */
    take(call: C, family: F): Decided | undefined {
      if (isPreflight(call)) return undefined;
      const note = read(call, family);
      const asked = askedOf(call, clientOf(call.headers, note.project));
      if (captureRoutes.includes(routeOf(call.method, call.path))) {
        const { extra } = deck.compareEvents(asked);
        if (extra.length > 0) parts.pass?.(call);
        return undefined;
      }
      const answered = deck.answer(asked);
      return "hit" in answered ? hitOf(answered, asked, note) : missOf(call, answered, note);
    },
  };
}

/** As a header can say it. */
const printable = (text: string): string => text.replace(/[^\x20-\x7e]/g, "?").slice(0, 200);

const jsonType = ["content-type", "application/json"];

/** An answer that cannot be given, in the shape of the service's errors. */
const refusalOf = (detail: string): RecordedAnswer => ({
  status: missStatus,
  headers: jsonType,
  body: JSON.stringify({ type: "server_error", code: "tape_miss", detail, attr: null }),
});
