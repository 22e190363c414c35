import type { FaultEffect, Quota } from "../model/fault.ts";
import { type Answer, answerOf } from "./answer.ts";

/** What is known of a call before it is handled. */
export interface CallFacts {
  readonly method: string;
  /** Without query and trailing slash. */
  readonly path: string;
  /** Which clients the endpoint talks to (http/endpoint.ts). */
  readonly family: string;
  /** Whose call it is, as far as its key or path tells; looked for only when a rule asks. */
  project(): number | null;
}

/** An answer on its way out. */
interface Outgoing {
  status: number;
  headers: string[];
  body: string | Buffer | null;
}

/** What an effect does to a call, besides making it wait; see the request core's `CallFault`. */
export interface Blow {
  readonly answer?: Answer;
  readonly change?: <R extends Outgoing>(reply: R) => R;
  readonly transport?: "reset" | "hang" | "truncate";
  readonly flags?: "partial" | readonly string[];
  readonly quota?: readonly Quota[];
}

/** What stands in a place where JSON should. */
const garbage = '{"status":"Ok",,,\ufffd\u0000<html>';

const isBare = ({ body }: Outgoing): boolean => body === null || body.length === 0;

const garbled = <R extends Outgoing>(reply: R): R =>
  isBare(reply) ? reply : { ...reply, body: garbage, headers: withoutLength(reply.headers) };

/** Name and value of the length that an answer may have brought along. */
const withoutLength = (flat: readonly string[]): string[] =>
  flat.filter((_, i) => flat[i - (i % 2)]?.toLowerCase() !== "content-length");

const nobody = (): Answer => ({ status: 0, headers: [], body: null });

const damages: Readonly<Record<string, Blow>> = {
  garbage: { change: garbled },
  truncate: { transport: "truncate" },
};

const isEvaluation = ({ path, method }: CallFacts): boolean =>
  method === "POST" && (path === "/flags" || path === "/decide");

const isDefinitions = ({ path, method }: CallFacts): boolean =>
  method === "GET" && (path === "/flags/definitions" || path.endsWith("/local_evaluation"));

const isRecording = ({ path }: CallFacts): boolean => path === "/s";

/** Which calls know that something is used up. */
const spends: Readonly<Record<Quota, (facts: CallFacts) => boolean>> = {
  events: (facts) => facts.family.startsWith("capture") && facts.method !== "HEAD" && !isRecording(facts),
  recordings: isRecording,
  feature_flags: (facts) => isEvaluation(facts) || isDefinitions(facts),
};

/** What the effect does to a call; undefined when it has nothing to do with it. A latency alone does nothing else. */
export function blowOf(effect: FaultEffect, facts: CallFacts): Blow | undefined {
  const { status, socket, body, flags, quota } = effect;
  if (status !== undefined) return { answer: answerOf(status, facts.family, body, effect.headers ?? {}) };
  if (socket !== undefined) {
    return effect.after === true ? { transport: socket } : { transport: socket, answer: nobody() };
  }
  if (typeof body === "string") return damages[body];
  if (flags !== undefined) return isEvaluation(facts) ? { flags } : undefined;
  if (quota === undefined) return {};
  const spent = quota.filter((it) => spends[it](facts));
  return spent.length > 0 ? { quota: spent } : undefined;
}

/** How long the effect makes a call wait, ms. */
export function delayOf({ latency = 0, jitter = 0 }: FaultEffect, random: () => number): number {
  return jitter === 0 ? latency : Math.max(0, Math.round(latency + (random() * 2 - 1) * jitter));
}
