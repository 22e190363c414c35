import { isAscii, isUtf8 } from "node:buffer";
import { SimError } from "../../kernel/base/errors.ts";
import { isObject, isTooDeep, type Json, maxDepth } from "../../kernel/base/json.ts";
import { code, endOfString, mostNodes, smallText, TooManyNodes } from "../../kernel/base/json-bounds.ts";
import { charactersPerStep, parsingJson } from "../../kernel/base/json-turns.ts";
import { maskKeys } from "../../kernel/base/secrets.ts";
import { bytesPerStep, type Work } from "../../kernel/base/work.ts";
import { undecodable } from "../../kernel/codec/inflate.ts";
import type { JsonText } from "../../state/journal/traffic.ts";
import { withExactIds } from "./exact-ids.ts";

const unparsable = (why: string, cause?: unknown): SimError =>
  new SimError("unparsable_payload", `failed to parse request: ${why}`, { cause });

/** Bytes as text. @throws SimError undecodable_payload if they are not UTF-8 */
export function utf8Text(bytes: Buffer): string {
  // most bodies are ASCII, and then copying is four times as fast as decoding
  if (isAscii(bytes)) return bytes.toString("latin1");
  if (!isUtf8(bytes)) throw undecodable("invalid UTF8 in request payload");
  return bytes.toString("utf8");
}

/**
 * Parses UTF-8 and keeps the text, reformatted only if it has line breaks or keys. The items of a large batch are
 * parsed a few at a time.
 * @throws SimError undecodable_payload if it is not UTF-8; unparsable_payload if it is not JSON, or nested too deeply
 */
export function* parseJson(bytes: Buffer): Work<JsonText> {
  const text = utf8Text(bytes);
  if (bytes.length > bytesPerStep) yield;
  if (bytes.length > smallText) {
    const batch = yield* cutBatch(text);
    const made = batch && (yield* parseBatch(text, bytes, batch));
    if (made) return made;
  }
  const { value, hasExactIds } = yield* parsedInSteps(text);
  if (isTooDeep(value)) throw unparsable(tooDeep);
  const { kept, redacted, isVerbatim } = cleaned(text, value);
  const size = bytes.length;
  if (isVerbatim) return { text, bytes, value, redacted, hasExactIds, size };
  return { text: JSON.stringify(kept), bytes: undefined, value: kept, redacted, hasExactIds, size };
}

const tooDeep = "recursion limit exceeded";

/** The JSON without keys. `isVerbatim`: the text is as sent. */
function cleaned(text: string, value: Json): { kept: Json; redacted: boolean; isVerbatim: boolean } {
  const plain = hasEscapedLetters(text) ? JSON.stringify(value) : text;
  const masked = maskKeys(plain);
  const redacted = masked !== plain;
  const isVerbatim = !redacted && !text.includes("\n") && !text.includes("\r");
  return { kept: redacted ? parsed(masked).value : value, redacted, isVerbatim };
}

/** The places of a body's items: the array's brackets, and commas between items, one for each step. */
interface Batch {
  readonly open: number;
  readonly close: number;
  readonly cuts: readonly number[];
  /** True if the array is the whole body; else it is the value of `batch`. */
  readonly isRoot: boolean;
}

/** Finds the items of a body without parsing it; undefined if that is uncertain: the body is then parsed as a whole. */
function* cutBatch(text: string): Work<Batch | undefined> {
  const cuts: number[] = [];
  let [depth, inside, open, close] = [0, 0, -1, -1];
  let key = "";
  let nodes = 0;
  let stepFrom = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === code.quote) {
      const start = at;
      at = endOfString(text, at);
      if (depth !== 1) continue;
      key = text.slice(start, at + 1);
      // with escapes it may be another `batch`
      if (key.includes("\\") && isKey(text, at + 1)) return undefined;
    } else if (char === code.open || char === code.brace) {
      if (++depth > maxDepth) throw unparsable(tooDeep);
      if (++nodes > mostNodes) throw tooManyNodes(new TooManyNodes(mostNodes));
      const isBatch = char === code.open && (depth === 1 || (depth === 2 && key === '"batch"'));
      if (isBatch && inside === 0) {
        if (open !== -1) return undefined;
        [open, inside] = [at, depth];
      }
    } else if (char === code.close || char === code.end) {
      if (depth-- === inside && inside !== 0) [close, inside] = [at, 0];
    } else if (char === code.comma && depth === inside && inside !== 0) {
      if (at - (cuts.at(-1) ?? open) > bytesPerStep) cuts.push(at);
    }
    if (at - stepFrom < charactersPerStep) continue;
    stepFrom = at;
    yield;
  }
  return close === -1 ? undefined : { open, close, cuts, isRoot: text.slice(0, open).trim() === "" };
}

