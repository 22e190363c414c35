/** How long a recorded answer lets wait: not at all, or as recorded, scaled, and at most so long. */
export interface Timing {
  /** Times the recorded time to the first byte; 0: no wait. */
  readonly scale: number;
  /** ms. */
  readonly max: number;
}

/** Whatever was recorded, nobody waits longer, ms. */
const longest = 60_000;

const noWait: Timing = { scale: 0, max: 0 };

export const timingExpected = "none, recorded, scale:N (of the recorded time) or max:N (ms)";

const numberIn = (text: string): number | undefined =>
  /^\d{1,7}(?:\.\d{1,6})?$/.test(text) ? Number(text) : undefined;

/** What may stand before a colon, with the number after it. */
const measured: Readonly<Record<string, (value: number) => Timing>> = {
  scale: (scale) => ({ scale, max: longest }),
  max: (max) => ({ scale: 1, max: Math.min(max, longest) }),
};

const words: Readonly<Record<string, Timing>> = { none: noWait, recorded: { scale: 1, max: longest } };

/** Reads `none`, `recorded`, `scale:0.5`, `max:2000`; undefined when it is none of these. */
export function readTiming(text: string): Timing | undefined {
  if (Object.hasOwn(words, text)) return words[text];
  const [name = "", value = "", ...more] = text.split(":");
  const number = numberIn(value);
  if (more.length > 0 || number === undefined || !Object.hasOwn(measured, name)) return undefined;
  return measured[name]?.(number);
}

/** How long to wait, ms. @param ttfb The recorded time to the answer's first byte, ms */
export function delayOf({ scale, max }: Timing, ttfb: number): number {
  const ms = Math.min(ttfb * scale, max);
  return Number.isFinite(ms) && ms > 0 ? Math.round(ms) : 0;
}
