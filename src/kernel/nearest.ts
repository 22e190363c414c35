/** Edit distance with swaps of neighbours counted once (optimal string alignment). */
export function distance(a: string, b: string): number {
  let before: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = a[i - 1] === b[j - 1] ? 0 : 1;
      let least = Math.min((previous[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (previous[j - 1] ?? 0) + change);
      if (a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        least = Math.min(least, (before[j - 2] ?? least) + 1);
      row.push(least);
    }
    before = previous;
    previous = row;
  }
  return previous[b.length] ?? 0;
}

/**
 * The known word that was probably meant: at most a third of its letters differ. Undefined when none is
 * near.
 */
export function nearest(word: string, known: readonly string[]): string | undefined {
  if (word.length > 64) return undefined;
  return known
    .map((candidate) => ({ candidate, off: distance(word.toLowerCase(), candidate.toLowerCase()) }))
    .filter(({ candidate, off }) => off <= Math.max(1, Math.floor(candidate.length / 3)))
    .sort((a, b) => a.off - b.off)[0]?.candidate;
}

/** `; did you mean …?`, or nothing. `show` turns the word into what the user would type. */
export function didYouMean(word: string, known: readonly string[], show = (found: string) => found): string {
  const found = nearest(word, known);
  return found === undefined ? "" : `; did you mean ${show(found)}?`;
}
