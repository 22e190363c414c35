import { bytesPerStep, type Stepwise } from "./work.ts";

/** About a millisecond. */
const copiedPerStep = 1024 * 1024;

export function* decodingText(bytes: Buffer): Stepwise<string> {
  const parts: string[] = [];
  for (let from = 0; from < bytes.length; ) {
    let to = Math.min(from + bytesPerStep, bytes.length);
    // not between the bytes of a character, which are four at most
    for (let back = 0; back < 3 && ((bytes[to] ?? 0) & 0xc0) === 0x80; back++) to--;
    parts.push(bytes.toString("utf8", from, to));
    from = to;
    yield;
  }
  return parts.join("");
}

/** The end of a piece of a long text, at most `most` characters behind `from`; never between the halves of a character. */
export function endOfPiece(text: string, from: number, most: number): number {
  const to = from + most;
  const last = text.charCodeAt(to - 1);
  return last >= 0xd800 && last < 0xdc00 ? to - 1 : to;
}

export function* encodingText(text: string): Stepwise<Buffer[]> {
  const parts: Buffer[] = [];
  for (let from = 0; from < text.length; ) {
    const to = endOfPiece(text, from, bytesPerStep);
    parts.push(Buffer.from(text.slice(from, to)));
    from = to;
    yield;
  }
  return parts;
}

export function* joiningBytes(parts: readonly Buffer[]): Stepwise<Buffer> {
  const all = Buffer.allocUnsafe(parts.reduce((sum, it) => sum + it.length, 0));
  let at = 0;
  for (const part of parts)
    for (let from = 0; from < part.length; from += copiedPerStep) {
      at += part.copy(all, at, from, from + copiedPerStep);
      yield;
    }
  return all;
}
