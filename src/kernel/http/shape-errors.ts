import type { z } from "zod";
import type { SimError } from "../base/errors.ts";
import { type Json, type Path, pointerTo, valueAt } from "../base/json.ts";
import { meantOf } from "../base/nearest.ts";
import { safeParse } from "../base/safe-parse.ts";
import { invalid } from "./control-body.ts";
import { anotherValue, hintFor, phraseOf, sentence } from "./schema-messages.ts";

type Issue = z.core.$ZodIssue;

type PointerTo = (path: Path) => string;

const stepOf = (step: PropertyKey): string | number => (typeof step === "number" ? step : String(step));

type Def = {
  readonly type: string;
  readonly innerType?: z.core.$ZodType;
  readonly in?: z.core.$ZodType;
  readonly element?: z.core.$ZodType;
  readonly valueType?: z.core.$ZodType;
  readonly options?: readonly z.core.$ZodType[];
  readonly shape?: Readonly<Record<string, z.core.$ZodType>>;
};

/** The shapes that a value at a place may have; unions have several. */
function shapesAt(shape: z.core.$ZodType, [step, ...rest]: Path): z.core.$ZodType[] {
  const def = shape._zod.def as unknown as Def;
  const below = def.innerType ?? def.in;
  const at: Path = step === undefined ? [] : [step, ...rest];
  if (below !== undefined) return shapesAt(below, at);
  if (def.options !== undefined) return def.options.flatMap((it) => shapesAt(it, at));
  if (step === undefined) return [shape];
  const next = def.element ?? def.valueType ?? (Object.hasOwn(def.shape ?? {}, step) ? def.shape?.[step] : undefined);
  return next === undefined ? [] : shapesAt(next, rest);
}

const keysAt = (shape: z.core.$ZodType, path: Path): string[] =>
  shapesAt(shape, path).flatMap((it) => Object.keys((it._zod.def as unknown as Def).shape ?? {}));

function unknownKey(key: string, known: readonly string[], pointer: string): SimError {
  const meant = meantOf(key, known, (it) => it);
  const hint = known.length === 0 ? "it takes none" : `known keys: ${known.join(", ")}`;
  return invalid(`unknown key "${key}"`, pointer, meant ?? hint);
}

/** For a union without a phrase of its own: the mistake in the option for values of this type. */
function issueInUnion(issue: Issue): Issue {
  if (issue.code !== "invalid_union" || issue.message !== anotherValue) return issue;
  const issues = issue.errors.flatMap(([first]) => first ?? []);
  const isOtherType = ({ code, path }: Issue) => code === "invalid_type" && path.length === 0;
  const inner = issues.find((it) => !isOtherType(it));
  if (inner) return issueInUnion({ ...inner, path: [...issue.path, ...inner.path] });
  return { ...issue, message: issues.map(({ message }) => message).join(" or ") };
}

function errorOf(given: Issue, value: Json, shape: z.ZodType, pointer: PointerTo): SimError {
  const issue = issueInUnion(given);
  const path = issue.path.map(stepOf);
  if (issue.code === "unrecognized_keys") {
    const key = issue.keys[0] ?? "";
    return unknownKey(key, keysAt(shape, path), pointer([...path, key]));
  }
  if (issue.code === "custom" && typeof issue.params?.detail === "string") {
    const { detail, hint } = issue.params;
    return invalid(detail, pointer(path), typeof hint === "string" ? hint : undefined);
  }
  const found = valueAt(value, path);
  const phrase = issue.code === "invalid_key" ? (issue.issues[0]?.message ?? issue.message) : issue.message;
  const shown = issue.code === "invalid_key" ? String(path.at(-1)) : found;
  return invalid(sentence(phrase, shown, path), pointer(path), hintFor(issue, found));
}

/** @param pointer Of an error's place (default: a JSON pointer) @throws SimError invalid_input for the first mistake */
export function parseShape<T>(shape: z.ZodType<T>, value: Json, pointer: PointerTo = pointerTo): T {
  const result = safeParse(shape, value, { error: phraseOf });
  if (result.success) return result.data;
  const { issues } = result.error;
  // a misspelt key explains a missing one
  const issue = issues.find(({ code }) => code === "unrecognized_keys") ?? issues[0];
  throw issue ? errorOf(issue, value, shape, pointer) : invalid("the value cannot be read", pointer([]), undefined);
}
