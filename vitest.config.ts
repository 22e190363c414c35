import { availableParallelism } from "node:os";
import { configDefaults, defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Files that take longer than their size says: where they came last, they would be waited for alone. */
const isSlow = ({ moduleId }: TestSpecification): boolean =>
  /\/test\/(?:usage\/|.*\/(?:every-command|exec|record-modes|legible|scale|requests)\.test|contract\/generated|.*\/differential\/)/.test(
    moduleId,
  );

class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return [...sorted.filter(isSlow), ...sorted.filter((it) => !isSlow(it))];
  }
}

const every = "test/**/*.test.ts";
// Run by their own runners (test/usage/runners.test.ts).
const foreign = [...configDefaults.exclude, "test/usage/apps/**"];

/** What changes this process's sockets and variables, or measures its memory. */
const apart = [
  "test/{action,lab/egress,testing,tools/check,usage}/**/*.test.ts",
  "test/service/batch-exports/volume.test.ts",
];

export default defineConfig({
  test: {
    projects: [
      // Loading the sim anew for each file would take as long as all their tests.
      { extends: true, test: { name: "together", include: [every], exclude: [...foreign, ...apart], isolate: false } },
      { extends: true, test: { name: "apart", include: apart, exclude: foreign } },
    ],
    setupFiles: "test/support/set-up.ts",
    // What was built runs as it is.
    server: { deps: { external: [/\/dist\//] } },
    // With two cores vitest would take one worker; tests wait for answers more than they compute.
    maxWorkers: Math.max(3, availableParallelism() - 1),
    sequence: { sequencer: SlowFirst },
    // One limit, for tests that hang: a busy machine must not fail the suite.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 60_000 }, requireAssertions: true },
  },
});
