import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { endAll, newFolder, phxSim } from "../support/phx-sim.ts";

afterEach(endAll);

const root = join(import.meta.dirname, "../..");
const output = (name: string): string => readFileSync(join(import.meta.dirname, "output", name), "utf8");

/** `npm run soak:baseline` runs 50. */
const runs = Number(process.env.RUNS ?? 1);

/** A folder with two suites of vitest and what they import. */
function appFolder(): string {
  const folder = newFolder();
  for (const app of ["vitest", "crowd", "shop-app"])
    cpSync(join(import.meta.dirname, "apps", app), join(folder, app), { recursive: true });
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(root, join(folder, "node_modules/phx-sim"));
  for (const name of ["vitest", "posthog-node"])
    symlinkSync(join(root, "node_modules", name), join(folder, "node_modules", name));
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  return folder;
}

const vitest = (folder: string): string[] => [
  process.execPath,
  join(folder, "node_modules/vitest/vitest.mjs"),
  ..."run --sequence.shuffle --config crowd/vitest.config.ts".split(" "),
];

/** The lines of a summary about the baseline. */
const aboutBaseline = (stderr: string): string =>
  /^phx-sim: analytics baseline:[\s\S]*?(?=\n {2}→)/m.exec(stderr)?.[0] ?? "";

test(
  "parallel tests in random order: no changes until the app changes",
  async () => {
    const cwd = appFolder();
    const updated = await phxSim(["baseline", "update", "--", ...vitest(cwd)], { isOwn: true, cwd }).ended;
    expect(updated.stderr).toMatch(/analytics\.baseline\.ndjson is written: \d+ tests/);
    const file = readFileSync(join(cwd, "analytics.baseline.ndjson"), "utf8");
    expect(file).toContain(output("analytics.baseline.ndjson"));

    for (let i = 0; i < runs; i++) {
      const args = ["exec", "--fail-on", "baseline", "--", ...vitest(cwd)];
      const { code, stderr } = await phxSim(args, { isOwn: true, cwd }).ended;
      expect(stderr).toMatch(/analytics baseline: no changes in \d+ tests\n/);
      expect(code).toBe(0);
    }

    const shop = join(cwd, "shop-app/shop.js");
    const changed = readFileSync(shop, "utf8")
      .replace(
        'event: "signup_completed", properties: { plan }',
        'event: "signup_completed", properties: { plan, seats: 1 }',
      )
      .replace("properties: { amount, items }", "properties: { amount, items: items.length }");
    writeFileSync(shop, changed);
    const args = ["exec", "--fail-on", "baseline", "--", ...vitest(cwd)];
    const { code, stderr } = await phxSim(args, { isOwn: true, cwd, env: { PHX_SIM_REPORT: "phx-report" } })
      .ended;
    expect(aboutBaseline(stderr)).toBe(output("baseline.txt").trimEnd());
    expect(stderr).toContain("phx-sim: --fail-on: 2 changes of the analytics baseline");
    expect(code).toBe(1);
    expect(readFileSync(join(cwd, "phx-report/summary.md"), "utf8")).toContain(
      "+ signup_completed: seats is new",
    );

    const from = ["baseline", "update", "--from", "phx-report/analytics.baseline.ndjson"];
    expect((await phxSim(from, { isOwn: true, cwd }).ended).code).toBe(0);
    expect(readFileSync(join(cwd, "analytics.baseline.ndjson"), "utf8")).toContain('"seats":"number"');
  },
  180_000 + runs * 20_000,
);
