import type { Page } from "playwright-core";
import type { PostHog } from "posthog-js";
import { PostHog as NodeClient } from "posthog-node";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Sim, SimOptions } from "../../../src/index.ts";
import { experiment, person, document as rulesDocument, targeted } from "../../service/flags/rules/documents.ts";
import { loaders, openPageServer, type PageServer } from "../page-server.ts";
import { type Inspector, inspectorStage } from "./support.ts";

/** The app's own `window`, inside functions that run there. */
declare const window: { posthog: PostHog };

const { open } = inspectorStage();

let app: PageServer;
beforeAll(async () => {
  app = await openPageServer();
});
afterAll(() => app?.[Symbol.asyncDispose]());

const hostile = '<img src=x onerror="alert(1)">\u202e{{1}}';

const scenario: SimOptions["scenario"] = {
  version: 1,
  organizations: [
    {
      name: "Org",
      projects: [
        {
          id: 1,
          name: "Shop",
          api_key: "phc_shop",
          group_types: ["company"],
          persons: [{ distinct_ids: ["otto"], properties: { plan: "free", bio: hostile } }],
          flags: {
            "new-checkout": { variants: { control: 50, test: 50 } },
            "pro-only": {
              filters: {
                groups: [
                  { properties: [{ key: "plan", type: "person", operator: "exact", value: ["pro"] }] },
                  { properties: [], rollout_percentage: 0.001 },
                ],
              },
            },
            stopped: { active: false, filters: { groups: [{ rollout_percentage: 100 }] } },
            [hostile]: { filters: { groups: [{ properties: [{ key: hostile, value: [hostile] }] }] } },
          },
        },
      ],
    },
  ],
  personal_api_keys: [{ key: "phx_shop", scopes: ["*"] }],
};

const start = (hash: string, more: object = {}): Promise<Inspector> => open(hash, { sim: { scenario }, ...more });

const nodeClient = (sim: Sim) =>
  new NodeClient("phc_shop", { host: sim.url, flushAt: 1, flushInterval: 0, featureFlagsRequestTimeoutMs: 10_000 });

const rowOf = (page: Page, key: string) =>
  page.getByRole("row").filter({ has: page.getByRole("link", { name: key, exact: true }) });

describe("posthog-node", () => {
  test("a flag that an app asks for and the project does not have is in the list", async () => {
    await using it = await start("#/flags");
    await rowOf(it.page, "new-checkout").waitFor();
    const sdk = nodeClient(it.sim);
    await sdk.getFeatureFlag("new-chekout", "anna");
    await sdk.flush();
    const row = rowOf(it.page, "new-chekout");
    await row.getByText("no such flag", { exact: true }).waitFor();
    await row.getByText("An app asks for it, and the project has no such flag.").last().waitFor();
    expect(await it.page.getByText("5 flags").count()).toBe(1);
    await sdk.shutdown();
  });

  test("what it is given is seen as it is given, with the reason and what the app did", async () => {
    await using it = await start("#/flags/new-checkout?tab=decisions");
    await it.page.getByText("No decisions yet").waitFor();
    const sdk = nodeClient(it.sim);
    const value = await sdk.getFeatureFlag("new-checkout", "anna");
    const decision = it.page.getByRole("button", { name: /anna/ });
    await decision.getByText(`"${value}"`).waitFor();
    await decision.getByText("matched set 1").waitFor();
    await sdk.flush();
    await decision.getByText("used").waitFor();
    await decision.click();
    await it.page.getByText(`draws "${value}"`).waitFor();
    await it.page.getByText("Uses the request's properties").waitFor();
    await it.page.getByRole("link", { name: /\$feature_flag_called \d+/ }).waitFor();
    await rowOf(it.page, "new-checkout").getByText("×1 used 1").waitFor();
    await sdk.shutdown();
    await it.axe();

    // local evaluation is reported as such
    const local = new NodeClient("phc_shop", { host: it.sim.url, personalApiKey: "phx_shop", flushAt: 1 });
    await local.reloadFeatureFlags();
    await local.getFeatureFlag("new-checkout", "berta");
    await local.shutdown();
    const here = it.page.getByRole("button", { name: /berta/ });
    await here.getByText("evaluated by the SDK").waitFor();
    await here.click();
    await it.page.getByText("SDKs do not report the properties they used").waitFor();
  });

  test("an override set in the page is what it gets next; removed, the rules count again", async () => {
    await using it = await start("#/flags/pro-only?tab=overrides");
    const { page } = it;
    const sdk = nodeClient(it.sim);
    expect(await sdk.getFeatureFlag("pro-only", "otto")).toBe(false);
    await page.getByLabel("true: on").check();
    await page.getByLabel("Payload").fill('{"color": "teal"}');
    await page.getByRole("button", { name: "Set override" }).click();
    await page.getByRole("button", { name: "Remove the override for all users" }).waitFor();
    await rowOf(page, "pro-only").getByText("overridden").waitFor();
    expect(await sdk.getFeatureFlag("pro-only", "otto")).toBe(true);
    expect(await sdk.getFeatureFlagPayload("pro-only", "otto")).toEqual({ color: "teal" });
    await page.getByLabel("false: off").check();
    await page.getByPlaceholder("all users").fill("otto");
    await page.getByLabel("Payload").fill("");
    await page.getByRole("button", { name: "Set override" }).click();
    await page.getByRole("button", { name: "Remove the override for otto" }).waitFor();
    await it.look("flags-overrides");
    expect(await sdk.getFeatureFlag("pro-only", "otto")).toBe(false);
    expect(await sdk.getFeatureFlag("pro-only", "anna")).toBe(true);
    await it.axe();
    await page.getByRole("button", { name: "Remove the override for all users" }).click();
    await page.getByRole("button", { name: "Remove the override for all users" }).waitFor({ state: "detached" });
    expect(await sdk.getFeatureFlag("pro-only", "anna")).toBe(false);
    await page.getByRole("button", { name: "Remove the override for otto" }).click();
    await page.getByText("None: the rules apply").waitFor();
    expect((await it.sim.flags.get("pro-only")).overrides).toEqual([]);
    await sdk.shutdown();
  });
});

