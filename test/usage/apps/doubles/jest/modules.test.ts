import { beforeEach, expect, jest, test } from "@jest/globals";
import { project, sim } from "phx-sim/jest";

const { name } = { name: "phx-sim/jest" };

beforeEach(() => {
  jest.resetModules();
});

test("modules are reset", async () => {
  const ph = await project();
  const again = require(name);
  expect(await again.sim()).toBe(await sim());
  await expect(await again.project()).not.toHaveBeenContacted();
  await expect(ph).not.toHaveBeenContacted();
});

test("modules are isolated", async () => {
  const ph = await project();
  await jest.isolateModulesAsync(async () => {
    const again = require(name);
    expect(await again.sim()).toBe(await sim());
    await expect(ph).not.toHaveBeenContacted();
  });
});
