import { z } from "zod";
import { SimError } from "../kernel/errors.ts";
import type { Json, JsonObject } from "../kernel/json.ts";
import { type Path, pointerTo } from "../kernel/json-pointer.ts";
import { didYouMean } from "../kernel/nearest.ts";
import { hintFor, phraseOf, sentence } from "../scenario/sentences.ts";

type Issue = z.core.$ZodIssue;

/** The keys that may stand at a place of a body. */
type KeysAt = (path: Path) => readonly string[];

const stepOf = (step: PropertyKey): string | number => (typeof step === "number" ? step : String(step));

function valueAt(value: Json | undefined, at: Path): Json | undefined {
  let here = value;
  for (const step of at) {
    if (typeof here !== "object" || here === null || !Object.hasOwn(here, step)) return undefined;
    here = (here as Record<string | number, Json>)[step];
  }
  return here;
}

const wrong = (detail: string, pointer: string, hint: string | undefined): SimError =>
  new SimError("invalid_input", detail, hint === undefined ? { pointer } : { pointer, hint });

function unknownKey(key: string, at: Path, known: readonly string[]): SimError {
  const meant = didYouMean(key, known).replace(/^; /, "");
  return wrong(`unknown key "${key}"`, pointerTo([...at, key]), meant || `known keys: ${known.join(", ")}`);
}

function errorOf(issue: Issue, body: JsonObject, keysAt: KeysAt): SimError {
  const path = issue.path.map(stepOf);
  if (issue.code === "unrecognized_keys") return unknownKey(issue.keys[0] ?? "", path, keysAt(path));
  const value = valueAt(body, path);
  const phrase = issue.code === "invalid_key" ? (issue.issues[0]?.message ?? issue.message) : issue.message;
  const shown = issue.code === "invalid_key" ? String(path.at(-1)) : value;
  return wrong(sentence(phrase, shown, path), pointerTo(path), hintFor(issue, value));
}

/** What a body says, by its schema. @throws SimError invalid_input for the first thing that is wrong */
export function checked<T>(schema: z.ZodType<T>, body: JsonObject, keysAt: KeysAt): T {
  const result = schema.safeParse(body, { error: phraseOf });
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw issue ? errorOf(issue, body, keysAt) : wrong("the body cannot be read", "", undefined);
}

/** The shape of a body, as JSON Schema. */
export function schemaOf(schema: z.ZodType): Record<string, unknown> {
  const { $schema: _, ...shape } = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
  return shape;
}
