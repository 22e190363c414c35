import { PostHog } from "posthog-node";
import { expect, test } from "vitest";
import { type Sim, startSim } from "../../src/index.ts";

/** Creates an hourly export, as your application or its Terraform would. */
async function createHourlyExport(sim: Sim): Promise<void> {
  const response = await fetch(`${sim.url}/api/projects/${sim.projectId}/batch_exports/`, {
    method: "POST",
    headers: { authorization: `Bearer ${sim.personalApiKey}`, "content-type": "application/json" },
    body: JSON.stringify({
      name: "Hourly",
      interval: "hour",
      destination: {
        type: "S3",
        config: {
          bucket_name: "warehouse",
          region: "eu-central-1",
          prefix: "events",
          aws_access_key_id: "key",
          aws_secret_access_key: "secret",
        },
      },
    }),
  });
  expect(response.status).toBe(201);
}

test("an hour of events is exported", async () => {
  await using sim = await startSim({ clock: { now: "2026-03-04T09:30:00Z", frozen: true } });
  const posthog = new PostHog(sim.apiKey, { host: sim.url });
  posthog.capture({ distinctId: "user-1", event: "signed_up" });
  posthog.capture({ distinctId: "user-1", event: "paid", properties: { amount: 20 } });
  await posthog.shutdown();
  await createHourlyExport(sim);

  const happened = await sim.clock.advance("1h");
  expect(happened.map((it) => it.kind)).toEqual(["run_started", "run_completed"]);

  const [run] = await sim.exports.runs();
  expect(run).toMatchObject({ name: "Hourly", status: "Completed", records_completed: 2 });
  const file = new TextDecoder().decode(await sim.exports.file(run?.id ?? ""));
  const lines = file.trim().split("\n");
  expect(lines.map((line) => JSON.parse(line).event)).toEqual(["signed_up", "paid"]);
});

/** Asks for the run's interval once more, as the button in the app does. */
async function retry(sim: Sim, run: { id: string; batch_export: string }): Promise<void> {
  const path = `batch_exports/${run.batch_export}/runs/${run.id}/retry/`;
  const response = await fetch(`${sim.url}/api/projects/${sim.projectId}/${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${sim.personalApiKey}` },
  });
  expect(response.status).toBe(200);
}

test("a run fails, and is retried", async () => {
  await using sim = await startSim({ clock: { now: "2026-03-04T09:30:00Z", frozen: true } });
  const posthog = new PostHog(sim.apiKey, { host: sim.url });
  posthog.capture({ distinctId: "user-1", event: "signed_up" });
  await posthog.shutdown();
  await createHourlyExport(sim);
  await sim.clock.advance("1h");
  for (const run of await sim.exports.runs()) await retry(sim, run);

  const [waiting] = await sim.exports.runs({ status: "Starting" });
  const outcome = { after: "30s", status: "Failed", latest_error: "Access denied" } as const;
  await sim.exports.script(waiting?.id ?? "", outcome);
  await sim.clock.advance("30s");
  const [failed] = await sim.exports.runs();
  expect(failed).toMatchObject({ status: "Failed", latest_error: "Access denied", files: [] });

  if (failed) await retry(sim, failed);
  await sim.exports.tick();
  expect((await sim.exports.runs()).map((it) => it.status)).toEqual(["Completed", "Failed", "Completed"]);
});