test("posthog-js in a page: its decision and its use appear; a use that differs is marked", async () => {
  await using it = await start("#/flags/new-checkout?tab=decisions", { allow: /Content Security Policy/ });
  const { sim } = it;
  app.show(
    loaders["npm bundle"](
      { url: sim.url, apiKey: "phc_shop" },
      { api_host: sim.url, opt_out_useragent_filter: true, request_batching: false, bootstrap: { distinctID: "jan" } },
    ),
  );
  const shop = await it.context.newPage();
  await shop.goto(app.url);
  const decision = it.page.getByRole("button", { name: /jan/ }).first();
  await decision.waitFor();
  await shop.waitForFunction(() => window.posthog.getFeatureFlag("new-checkout") !== undefined);
  await decision.getByText("used").waitFor();
  await shop.evaluate(() => {
    window.posthog.capture("$feature_flag_called", { $feature_flag: "new-checkout", $feature_flag_response: "other" });
  });
  await decision.getByText("app used a different value").waitFor();
  await decision.click();
  await it.page.getByText("The app used a different value than").waitFor();
  await it.look("flags-decision-differs");
  await it.axe();
});

describe("a project's flags", () => {
  let it: Inspector;
  beforeAll(async () => {
    it = await start("#/flags");
  });
  afterAll(() => it?.[Symbol.asyncDispose]());
  beforeEach(async () => {
    await it.dress(1280, "dark");
    await it.go("#/flags");
  });

  test("explain gives the whole trace; what is asked for stays in the address", async () => {
    await it.go("#/flags/pro-only?tab=explain");
    const { page } = it;
    await page.getByRole("button", { name: "Explain" }).click();
    await page.getByText("Enter a distinct id").waitFor();
    await page.getByLabel("Distinct id").fill("otto");
    await page.getByRole("button", { name: "Explain" }).click();
    await page.getByText('— is "free"').waitFor();
    await page
      .getByText(/hash 0\.\d{4} > rollout 0\.00001/)
      .first()
      .waitFor();
    await page.getByRole("heading", { name: "Why not" }).waitFor();
    await it.look("flags-explain");
    await it.axe();
    await page.getByText("Properties, groups, device").click();
    await page.getByLabel("Person properties").fill("{plan: pro}");
    await page.getByRole("button", { name: "Explain" }).click();
    await page.getByText("This is not JSON").waitFor();
    await page.getByLabel("Person properties").fill('{"plan": "pro"}');
    await page.getByRole("button", { name: "Explain" }).click();
    await page.getByText("Matched condition set 1").waitFor();
    await page.reload();
    await page.getByText("Matched condition set 1").waitFor();
    expect(page.url()).toContain("distinct_id=otto");
    await it.go("#/flags/pro-only?tab=explain&distinct_id=otto&person={plan:pro}");
    await page.getByText("This is not JSON").waitFor();
  });

  test("explain reports what an override covers", async () => {
    await it.sim.flags.set("pro-only", true);
    await it.go("#/flags/pro-only?tab=explain&distinct_id=otto");
    await expect(it.page.getByText("Its rules give false").waitFor()).resolves.toBeUndefined();
    await it.sim.flags.unset("pro-only");
  });

  test("the list reports the rules in words, and is gone through with keys", async () => {
    const { page } = it;
    await rowOf(page, "pro-only").getByText('When plan is "pro": everyone gets it.').last().waitFor();
    await rowOf(page, "stopped").getByText("inactive", { exact: true }).waitFor();
    await it.look("flags-list");
    await it.axe();
    await page.keyboard.press("j");
    await page.keyboard.press("j");
    await page.getByRole("heading", { name: "pro-only" }).waitFor();
    await page.keyboard.press("o");
    await page.getByRole("heading", { name: "Active overrides" }).waitFor();
    await page.keyboard.press("r");
    await page.getByText("As JSON").waitFor();
    await it.look("flags-rules");
    await it.axe();
    await page.keyboard.press("Escape");
    await page.getByRole("heading", { name: "pro-only" }).waitFor({ state: "detached" });
    await page.keyboard.press("/");
    await page.keyboard.type("check");
    await page.getByText("1 of 4 flags").waitFor();
    // what is searched for stays in the address, and is all that the keys go through
    expect(page.url()).toContain("q=check");
    await page.keyboard.press("Escape");
    for (const _ of "jj") await page.keyboard.press("j");
    await page.getByRole("heading", { name: "new-checkout" }).waitFor();
    await page.getByText("1 of 4 flags").waitFor();
  });

  test("hostile keys and values stay text", async () => {
    await it.page.getByRole("link", { name: "<img src=x" }).click();
    await it.page.getByText("As JSON").waitFor();
    await it.go(`#/flags/${encodeURIComponent(hostile)}?tab=explain&distinct_id=otto`);
    await it.page.getByText("The trace").waitFor();
    expect(await it.page.locator("img").count()).toBe(0);
    expect(await it.page.locator("body").innerText()).not.toContain("\u202e");
  });

  test.each([
    ["light", 400],
    ["dark", 2560],
  ] as const)("%s, %i px wide", async (theme, width) => {
    await it.dress(width, theme);
    const sdk = nodeClient(it.sim);
    await sdk.getFeatureFlag("new-checkout", `otto-${width}`);
    await sdk.shutdown();
    await it.look(`flags-list-${theme}-${width}`);
    await it.go("#/flags/pro-only?tab=explain&distinct_id=otto");
    await it.page.getByText("The trace").waitFor();
    await it.look(`flags-explain-${theme}-${width}`);
    await it.axe();
    await it.go("#/flags/new-checkout?tab=decisions");
    await it.page.getByRole("button", { name: `otto-${width}` }).click();
    await it.page.getByText("evaluated again now").waitFor();
    await it.look(`flags-decisions-${theme}-${width}`);
    const room = await it.page.evaluate(() => document.documentElement.scrollWidth <= innerWidth);
    expect(room).toBe(true);
  });
});

