/** Counts the application's requests in flight, so that "nothing more is coming" can be told from "not yet". */
export interface Gauge {
  begin(): void;
  end(): void;
  readonly inFlight: number;
  /** Resolves when nothing has been in flight for `idleMs`; rejects through the signal. */
  quiet(idleMs: number, signal: AbortSignal): Promise<void>;
}

export function createGauge(): Gauge {
  let inFlight = 0;
  const changed = new Set<() => void>();
  const change = (by: number) => {
    inFlight += by;
    if (changed.size === 0) return;
    for (const listener of [...changed]) listener();
  };
  return {
    get inFlight() {
      return inFlight;
    },
    begin: () => change(1),
    end: () => change(-1),
    quiet(idleMs, signal) {
      return new Promise((resolve, reject) => {
        let timer: NodeJS.Timeout | undefined;
        const stop = () => {
          clearTimeout(timer);
          changed.delete(look);
          signal.removeEventListener("abort", abort);
        };
        const abort = () => {
          stop();
          reject(signal.reason);
        };
        const done = () => {
          stop();
          resolve();
        };
        const look = () => {
          clearTimeout(timer);
          timer = inFlight === 0 ? setTimeout(done, idleMs) : undefined;
        };
        if (signal.aborted) return abort();
        signal.addEventListener("abort", abort);
        changed.add(look);
        look();
      });
    },
  };
}
