import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { newFolder } from "../../support/folder.ts";
import { type Inspector, inspectorStage } from "./support.ts";

const stage = inspectorStage();
const folder = newFolder();

describe("the world of a team", () => {
  let it: Inspector;
  beforeAll(async () => {
    it = await stage.open("#/world", { sim: { scenario: "saas-team" } });
  });
  afterAll(() => it?.[Symbol.asyncDispose]());
  beforeEach(() => it.dress(1280, "dark"));

  test("accounts: organizations, projects, members", async () => {
    await it.go("#/world");
    const world = (await (await fetch(`${it.sim.url}/__sim/world`)).json()) as {
      organizations: { name: string; projects: { name: string }[] }[];
    };
    for (const { name, projects } of world.organizations) {
      await it.page.getByRole("heading", { name, exact: true }).waitFor();
      for (const project of projects) await it.page.getByRole("article", { name: `Project ${project.name}` }).waitFor();
    }
    await it.look("world-accounts");
    await it.axe();
  });

  test("keys are masked until one asks", async () => {
    await it.go("#/world/keys");
    const key = String((await it.sim.info()).personal_api_key);
    await it.page.getByRole("heading", { name: "Personal keys" }).waitFor();
    expect(await it.page.content()).not.toContain(key);
    await it.page.getByRole("row").getByRole("button", { name: "Show" }).first().click();
    await it.page.getByText(key, { exact: true }).waitFor();
    // the same button hides it: the focus stays
    await it.page.keyboard.press("Enter");
    await it.page.getByText(key, { exact: true }).waitFor({ state: "detached" });
    await it.look("world-keys");
    await it.axe();
  });

  test("the dialect, with every difference", async () => {
    await it.dress(1280, "light");
    await it.go("#/world/dialect");
    await it.page.getByRole("heading", { name: "The documented dialect is active" }).waitFor();
    expect(await it.page.getByRole("row").count()).toBeGreaterThan(10);
    await it.look("world-dialect-light");
    await it.axe();
  });

  test.each([
    [400, "dark"],
    [2560, "light"],
  ] as const)("%i px, %s: nothing sticks out", async (width, theme) => {
    await it.dress(width, theme);
    for (const part of ["", "/keys", "/dialect", "/scenario"]) {
      await it.go(`#/world${part}`);
      await it.page.getByRole("heading").first().waitFor();
      await it.look(`world${part.replace("/", "-")}-${width}`);
      const overflow = await it.page.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      );
      expect([part, overflow]).toEqual([part, 0]);
    }
    await it.axe();
  });
});

test("a scenario file that is wrong: the banner, and where the mistake is", async () => {
  const file = join(folder, "shop.json");
  const good = {
    version: 1,
    organizations: [{ name: "Org", projects: [{ name: "Shop", api_key: "phc_w" }] }],
    personal_api_keys: [{ key: "phx_test", scopes: ["*"] }],
  };
  writeFileSync(file, JSON.stringify(good));
  await using it = await stage.open("#/world/scenario", { sim: { scenario: file, onChange: "merge" } });
  await it.page.getByRole("heading", { name: "No mistakes" }).waitFor();
  writeFileSync(file, JSON.stringify({ ...good, orgs: [] }, null, 2));
  await it.page.getByRole("alert").filter({ hasText: "The scenario has 1 mistake" }).waitFor();
  await it.page.getByText(/unknown key "orgs"/).waitFor();
  await it.page.getByText(/shop\.json:\d+:\d+/).waitFor();
  await it.look("world-scenario");
  writeFileSync(file, JSON.stringify(good));
  await expect(it.page.getByRole("heading", { name: "No mistakes" }).waitFor()).resolves.toBeUndefined();
});

test("a scenario file that is edited: the banner says what changed, the view lists it with its warnings", async () => {
  const file = join(folder, "edited.json");
  writeFileSync(file, JSON.stringify({ flags: { first: true } }));
  await using it = await stage.open("#/world/scenario", { sim: { scenario: file, onChange: "merge" } });
  await it.page.getByRole("heading", { name: "No mistakes" }).waitFor();
  const banner = it.page.getByRole("alert").filter({ hasText: "The edited scenario was applied" });
  expect(await banner.count()).toBe(0);

  writeFileSync(file, JSON.stringify({ flags: { second: { variants: { x: 50, y: 40 } } } }));
  await banner.getByText("flag added (second), flag removed (first)").waitFor();
  await it.page.getByRole("heading", { name: /^Last edit: / }).waitFor();
  await it.page.getByRole("listitem").filter({ hasText: "flag removed" }).getByText("first").waitFor();
  await it.page.getByRole("heading", { name: "1 warning" }).waitFor();
  await it.page.getByText(/the variants add up to 90/).waitFor();
  await it.look("world-scenario-edited");
  await it.axe();
  await banner.getByRole("button", { name: "Dismiss" }).click();
  await banner.waitFor({ state: "detached" });
});

declare const document: { documentElement: { scrollWidth: number; clientWidth: number } };
