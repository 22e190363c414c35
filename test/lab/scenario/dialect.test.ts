import { expect, test } from "vitest";
import { type SimOptions, startSim } from "../../../src/index.ts";

const following = (dialect?: "documented" | "production"): SimOptions["scenario"] => ({
  version: 1,
  ...(dialect && { dialect }),
  organizations: [{ name: "Org", projects: [{ name: "App", api_key: "phc_app" }] }],
  personal_api_keys: [{ key: "phx_all", scopes: ["*"] }],
});

test.each<[string, SimOptions, "documented" | "production", number]>([
  ["no one says anything", { scenario: following() }, "documented", 200],
  ["the scenario says it", { scenario: following("production") }, "production", 400],
  ["the option wins", { scenario: following("production"), dialect: "documented" }, "documented", 200],
])("%s", async (_, options, dialect, status) => {
  await using sim = await startSim(options);
  expect(sim.dialect).toBe(dialect);
  const nameless = JSON.stringify({ api_key: "phc_app", distinct_id: "u" });
  const answer = await sim.handle(new Request(`${sim.url}/capture/`, { method: "POST", body: nameless }));
  expect(answer.status).toBe(status);
});