function isKey(text: string, end: number): boolean {
  let at = end;
  while (/\s/.test(text.charAt(at))) at++;
  return text.charAt(at) === ":";
}

/** Parses the part around the items, then the items; undefined if a second `batch` replaces the first. */
function* parseBatch(text: string, bytes: Buffer, { open, close, cuts, isRoot }: Batch): Work<JsonText | undefined> {
  const around = text.slice(0, open + 1) + text.slice(close);
  const outer = parsed(around).value;
  if (!isRoot && !(isObject(outer) && isEmptyList(outer.batch))) return undefined;
  const shell = cleaned(around, outer);
  const items: Json[] = [];
  const texts: string[] = [];
  let { isVerbatim, redacted } = shell;
  let hasExactIds = false;
  for (const [i, end] of [...cuts, close].entries()) {
    yield;
    const from = (cuts[i - 1] ?? open) + 1;
    const part = `[${text.slice(from, end)}]`;
    const { value: values, hasExactIds: isExact } = yield* parsedInSteps(part, from);
    hasExactIds ||= isExact;
    if (cuts.length > 0 && isEmptyList(values)) throw unparsable(`an item is missing at character ${from}`);
    const made = cleaned(part, values);
    for (const item of Array.isArray(made.kept) ? made.kept : []) items.push(item);
    isVerbatim &&= made.isVerbatim;
    redacted ||= made.redacted;
    texts.push(made.isVerbatim ? part.slice(1, -1) : JSON.stringify(made.kept).slice(1, -1));
  }
  yield;
  const value = isObject(shell.kept) ? { ...shell.kept, batch: items } : items;
  const size = bytes.length;
  if (isVerbatim) return { text, bytes, value, redacted, hasExactIds, size };
  const list = `[${texts.join(",")}]`;
  const fields = isObject(shell.kept) ? Object.entries(shell.kept) : [];
  const inner = fields.map(
    ([name, field]) => `${JSON.stringify(name)}:${name === "batch" ? list : JSON.stringify(field)}`,
  );
  const kept = isRoot ? list : `{${inner.join(",")}}`;
  yield;
  return { text: kept, bytes: Buffer.from(kept), value, redacted, hasExactIds, size };
}

const isEmptyList = (value: Json | undefined): boolean => Array.isArray(value) && value.length === 0;

/** True if letters are escaped without need: a key may be written this way. */
const hasEscapedLetters = (text: string): boolean => text.includes("\\u00") && /\\u00[2-7]/.test(text);

const tooManyNodes = (cause: TooManyNodes): SimError =>
  new SimError("payload_too_large", `failed to parse request: ${cause.message}`, { cause });

function failure(cause: unknown, from: number): SimError {
  if (cause instanceof TooManyNodes) return tooManyNodes(cause);
  const why = cause instanceof Error ? cause.message : "not JSON";
  return unparsable(from === 0 ? why : `from character ${from}: ${why}`, cause);
}

interface Parsed {
  readonly value: Json;
  readonly hasExactIds: boolean;
}

function parsed(text: string, from = 0): Parsed {
  try {
    const exact = withExactIds(text);
    return { value: JSON.parse(exact ?? text), hasExactIds: exact !== undefined };
  } catch (cause) {
    throw failure(cause, from);
  }
}

function* parsedInSteps(text: string, from = 0): Work<Parsed> {
  if (text.length <= smallText) return parsed(text, from);
  try {
    const exact = withExactIds(text);
    return { value: yield* parsingJson(exact ?? text), hasExactIds: exact !== undefined };
  } catch (cause) {
    throw failure(cause, from);
  }
}
