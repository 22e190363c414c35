/** A piece of a sentence about rules. */
export interface WordPiece {
  readonly text: string;
  readonly isValue: boolean;
}

/** Values in quotes, percentages, and what is decided. */
const value = /"(?:[^"\\]|\\.)*"…?|\d+(?:\.\d+)? %|\b(?:true|false)\b/g;

/** A sentence with its values apart; a value without its quotes would be the same text as a word. */
export function valuePieces(sentence: string): WordPiece[] {
  const pieces: WordPiece[] = [];
  let from = 0;
  for (const found of sentence.matchAll(value)) {
    if (found.index > from) pieces.push({ text: sentence.slice(from, found.index), isValue: false });
    pieces.push({ text: found[0], isValue: true });
    from = found.index + found[0].length;
  }
  if (from < sentence.length) pieces.push({ text: sentence.slice(from), isValue: false });
  return pieces;
}
