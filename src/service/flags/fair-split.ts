/** What fair draws give: the middle 95 % of a binomial distribution. */
export interface FairBand {
  readonly expected: number;
  /** 95 of 100 fair draws end between these, both included. */
  readonly low: number;
  readonly high: number;
}

/** Fewer expected on one side say nothing: the band is wider than the difference that one looks for. */
const fewest = 5;
const tail = 0.025;

/** The band of `count` draws with the same share; `share` is in [0, 1]. */
export function fairBand(count: number, share: number): FairBand {
  const expected = count * share;
  if (count === 0 || share <= 0 || share >= 1) return { expected, low: expected, high: expected };
  const odds = Math.log(share) - Math.log1p(-share);
  // in logarithms: the first probabilities of many draws are smaller than the smallest number
  let log = count * Math.log1p(-share);
  let below = 0;
  let low = -1;
  for (let k = 0; k <= count; k++) {
    below += Math.exp(log);
    if (low < 0 && below >= tail) low = k;
    if (below >= 1 - tail) return { expected, low: Math.max(low, 0), high: k };
    log += Math.log((count - k) / (k + 1)) + odds;
  }
  return { expected, low: Math.max(low, 0), high: count };
}

/** What the number of those seen says about the rule. */
export type SplitVerdict = "as_expected" | "unlikely" | "too_few";

export function verdictOf(count: number, share: number, seen: number, { low, high }: FairBand): SplitVerdict {
  if (count * Math.min(share, 1 - share) < fewest) return "too_few";
  return seen < low || seen > high ? "unlikely" : "as_expected";
}
