import { isAscii, isUtf8 } from "node:buffer";
import { SimError } from "../kernel/errors.ts";
import { undecodable } from "../kernel/inflate.ts";
import { isTooDeep, type Json } from "../kernel/json.ts";
import { maskKeys } from "../kernel/secrets.ts";

/** A body as JSON: its text, which fits on one line of a file, and its value. */
export interface JsonText {
  text: string;
  /** The same text as bytes, where it is verbatim. */
  bytes: Buffer | undefined;
  value: Json;
  /** Were keys masked in it? They must reach neither the journal nor a person's properties. */
  redacted: boolean;
}

const unparsable = (why: string, cause?: unknown): SimError =>
  new SimError("unparsable_payload", `failed to parse request: ${why}`, { cause });

/** Bytes as text. @throws SimError undecodable_payload when they are not UTF-8 */
export function utf8Text(bytes: Buffer): string {
  // Most bodies are ASCII, and then copying is four times as fast as decoding.
  if (isAscii(bytes)) return bytes.toString("latin1");
  if (!isUtf8(bytes)) throw undecodable("invalid UTF8 in request payload");
  return bytes.toString("utf8");
}

/**
 * Parses UTF-8 and keeps the text verbatim unless it has line breaks (then it is written anew).
 * @throws SimError undecodable_payload when it is not UTF-8; unparsable_payload for what is not JSON, or
 * deeper than the service reads
 */
export function parseJson(bytes: Buffer): JsonText {
  const text = utf8Text(bytes);
  const value = parsed(text);
  if (isTooDeep(value)) throw unparsable("recursion limit exceeded");
  const plain = hasEscapedLetters(text) ? JSON.stringify(value) : text;
  const masked = maskKeys(plain);
  const redacted = masked !== plain;
  const isVerbatim = !redacted && !text.includes("\n") && !text.includes("\r");
  if (isVerbatim) return { text, bytes, value, redacted };
  const kept = redacted ? parsed(masked) : value;
  return { text: JSON.stringify(kept), bytes: undefined, value: kept, redacted };
}

/** Are there letters that nobody has to escape? A key may be written so. */
const hasEscapedLetters = (text: string): boolean => text.includes("\\u00") && /\\u00[2-7]/.test(text);

function parsed(text: string): Json {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw unparsable(cause instanceof Error ? cause.message : "not JSON", cause);
  }
}
