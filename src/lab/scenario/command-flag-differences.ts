import { isObject, type Json, own } from "../../kernel/base/json.ts";
import { clean, cleanJson } from "../../kernel/command/clean-text.ts";
import type { Sim } from "../../sim/types.ts";
import type { Exchange } from "../tapes/format/exchange.ts";
import { pathOf } from "../tapes/format/routes.ts";
import { fillBody } from "../tapes/redact/bind.ts";
import { flagAnswersIn } from "./from-tape/flag-answers.ts";
import type { TapeScenario } from "./from-tape/tape-scenario.ts";

type Value = boolean | string | undefined;

/** A flag for which the scenario and the tape have different values. */
interface Difference {
  readonly flag: string;
  readonly subject: string;
  readonly made: Value;
  readonly recorded: Value;
}

const maxRequests = 5_000;

/** Sends a decoded body to the scenario's sim. */
async function answerOf(sim: Sim, path: string, body: Json): Promise<Json | undefined> {
  const headers = { "content-type": "application/json" };
  const request = new Request(`${sim.url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  const answer = await sim.handle(request);
  return answer.ok ? JSON.parse(await answer.text()) : undefined;
}

/** The recorded request's JSON body with the scenario's keys, if it has one. */
function bodyOf({ req }: Exchange, keys: TapeScenario["keys"]): Json | undefined {
  if (req.method.toUpperCase() !== "POST" || req.body === undefined) return undefined;
  const filled = fillBody(req.body, ({ text }) => keys.get(text) ?? text);
  return "json" in filled ? filled.json : undefined;
}

/** Repeats the tape's captures and flag requests in a sim of the scenario, in order, and compares the decisions. */
export async function flagDifferences(
  sim: Sim,
  keys: TapeScenario["keys"],
  exchanges: AsyncIterable<Exchange>,
): Promise<Difference[]> {
  const found = new Map<string, Difference>();
  let sent = 0;
  for await (const exchange of exchanges) {
    const { route, res } = exchange;
    const isDecision = route === "flags" && res?.status === 200;
    const body = isDecision || route === "capture" ? bodyOf(exchange, keys) : undefined;
    if (body === undefined) continue;
    if (sent++ >= maxRequests) break;
    const answer = await answerOf(sim, isDecision ? "/flags/?v=2" : pathOf(exchange.req.url), body);
    if (!isDecision || answer === undefined) continue;
    const values = new Map(flagAnswersIn(answer).map(([flag, { value }]) => [flag, value]));
    const subject = isObject(body) ? String(own(body, "distinct_id") ?? "") : "";
    const recorded = res?.body && "json" in res.body ? res.body.json : undefined;
    for (const [flag, { value }] of flagAnswersIn(recorded)) {
      const made = values.get(flag);
      if (made !== value) found.set(JSON.stringify([flag, subject]), { flag, subject, made, recorded: value });
    }
  }
  return [...found.values()];
}

const maxLines = 20;

const valueText = (value: Value): string => (value === undefined ? "no answer" : cleanJson(value, 80));

/** @param isPersonal True if ids on the tape are stand-ins: rollouts depend on the id */
export function differenceLines(all: readonly Difference[], isPersonal: boolean): string[] {
  if (all.length === 0) return [];
  const more = all.length - maxLines;
  return [
    ...all
      .slice(0, maxLines)
      .map(
        ({ flag, subject, made, recorded }) =>
          `flag ${clean(flag, 80)}, subject ${clean(subject, 120)}: the scenario's definition gives ${valueText(made)}, the tape has ${valueText(recorded)}`,
      ),
    ...(more > 0 ? [`… and ${more} more flags and subjects`] : []),
    ...(isPersonal ? ["ids on this tape are stand-ins (--redact pii): rollouts go by the id, and may differ"] : []),
  ];
}
