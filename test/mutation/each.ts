import { beforeEach, expect, inject, vi } from "vitest";

declare module "vitest" {
  interface ProvidedContext {
    mutation: { tests: string[] };
  }
}

// Each mutant has modules of its own, so that tables that are built at loading change, too.
vi.resetModules();
Object.assign(globalThis, {
  activeMutant: Number(/mutant=(\d+)/.exec(expect.getState().testPath ?? "")?.[1]),
});
let failed = false;
beforeEach((context) => {
  if (failed) context.skip();
  context.onTestFailed(() => {
    failed = true;
  });
});
for (const file of inject("mutation").tests) await import(/* @vite-ignore */ file);
