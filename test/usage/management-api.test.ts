import { PostHog } from "posthog-node";
import { expect, test } from "vitest";
import { parse as parseYaml } from "yaml";
import { startSim } from "../../src/index.ts";
import { blocksOf } from "../support/docs.ts";

test("a dashboard is made, shared and opened", async () => {
  await using sim = await startSim();
  const api = (method: string, path: string, body?: object) =>
    fetch(`${sim.url}/api/projects/${sim.projectId}${path}`, {
      method,
      headers: { authorization: `Bearer ${sim.personalApiKey}`, "content-type": "application/json" },
      ...(body && { body: JSON.stringify(body) }),
    }).then((response) => response.json() as Promise<Record<string, unknown>>);

  const { id } = await api("POST", "/dashboards/", { name: "Launch week", tags: ["launch"] });
  await api("PATCH", `/dashboards/${id}/`, { tiles: [{ text: { body: "## Notes" } }] });
  const { access_token } = await api("PATCH", `/dashboards/${id}/sharing/`, { enabled: true });

  const page = await fetch(`${sim.url}/shared/${access_token}`);
  expect(await page.text()).toContain("Notes");
  expect(await api("POST", "/dashboards/", { restriction_level: 99 })).toEqual({
    type: "validation_error",
    code: "invalid_choice",
    detail: '"99" is not a valid choice.',
    attr: "restriction_level",
  });
});

test("an experiment is made, started and counted", async () => {
  await using sim = await startSim();
  const posthog = new PostHog(sim.apiKey, { host: sim.url });
  const api = (method: string, path: string, body?: object) =>
    fetch(`${sim.url}/api/projects/${sim.projectId}${path}`, {
      method,
      headers: { authorization: `Bearer ${sim.personalApiKey}`, "content-type": "application/json" },
      ...(body && { body: JSON.stringify(body) }),
    }).then((response) => response.json() as Promise<Record<string, unknown>>);

  const { id } = await api("POST", "/experiments/", { name: "Checkout", feature_flag_key: "checkout" });
  const start = new Date().toISOString();
  const { feature_flag, start_date } = await api("PATCH", `/experiments/${id}/`, { start_date: start });

  const variant = await posthog.getFeatureFlag("checkout", "user-1"); // control or test
  await posthog.flush();

  const query = {
    kind: "ExperimentExposureQuery",
    experiment_id: id,
    experiment_name: "Checkout",
    feature_flag,
    start_date,
  };
  const { total_exposures } = await api("POST", "/query/", { query });
  expect(total_exposures).toEqual({ control: 0, test: 0, [String(variant)]: 1 });
  await posthog.shutdown();
});

test("the scenario with an experiment and an early access feature", async () => {
  const [example] = blocksOf("docs/http-api.md", "yaml", "early_access_features");
  expect(example).toBeDefined();
  await using sim = await startSim({ scenario: parseYaml(example ?? "") });
  const get = async (path: string) => {
    const headers = { authorization: `Bearer ${sim.personalApiKey}` };
    return (await fetch(`${sim.url}/api/projects/${sim.projectId}/${path}/`, { headers })).json();
  };
  expect(await get("experiments")).toMatchObject({ results: [{ name: "Checkout", status: "running" }] });
  expect(await get("early_access_feature")).toMatchObject({
    results: [{ name: "Dark mode", feature_flag: { key: "dark-mode" } }],
  });
});

test("the scenario with users and permissions", async () => {
  const [example] = blocksOf("docs/scenarios.md", "json", "batch_exports");
  expect(example).toBeDefined();
  await using sim = await startSim({ scenario: JSON.parse(example ?? "") });
  const get = async (path: string, key: string) => {
    const response = await fetch(sim.url + path, { headers: { authorization: `Bearer ${key}` } });
    return { status: response.status, json: await response.json() };
  };
  expect(await get("/api/projects/1/dashboards/", "phx_reader")).toMatchObject({
    json: {
      count: 1,
      results: [{ name: "Revenue", effective_restriction_level: 37, effective_privilege_level: 21 }],
    },
  });
  expect(await get("/api/projects/1/batch_exports/", "phx_owner")).toMatchObject({
    json: { results: [{ name: "Lake", latest_runs: [{ status: "Failed", latest_error: "Access denied" }] }] },
  });
  expect(await get("/api/projects/1/batch_exports/", "phx_reader")).toMatchObject({ status: 403 });
});
