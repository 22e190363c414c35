/** A signal that ends with the first of these; `release` lets go of them. */
export interface Ending {
  readonly signal: AbortSignal;
  /** Ends it. */
  end(): void;
  release(): void;
}

/**
 * Joins signals. Not `AbortSignal.any`: what it makes is held by signals that live as long as the sim, and there is
 * one for each wait.
 */
export function endingOf(...signals: readonly AbortSignal[]): Ending {
  const controller = new AbortController();
  const end = () => controller.abort();
  for (const signal of signals) {
    if (signal.aborted) end();
    else signal.addEventListener("abort", end);
  }
  return {
    signal: controller.signal,
    end,
    release() {
      for (const signal of signals) signal.removeEventListener("abort", end);
    },
  };
}
