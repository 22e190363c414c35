import type { Verdict } from "./suite.ts";

const ascending = (values: readonly number[]): number[] => values.toSorted((a, b) => a - b);

/** The value below which `share` of the values lie (nearest rank); NaN of nothing. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = ascending(values);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** The middle value, or the mean of the two middle ones; NaN of nothing. */
export function median(values: readonly number[]): number {
  const sorted = ascending(values);
  const upper = sorted[sorted.length >> 1] ?? Number.NaN;
  const lower = sorted[(sorted.length - 1) >> 1] ?? Number.NaN;
  return (lower + upper) / 2;
}

/** Round by round: both halves were measured next to each other, so that a machine that slows down shifts neither. */
const pairedRatios = (values: readonly number[], base: readonly number[]): number[] =>
  values.map((value, round) => value / (base[round] ?? Number.NaN));

/** The median of the rounds' ratios. */
export const pairedRatio = (values: readonly number[], base: readonly number[]): number =>
  median(pairedRatios(values, base));

/** The lowest and the highest of the rounds' ratios: how much the median is worth. */
export function pairedRange(values: readonly number[], base: readonly number[]): string {
  const ratios = pairedRatios(values, base);
  return `${figure(Math.min(...ratios))}–${figure(Math.max(...ratios))}`;
}

const signs = { atLeast: "≥", atMost: "≤" } as const;

/** Holds a figure against its bar. A figure that could not be measured (NaN) does not meet it. */
export function hold(what: string, measured: number, sense: keyof typeof signs, bar: number, unit = "×"): Verdict {
  const met = sense === "atLeast" ? measured >= bar : measured <= bar;
  return { what, bar: `${signs[sense]} ${bar} ${unit}`, measured: `${figure(measured)} ${unit}`, met };
}

/** A number with three significant digits, thousands grouped; a dash when it could not be measured. */
export function figure(value: number): string {
  if (!Number.isFinite(value)) return "–";
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString("en-US");
  return Math.abs(value) >= 10 ? value.toFixed(1) : value.toFixed(2);
}

/** How a cost rises with a size. */
export type Growth = "flat" | "logarithmic" | "linear" | "unknown";

/** The line of least squares: its value at an x, and the sum of its squared errors. */
function fitLine(xs: readonly number[], ys: readonly number[]) {
  const mean = (values: readonly number[]): number => values.reduce((sum, it) => sum + it, 0) / values.length;
  const [x0, y0] = [mean(xs), mean(ys)];
  const covariance = mean(xs.map((x, i) => (x - x0) * ((ys[i] ?? Number.NaN) - y0)));
  const slope = covariance / mean(xs.map((x) => (x - x0) ** 2));
  const at = (x: number): number => y0 + slope * (x - x0);
  return { at, error: xs.reduce((sum, x, i) => sum + ((ys[i] ?? Number.NaN) - at(x)) ** 2, 0) };
}

/** A fit that rises by less than this factor from the smallest to the biggest size is flat. */
const flatRise = 1.25;

/**
 * The better fit of costs by a + b·ln(size) and a + b·size, unless it is flat or falls.
 * @param sizes Ascending, at least three
 */
export function growthOf(sizes: readonly number[], costs: readonly number[]): Growth {
  if (sizes.length < 3 || costs.some((it) => !Number.isFinite(it))) return "unknown";
  const logarithms = sizes.map(Math.log);
  const [linear, logarithmic] = [fitLine(sizes, costs), fitLine(logarithms, costs)];
  const isLinear = linear.error < logarithmic.error;
  const [fit, xs] = isLinear ? [linear, sizes] : [logarithmic, logarithms];
  const [first, last] = [fit.at(xs[0] ?? Number.NaN), fit.at(xs.at(-1) ?? Number.NaN)];
  if (last <= flatRise * first) return "flat";
  return isLinear ? "linear" : "logarithmic";
}
