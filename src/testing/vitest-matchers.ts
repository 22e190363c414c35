import { expect } from "vitest";
import type { SimMatchers } from "./matchers/matcher.ts";
import { simMatchers } from "./matchers/matchers.ts";

declare module "vitest" {
  interface Assertion<T> extends SimMatchers<Promise<void>, T> {}
}

/** As a `setupFiles` entry, or by import: adds the matchers to every `expect` of the suite. */
expect.extend(simMatchers);
