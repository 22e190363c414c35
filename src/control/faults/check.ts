import { z } from "zod";
import { SimError } from "../../kernel/errors.ts";
import type { Json, JsonObject } from "../../kernel/json.ts";
import { didYouMean } from "../../kernel/nearest.ts";
import type { FaultOrder as Order } from "../../model/fault.ts";
import { FaultEffect, FaultMatch, FaultOrder } from "../../model/schemas/fault.ts";
import { pointerTo } from "../../scenario/problems.ts";
import { hintFor, phraseOf, sentence } from "../../scenario/sentences.ts";

type Issue = z.core.$ZodIssue;

/** The keys that may stand at a place. */
const keysAt: Readonly<Record<string, readonly string[]>> = {
  "": Object.keys(FaultOrder.shape),
  "/match": Object.keys(FaultMatch.shape),
  "/effect": Object.keys(FaultEffect.shape),
};

const stepOf = (step: PropertyKey): string | number => (typeof step === "number" ? step : String(step));

function valueAt(value: Json | undefined, at: readonly (string | number)[]): Json | undefined {
  let here = value;
  for (const step of at) {
    if (typeof here !== "object" || here === null || !Object.hasOwn(here, step)) return undefined;
    here = (here as Record<string | number, Json>)[step];
  }
  return here;
}

const wrong = (detail: string, pointer: string, hint: string | undefined): SimError =>
  new SimError("invalid_input", detail, hint === undefined ? { pointer } : { pointer, hint });

function unknownKey(key: string, at: string): SimError {
  const known = keysAt[at] ?? [];
  const meant = didYouMean(key, known).replace(/^; /, "");
  return wrong(`unknown key "${key}"`, `${at}/${key}`, meant || `known keys: ${known.join(", ")}`);
}

function errorOf(issue: Issue, body: JsonObject): SimError {
  const path = issue.path.map(stepOf);
  const at = pointerTo(path);
  if (issue.code === "unrecognized_keys") return unknownKey(issue.keys[0] ?? "", at);
  const value = valueAt(body, path);
  const phrase = issue.code === "invalid_key" ? (issue.issues[0]?.message ?? issue.message) : issue.message;
  const shown = issue.code === "invalid_key" ? String(path.at(-1)) : value;
  return wrong(sentence(phrase, shown, path), at, hintFor(issue, value));
}

/** The rule or preset that a body asks for. @throws SimError invalid_input for the first thing that is wrong */
export function orderIn(body: JsonObject): Order {
  const result = FaultOrder.safeParse(body, { error: phraseOf });
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw issue ? errorOf(issue, body) : wrong("this is no fault", "", undefined);
}

/** The shape of such a body, as JSON Schema. */
export function orderSchema(): Record<string, unknown> {
  const { $schema: _, ...schema } = z.toJSONSchema(FaultOrder, { io: "input", unrepresentable: "any" });
  return schema;
}
