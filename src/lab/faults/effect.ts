import { headersWithout } from "../../kernel/http/reply.ts";
import { type Answer, answerOf } from "./answer.ts";
import type { CallFacts } from "./call-facts.ts";
import type { FaultEffect, Quota, ScriptedResult } from "./shapes.ts";

interface Outgoing {
  status: number;
  headers: string[];
  body: string | Buffer | null;
}

/** What an effect does to a call apart from its delay (delay.ts). */
export interface Effect {
  readonly answer?: Answer;
  readonly change?: <R extends Outgoing>(reply: R) => R;
  readonly transport?: "reset" | "hang" | "truncate";
  readonly flags?: "partial" | readonly string[];
  readonly quota?: readonly Quota[];
  readonly results?: ScriptedResult;
}

/** A body that is not JSON. */
const garbage = '{"status":"Ok",,,\ufffd\u0000<html>';

const isBare = ({ body }: Outgoing): boolean => body === null || body.length === 0;

const garbled = <R extends Outgoing>(reply: R): R =>
  isBare(reply)
    ? reply
    : { ...reply, body: garbage, headers: headersWithout(reply.headers, (name) => name === "content-length") };

const noAnswer = (): Answer => ({ status: 0, headers: [], body: null });

const damages: Readonly<Record<string, Effect>> = { garbage: { change: garbled }, truncate: { transport: "truncate" } };

const isEvaluation = ({ path, method }: CallFacts): boolean =>
  method === "POST" && (path === "/flags" || path === "/decide");

const isDefinitions = ({ path, method }: CallFacts): boolean =>
  method === "GET" && (path === "/flags/definitions" || path.endsWith("/local_evaluation"));

const isRecording = ({ path }: CallFacts): boolean => path === "/s";

const spends: Readonly<Record<Quota, (facts: CallFacts) => boolean>> = {
  events: (facts) => facts.family.startsWith("capture") && facts.method !== "HEAD" && !isRecording(facts),
  recordings: isRecording,
  feature_flags: (facts) => isEvaluation(facts) || isDefinitions(facts),
};

/** The effect on a call; undefined if it does not concern it. `{}`: a latency alone. */
export function effectFor(effect: FaultEffect, facts: CallFacts): Effect | undefined {
  const { status, socket, body, flags, quota, results } = effect;
  if (status !== undefined) return { answer: answerOf(status, facts.family, body, effect.headers ?? {}) };
  if (socket !== undefined) {
    return effect.after === true ? { transport: socket } : { transport: socket, answer: noAnswer() };
  }
  if (typeof body === "string") return damages[body];
  if (flags !== undefined) return isEvaluation(facts) ? { flags } : undefined;
  if (results !== undefined) return facts.family === "capture-v1" ? { results } : undefined;
  if (quota === undefined) return {};
  const spent = quota.filter((it) => spends[it](facts));
  return spent.length > 0 ? { quota: spent } : undefined;
}
