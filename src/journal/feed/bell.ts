import type { TrafficLog } from "../log/traffic-log.ts";

/** Rings when something was written. */
export interface Bell {
  /** Resolves with true once it has rung since the last time it was asked, with false after `ms` or on `end`. */
  rung(ms: number): Promise<boolean>;
  /** Nobody waits any longer. */
  end(): void;
}

export function bellOf(log: Pick<TrafficLog, "subscribe">): Bell {
  let hasRung = false;
  let wake = () => {};
  const stop = log.subscribe(() => {
    hasRung = true;
    wake();
  });
  return {
    async rung(ms) {
      if (!hasRung)
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, ms).unref();
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      wake = () => {};
      const was = hasRung;
      hasRung = false;
      return was;
    },
    end() {
      stop();
      wake();
    },
  };
}
