import { setImmediate as turn } from "node:timers/promises";
import { performance } from "./real-time.ts";

/** Work in steps. It yields where other calls may have a turn; a promise that it yields is waited for. */
export type Work<T> = Generator<Promise<unknown> | undefined, T, void>;

export type Stepwise<T> = Generator<undefined, T, void>;

/** A slice ends after this much time, ms, or after this many steps: no turn of the event loop takes much longer. */
const sliceMs = 8;
const sliceSteps = 100;

/** Items that are cheap enough to be one step. */
export const itemsPerStep = 64;

export function* eachInSteps<T>(items: Iterable<T>, see: (item: T) => void): Stepwise<void> {
  let count = 0;
  for (const item of items) {
    if (count++ % itemsPerStep === 0) yield;
    see(item);
  }
}

/** Bytes of text that are cheap enough to be one step. */
export const bytesPerStep = 128 * 1024;

function slice<T>(work: Work<T>): IteratorResult<Promise<unknown> | undefined, T> {
  const until = performance.now() + sliceMs;
  for (let steps = 1; ; steps++) {
    const next = work.next();
    if (next.done || next.value || steps === sliceSteps || performance.now() > until) return next;
  }
}

async function goOn<T>(work: Work<T>, first: Promise<unknown> | undefined): Promise<T> {
  for (let wait = first; ; ) {
    await (wait ?? turn());
    const next = slice(work);
    if (next.done) return next.value;
    wait = next.value;
  }
}

/** Does work that fits into one slice at once, all other work in several turns of the event loop. */
export function inSlices<T>(work: Work<T>): T | Promise<T> {
  const first = slice(work);
  return first.done ? first.value : goOn(work, first.value);
}

/** Does all of it now; the work must not wait for anything. */
export function atOnce<T>(work: Work<T>): T {
  for (;;) {
    const next = work.next();
    if (next.done) return next.value;
    if (next.value) throw new Error("work that waits cannot be done at once");
  }
}

export function* waitFor<T>(promise: Promise<T>): Work<T> {
  let result: { value: T } | undefined;
  let failure: { error: unknown } | undefined;
  yield promise.then(
    (value) => {
      result = { value };
    },
    (error: unknown) => {
      failure = { error };
    },
  );
  if (result) return result.value;
  throw failure?.error;
}

export function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