test("without flags the page says how to get one; a key that no flag has can be overridden", async () => {
  await using it = await open("#/flags?project=7", {
    sim: {
      scenario: {
        version: 1,
        organizations: [{ name: "Org", projects: [{ id: 7, name: "Empty", api_key: "phc_empty" }] }],
        personal_api_keys: [{ key: "phx_empty", scopes: ["*"] }],
      },
    },
    allow: /404/,
  });
  const { page } = it;
  await page.getByText("api_key: phc_empty").waitFor();
  await it.look("flags-empty");
  await it.axe();
  await page.getByLabel("Key", { exact: true }).fill("later");
  await page.getByRole("button", { name: "Override it" }).click();
  await page.getByText('There is no flag "later"').waitFor();
  await page.getByLabel("a variant").check();
  await page.getByLabel("The variant's key").fill("blue");
  await page.getByRole("button", { name: "Set override" }).click();
  await page.getByRole("button", { name: "Remove the override for all users" }).waitFor();
  const sdk = new NodeClient("phc_empty", { host: it.sim.url, flushAt: 1 });
  expect(await sdk.getFeatureFlag("later", "anna")).toBe("blue");
  await sdk.shutdown();
});

declare const document: { documentElement: { scrollWidth: number } };
declare const innerWidth: number;

test("rules of version 2 are shown in words, and each is explained", async () => {
  const split = experiment({
    ...{ rollout_percentage: 100, targeting: { properties: [person()] } },
    holdout: { id: null, seed: "h", exclusion_percentage: 100 },
  });
  const typed = rulesDocument([targeted(true, [person({ value: "vip" })]), split], { default_value: true });
  await using it = await open("#/flags/typed", {
    sim: { scenario: { version: 1, flags: { typed: { filters: typed } } } as SimOptions["scenario"] },
  });
  await it.page.getByText('When plan is "vip": everyone gets true.').last().waitFor();
  await it.page.getByText("Everyone else gets true.").first().waitFor();
  await it.go("#/flags/typed?tab=explain&distinct_id=anna&person=%7B%22plan%22%3A%22pro%22%7D");
  await it.page.getByRole("heading", { name: "Rule 2" }).waitFor();
  await it.page.getByText("100 % are held out").first().waitFor();
  await it.page.getByText("Rule 2 holdout").first().waitFor();
  expect(await it.page.getByRole("heading", { name: /^Rule \d$/ }).count()).toBe(2);
});
