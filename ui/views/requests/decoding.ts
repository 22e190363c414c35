import type { RequestInFull } from "../../api/requests.ts";

/** The received bytes, if they are not the exact text of the JSON. */
export type RawView =
  | { readonly is: "none" }
  | { readonly is: "text"; readonly text: string }
  | { readonly is: "bytes"; readonly lines: readonly HexLine[]; readonly bytes: number }
  | { readonly is: "omitted"; readonly why: string; readonly bytes: number };

export interface HexLine {
  readonly offset: string;
  readonly hex: string;
  readonly text: string;
}

const perLine = 16;
/** Maximum number of shown bytes. */
export const mostBytes = 2_048;

const printable = (byte: number): string => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : "·");

const lineOf = (bytes: Uint8Array, offset: number): HexLine => {
  const part = Array.from(bytes.subarray(offset, offset + perLine));
  return {
    offset: offset.toString(16).padStart(6, "0"),
    hex: part.map((it) => it.toString(16).padStart(2, "0")).join(" "),
    text: part.map(printable).join(""),
  };
};

export const hexLines = (bytes: Uint8Array): HexLine[] =>
  Array.from({ length: Math.ceil(Math.min(bytes.length, mostBytes) / perLine) }, (_, i) =>
    lineOf(bytes.subarray(0, mostBytes), i * perLine),
  );

/** Decoded base64; empty if invalid. */
export function bytesFrom(base64: string): Uint8Array {
  try {
    return Uint8Array.from(atob(base64), (it) => it.charCodeAt(0));
  } catch {
    return new Uint8Array();
  }
}

const whys: Readonly<Record<string, string>> = {
  too_large: "it is too large",
  not_text: "it is not text",
  not_kept: "it was not kept",
  redacted: "it contains secrets that cannot be removed",
};

export const whyText = (why: string): string => (Object.hasOwn(whys, why) ? (whys[why] ?? why) : why);

export function rawView({ raw }: Pick<RequestInFull, "raw">): RawView {
  if (raw === null) return { is: "none" };
  if ("text" in raw) return { is: "text", text: raw.text };
  if ("omitted" in raw) return { is: "omitted", why: whyText(raw.omitted), bytes: raw.bytes };
  const bytes = bytesFrom(raw.base64);
  return { is: "bytes", lines: hexLines(bytes), bytes: bytes.length };
}
