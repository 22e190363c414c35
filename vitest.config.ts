import { configDefaults, defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // Run by their own runners (test/usage/runners.test.ts).
    exclude: [...configDefaults.exclude, "test/usage/apps/**"],
    testTimeout: 20_000,
    hookTimeout: 60_000,
  },
});
