import { spelledOut } from "../../../src/kernel/base/text.ts";

/** Longer strings are truncated until expanded. */
export const shortText = 4096;

/** A piece of text: plain, an escaped character, or a hit. */
export interface Piece {
  readonly text: string;
  readonly mark: "plain" | "spelled" | "hit";
  /** A line ends after this piece. */
  readonly endsLine: boolean;
}

/**
 * Characters that can hide or reorder text. The joiner inside an emoji is allowed: without it, one picture becomes
 * three.
 */
const unsafe =
  /(?:(?<!\p{Extended_Pictographic}|\p{EMod}|\uFE0F)\u200d|\u200d(?!\p{Extended_Pictographic})|(?!\u200d)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}])/gu;

const spellings: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t", "\0": "\\0" };

const spelling = (character: string): string => spellings[character] ?? spelledOut(character);

const isUnsafe = (text: string): boolean => text.search(unsafe) !== -1;

/** The text on one line with unsafe characters escaped. */
export const visible = (text: string): string => text.replace(unsafe, spelling);

/** At most `limit` characters; surrogate pairs are not split. */
export function cutText(text: string, limit: number = shortText): string {
  if (text.length <= limit) return text;
  const last = text.charCodeAt(limit - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? limit - 1 : limit);
}

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, (it) => `\\${it}`);

/**
 * Matches a search text, ignoring case; undefined for an empty text. The pattern is literal, so it takes linear time.
 */
export const finderOf = (text: string): RegExp | undefined =>
  text.trim() === "" ? undefined : new RegExp(escaped(text.trim()).replaceAll("\\-", "\\x2d"), "giu");

const plain = (text: string, mark: "plain" | "hit"): Piece[] => (text === "" ? [] : [{ text, mark, endsLine: false }]);

/** Pieces of a text without hits. */
function spelledPieces(text: string, mark: "plain" | "hit"): Piece[] {
  const pieces: Piece[] = [];
  let from = 0;
  for (const found of text.matchAll(unsafe)) {
    pieces.push(...plain(text.slice(from, found.index), mark));
    pieces.push({ text: spelling(found[0]), mark: "spelled", endsLine: found[0] === "\n" });
    from = found.index + found[0].length;
  }
  pieces.push(...plain(text.slice(from), mark));
  return pieces;
}

/** A text split into hits, escaped characters and plain text. */
export function piecesOf(text: string, finder?: RegExp): Piece[] {
  if (finder === undefined) return spelledPieces(text, "plain");
  const pieces: Piece[] = [];
  let from = 0;
  for (const found of text.matchAll(finder)) {
    pieces.push(...spelledPieces(text.slice(from, found.index), "plain"));
    pieces.push(...spelledPieces(found[0], "hit"));
    from = found.index + found[0].length;
  }
  pieces.push(...spelledPieces(text.slice(from), "plain"));
  return pieces;
}

const longestLink = 2048;

/** The link target of a captured text: http and https only. */
export function linkOf(text: string): string | undefined {
  if (text.length > longestLink || !/^https?:\/\/\S+$/i.test(text) || isUnsafe(text)) return undefined;
  return URL.canParse(text) ? new URL(text).href : undefined;
}
