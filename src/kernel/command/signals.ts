export type Signal = "SIGINT" | "SIGTERM" | "SIGHUP";

const signals: readonly Signal[] = ["SIGINT", "SIGTERM", "SIGHUP"];

/** Package runners and process groups deliver the same Ctrl-C several times; within this time they count as one. */
const sameMs = 1000;

export interface SignalSource {
  on(signal: Signal, listener: () => void): unknown;
}

/** A request to stop: the sim calls `onStop`, which resolves `stopped`. */
export function stopRequest(): { onStop: () => void; stopped: Promise<"ok"> } {
  let onStop = () => {};
  const stopped = new Promise<"ok">((resolve) => {
    onStop = () => resolve("ok");
  });
  return { onStop, stopped };
}

/** Resolves at the first signal. Repeats within a second are ignored; a later one calls `force`. */
export function untilSignal(
  source: SignalSource,
  force: (signal: Signal) => void,
  now: () => number = Date.now,
): Promise<Signal> {
  return new Promise((resolve) => {
    let first: number | undefined;
    const hear = (signal: Signal): void => {
      if (first === undefined) {
        first = now();
        resolve(signal);
      } else if (now() - first >= sameMs) {
        force(signal);
      }
    };
    for (const signal of signals) source.on(signal, () => hear(signal));
  });
}
