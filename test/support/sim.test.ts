import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { openSim, test } from "./sim.ts";

const shared = await openSim();

describe("the fixture", () => {
  const seen = new Set<string>();

  test.for(["first", "second"])("starts a sim for the %s test alone", async (_, { sim, capture }) => {
    expect(await sim.events.list()).toEqual([]);
    expect([...seen, shared.sim.url]).not.toContain(sim.url);
    seen.add(sim.url);
    expect((await capture({ event: "seen", distinct_id: "u" })).status).toBe(200);
  });

  test("has a project of the sim", async ({ sim, project, post }) => {
    const body = { api_key: project.apiKey, event: "seen", distinct_id: "u" };
    expect((await post("/capture/", body)).status).toBe(200);
    expect(await project.events.list()).toHaveLength(1);
    expect(await sim.events.list({ project: sim.projectId })).toEqual([]);
  });

  test("runs commands in the folder of the test", async ({ folder, cli }) => {
    expect(await cli("init")).toMatchObject({ code: 0, stderr: "" });
    expect(existsSync(join(folder, "scenario.yaml"))).toBe(true);
  });

  describe("with options", () => {
    test.override("options", { dialect: "production" });

    test("starts a sim with these", async ({ get }) => {
      expect(await (await get("/__sim/info")).json()).toMatchObject({ dialect: "production" });
    });
  });
});
