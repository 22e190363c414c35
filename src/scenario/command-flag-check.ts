import { isObject, type Json, own } from "../base/json.ts";
import { clean } from "../cli/clean-text.ts";
import type { Sim, TapeScenario } from "../index.ts";
import type { Exchange } from "../tapes/format/exchange.ts";
import { pathOf } from "../tapes/format/routes.ts";
import { fillBody } from "../tapes/redact/bind.ts";

type Value = boolean | string | undefined;

/** Where the scenario gives a subject another value of a flag than the tape has. */
interface Disagreement {
  readonly flag: string;
  readonly subject: string;
  readonly made: Value;
  readonly recorded: Value;
}

/** The values in an answer: `flags` with details, or `featureFlags`, by name or as a list. */
function valuesIn(body: Json | undefined): Map<string, Value> {
  if (!isObject(body)) return new Map();
  const { flags, featureFlags } = body;
  if (isObject(flags)) return new Map(Object.entries(flags).map(([name, it]) => [name, detailed(it)]));
  if (isObject(featureFlags))
    return new Map(Object.entries(featureFlags).map(([name, it]) => [name, plain(it)]));
  return new Map(Array.isArray(featureFlags) ? featureFlags.map((it) => [String(it), true]) : []);
}

const plain = (value: Json): Value =>
  typeof value === "boolean" || typeof value === "string" ? value : undefined;

function detailed(it: Json): Value {
  if (!isObject(it)) return undefined;
  return plain(own(it, "variant") ?? null) ?? own(it, "enabled") === true;
}

/** So many requests are tried; a longer tape says no more about its flags. */
const mostAsked = 5_000;

/** Sends the decoded body of a recorded request to the scenario's sim, with the scenario's keys. */
async function answerOf(sim: Sim, path: string, body: Json): Promise<Json | undefined> {
  const headers = { "content-type": "application/json" };
  const request = new Request(`${sim.url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  const answer = await sim.handle(request);
  return answer.ok ? JSON.parse(await answer.text()) : undefined;
}

/** The recorded request's body with the scenario's keys; undefined: it has none that is JSON. */
function bodyOf({ req }: Exchange, keys: TapeScenario["keys"]): Json | undefined {
  if (req.method.toUpperCase() !== "POST" || req.body === undefined) return undefined;
  const filled = fillBody(req.body, ({ text }) => keys.get(text) ?? text);
  return "json" in filled ? filled.json : undefined;
}

/** Repeats in a sim of the scenario what the tape captured and asked about flags, in its order. */
export async function flagDisagreements(
  sim: Sim,
  keys: TapeScenario["keys"],
  exchanges: AsyncIterable<Exchange>,
): Promise<Disagreement[]> {
  const found = new Map<string, Disagreement>();
  let asked = 0;
  for await (const exchange of exchanges) {
    const { route, res } = exchange;
    const isAsking = route === "flags" && res?.status === 200;
    const body = isAsking || route === "capture" ? bodyOf(exchange, keys) : undefined;
    if (body === undefined) continue;
    if (asked++ >= mostAsked) break;
    const answer = await answerOf(sim, isAsking ? "/flags/?v=2" : pathOf(exchange.req.url), body);
    if (!isAsking || answer === undefined) continue;
    const made = valuesIn(answer);
    const subject = isObject(body) ? String(own(body, "distinct_id") ?? "") : "";
    for (const [flag, recorded] of valuesIn(res?.body && "json" in res.body ? res.body.json : undefined)) {
      if (made.get(flag) === recorded) continue;
      found.set(JSON.stringify([flag, subject]), { flag, subject, made: made.get(flag), recorded });
    }
  }
  return [...found.values()];
}

const mostTold = 20;

const valueText = (value: Value): string =>
  value === undefined ? "no answer" : clean(JSON.stringify(value), 80);

/** What is told of them. @param isPersonal Are ids on the tape stand-ins? Shares of a rollout go by the id */
export function disagreementLines(all: readonly Disagreement[], isPersonal: boolean): string[] {
  if (all.length === 0) return [];
  const more = all.length - mostTold;
  return [
    ...all
      .slice(0, mostTold)
      .map(
        ({ flag, subject, made, recorded }) =>
          `flag ${clean(flag, 80)}, subject ${clean(subject, 120)}: the scenario's definition gives ${valueText(made)}, the tape has ${valueText(recorded)}`,
      ),
    ...(more > 0 ? [`… and ${more} more flags and subjects`] : []),
    ...(isPersonal
      ? ["ids on this tape are stand-ins (--redact pii): rollouts go by the id, and may differ"]
      : []),
  ];
}
