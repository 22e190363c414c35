import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { PostHog } from "posthog-node";
import { afterAll, expect, test } from "vitest";
import { startSim } from "../../src/index.ts";
import { blocksOf, readme } from "../support/readme.ts";

const folder = mkdtempSync(join(tmpdir(), "phx-readme-"));
afterAll(() => rmSync(folder, { recursive: true }));

const bin = join(import.meta.dirname, "../../bin/phx-sim.js");

test("the README's YAML scenario", async () => {
  const [example] = blocksOf("yaml", "extends");
  expect(example).toBeDefined();
  const file = join(folder, "shop-test.yaml");
  writeFileSync(file, example ?? "");
  const { stdout } = await promisify(execFile)(process.execPath, [bin, "scenario", "check", file]);
  expect(stdout).toContain("shop-test.yaml");

  await using sim = await startSim({ scenario: file });
  const told = await sim.flags.explain("free-shipping", { distinctId: "anyone", person: { plan: "pro" } });
  expect(told.value).toBe(true);
  expect(await sim.persons.list({ distinct_id: "user-1" })).toMatchObject([{ properties: { plan: "pro" } }]);
});

test("the README's shortest scenario, as a file", async () => {
  const [example] = blocksOf("yaml", "button-color");
  const file = join(folder, "flags.yaml");
  writeFileSync(file, example ?? "");
  await using sim = await startSim({ scenario: file });
  expect((await sim.flags.list()).map((it) => it.key)).toEqual(["new-checkout", "button-color"]);
  expect(await sim.persons.list({ distinct_id: "user-1" })).toMatchObject([{ properties: { plan: "pro" } }]);
});

test("the README's shortest scenario, as an object", async () => {
  await using sim = await startSim({ scenario: { flags: { "new-checkout": true, beta: { rollout: 50 } } } });
  const posthog = new PostHog(sim.apiKey, { host: sim.url });
  expect(await posthog.getFeatureFlag("new-checkout", "user-1")).toBe(true);
  await posthog.shutdown();
});

test("the README names every shipped scenario", () => {
  const shipped = readdirSync(join(import.meta.dirname, "../../scenarios"))
    .filter((file) => !file.includes("schema"))
    .map((file) => file.replace(/\.\w+$/, ""));
  for (const name of shipped) expect(readme()).toContain(`\`${name}\``);
});
