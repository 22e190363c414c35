import { expect, test } from "vitest";
import { startSim } from "../../../src/index.ts";

test("the next runs end as the scenario says, those after them as they would", async () => {
  await using sim = await startSim({
    scenario: {
      version: 1,
      clock: { now: "2026-03-01T12:30:00Z", frozen: true },
      organizations: [
        {
          name: "Org",
          projects: [
            {
              name: "App",
              api_key: "phc_app",
              batch_exports: [
                {
                  name: "Lake",
                  interval: "hour",
                  destination: { type: "S3", config: { bucket_name: "b", region: "r", prefix: "p" } },
                  created_at: "2026-03-01T12:00:00Z",
                  scripted_runs: [
                    { status: "Failed", after: "30s", latest_error: "Access denied" },
                    { status: "TimedOut" },
                  ],
                },
              ],
            },
          ],
        },
      ],
      personal_api_keys: [{ key: "phx_all", scopes: ["*"] }],
    },
  });
  const runs = async () => (await sim.exports.runs()).map(({ status, latest_error }) => [status, latest_error]);

  await sim.clock.advance("30m10s");
  expect(await runs()).toEqual([["Running", null]]);
  await sim.clock.advance("1m");
  expect(await runs()).toEqual([["Failed", "Access denied"]]);
  await sim.clock.advance("2h");
  expect(await runs()).toEqual([
    ["Completed", null],
    ["TimedOut", null],
    ["Failed", "Access denied"],
  ]);
});
