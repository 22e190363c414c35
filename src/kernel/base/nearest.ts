/**
 * Edit distance with swaps of neighbours counted once (optimal string alignment). Own code because the kept packages
 * (fastest-levenshtein, js-levenshtein) count a swap twice: `prot` would no longer suggest `port`.
 */
export function distance(a: string, b: string): number {
  let before: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = a[i - 1] === b[j - 1] ? 0 : 1;
      let least = Math.min((previous[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (previous[j - 1] ?? 0) + change);
      if (a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) least = Math.min(least, (before[j - 2] ?? least) + 1);
      row.push(least);
    }
    before = previous;
    previous = row;
  }
  return previous[b.length] ?? 0;
}

/** The known word that was probably meant: at most a third of its letters differ. Undefined when none is near. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  if (word.length > 64) return undefined;
  return known
    .map((candidate) => ({ candidate, off: distance(word.toLowerCase(), candidate.toLowerCase()) }))
    .filter(({ candidate, off }) => off <= Math.max(1, Math.floor(candidate.length / 3)))
    .sort((a, b) => a.off - b.off)[0]?.candidate;
}

/** `did you mean …?` if a known word is near. `show` turns the word into what the user would type. */
export function meantOf(
  word: string,
  known: readonly string[],
  show: (found: string) => string = JSON.stringify,
): string | undefined {
  const found = nearest(word, known);
  return found === undefined ? undefined : `did you mean ${show(found)}?`;
}

/** The same as the end of a sentence, `; did you mean …?`, or nothing. */
export function didYouMean(word: string, known: readonly string[], show = (found: string) => found): string {
  const meant = meantOf(word, known, show);
  return meant === undefined ? "" : `; ${meant}`;
}

/** Enough for the first mistakes among thousands of names. */
const mostComparisons = 100_000;

/** Suggests corrections for many words, up to a total number of comparisons. */
export function createGuesses() {
  let left = mostComparisons;
  return {
    /** @param known The words to search, of which there are `count`. */
    meant(word: string, known: () => readonly string[], count: number) {
      if (count > left) return undefined;
      left -= count;
      return meantOf(word, known());
    },
  };
}
