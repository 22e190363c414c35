import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startSim } from "../../../src/index.ts";
import { flagScenario, overrideSnippets } from "../../../ui/views/flags/snippets.ts";
import { newFolder } from "../../support/folder.ts";

test("the scenario that the empty page shows can be started, with the keys that it names", async () => {
  const folder = newFolder();
  const file = join(folder, "scenario.yaml");
  writeFileSync(file, flagScenario("phc_shop", "phx_shop"));
  await using sim = await startSim({ scenario: file });
  expect([sim.apiKey, sim.personalApiKey]).toEqual(["phc_shop", "phx_shop"]);
  const flags = await sim.flags.list();
  expect(flags.map((it) => it.key)).toEqual(["new-checkout", "beta", "pro-only", "button-color"]);
});

test("the call names the sim's own address", () => {
  const call = overrideSnippets("http://127.0.0.1:4711").find(({ label }) => label === "curl");
  expect(call?.text).toContain("curl -X PUT http://127.0.0.1:4711/__sim/flags/new-checkout");
});
