import { Worker } from "node:worker_threads";
import { beforeEach, expect, inject, vi } from "vitest";

declare module "vitest" {
  interface ProvidedContext {
    mutation: { tests: string[]; patience: number };
  }
}

const { tests, patience } = inject("mutation");

/** Kills this process when its event loop is blocked; one watch for all mutants that it runs. */
function watch(): void {
  const beats = new Int32Array(new SharedArrayBuffer(4));
  setInterval(() => {
    Atomics.add(beats, 0, 1);
    Atomics.notify(beats, 0);
  }, 1000).unref();
  const code = `const { beats, patience } = require("node:worker_threads").workerData;
    while (Atomics.wait(beats, 0, beats[0], patience) !== "timed-out");
    process.kill(process.pid, "SIGKILL");`;
  new Worker(code, { eval: true, workerData: { beats, patience } }).unref();
}
if (!("isWatched" in globalThis)) {
  watch();
  Object.assign(globalThis, { isWatched: true });
}

// Each mutant has modules of its own, so that tables that are built at loading change, too.
vi.resetModules();
Object.assign(globalThis, { activeMutant: Number(/mutant=(\d+)/.exec(expect.getState().testPath ?? "")?.[1]) });
let failed = false;
beforeEach((context) => {
  if (failed) context.skip();
  context.onTestFailed(() => {
    failed = true;
  });
});
for (const file of tests) await import(/* @vite-ignore */ file);
