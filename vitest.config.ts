import { availableParallelism } from "node:os";
import { configDefaults, defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // Run by their own runners (test/usage/runners.test.ts).
    exclude: [...configDefaults.exclude, "test/usage/apps/**"],
    // With two cores vitest would take one worker; tests wait for answers more than they compute.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    // What hangs is found all the same; a busy machine is no failure.
    testTimeout: 60_000,
    expect: { poll: { timeout: 15_000 } },
    hookTimeout: 60_000,
  },
});
