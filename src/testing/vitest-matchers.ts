import { expect } from "vitest";
import { simMatchers } from "./matchers.ts";
import type { SimMatchers } from "./types.ts";

declare module "vitest" {
  interface Assertion<T> extends SimMatchers<Promise<void>, T> {}
}

/** As a `setupFiles` entry, or by import: every `expect` of the suite has the matchers. */
expect.extend(simMatchers);
