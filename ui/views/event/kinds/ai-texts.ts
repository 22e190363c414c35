import { numberText } from "../../../parts/text.ts";

/** 12 ms, 1.02 s, 3 min 5 s. */
export function secondsText(seconds: number): string {
  if (seconds < 0.1) return `${Number((seconds * 1000).toPrecision(2))} ms`;
  if (seconds < 60) return `${seconds.toFixed(2)} s`;
  return `${numberText(Math.floor(seconds / 60))} min ${Math.floor(seconds % 60)} s`;
}

/** 0.00022 USD. */
export const costText = (usd: number): string =>
  `${usd.toLocaleString("en-US", { maximumSignificantDigits: 3, maximumFractionDigits: 10 })} USD`;
