import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { PostHog } from "posthog-node";
import { expect, test } from "vitest";
import { startSim } from "../../src/index.ts";
import { blocksOf } from "../support/docs.ts";
import { newFolder } from "../support/folder.ts";

const folder = newFolder();

const bin = join(import.meta.dirname, "../../bin/phx-sim.js");

test("the scenario that extends another", async () => {
  const [example] = blocksOf("docs/scenarios.md", "yaml", "extends");
  expect(example).toBeDefined();
  const file = join(folder, "shop-test.yaml");
  writeFileSync(file, example ?? "");
  const { stdout } = await promisify(execFile)(process.execPath, [bin, "scenario", "check", file]);
  expect(stdout).toContain("shop-test.yaml");

  await using sim = await startSim({ scenario: file });
  const reported = await sim.flags.explain("free-shipping", {
    distinctId: "anyone",
    person: { plan: "pro" },
  });
  expect(reported.value).toBe(true);
  expect(await sim.persons.list({ distinct_id: "user-1" })).toMatchObject([{ properties: { plan: "pro" } }]);
});

test("the shortest scenario, as a file", async () => {
  const [example] = blocksOf("docs/scenarios.md", "yaml", "button-color");
  const file = join(folder, "flags.yaml");
  writeFileSync(file, example ?? "");
  await using sim = await startSim({ scenario: file });
  expect((await sim.flags.list()).map((it) => it.key)).toEqual(["new-checkout", "button-color"]);
  expect(await sim.persons.list({ distinct_id: "user-1" })).toMatchObject([{ properties: { plan: "pro" } }]);
});

test("the shortest scenario, as an object", async () => {
  await using sim = await startSim({ scenario: { flags: { "new-checkout": true, beta: { rollout: 50 } } } });
  const posthog = new PostHog(sim.apiKey, { host: sim.url });
  expect(await posthog.getFeatureFlag("new-checkout", "user-1")).toBe(true);
  await posthog.shutdown();
});
