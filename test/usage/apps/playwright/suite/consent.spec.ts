import { expect, test } from "../app/test.ts";

// the project counts visitors without cookies
test.use({ phxProject: { settings: { cookieless_server_hash_mode: 2 } } });

test("nothing is sent or stored before the user accepts", async ({ page, ph }) => {
  await page.goto("/consent?after-consent");
  await page.getByRole("button", { name: "Buy" }).click();

  await expect(ph).not.toHaveBeenContacted();
  await expect(page).toHaveStored([]);

  await page.getByRole("button", { name: "Accept" }).click();
  await expect(ph).toHaveBeenContacted();
  await expect(page).toHaveStored(["ph_*"]);
});

test("nothing is sent after the user has declined", async ({ page, ph }) => {
  await page.goto("/consent?opt-in");
  await expect(ph).toHaveCaptured("$pageview");

  await page.getByRole("button", { name: "Decline" }).click();
  await ph.settle();
  const since = await ph.requests.mark();
  await page.getByRole("button", { name: "Buy" }).click();
  await expect(ph).not.toHaveBeenContacted({ since });
  await expect(page).toHaveStored(["ph_*", "__ph_opt_in_out_*"]);
});

test("cookieless: events are sent, nothing is stored", async ({ page, context, ph }) => {
  await page.goto("/consent?cookieless");
  await page.getByRole("button", { name: "Buy" }).click();
  await expect(ph).toHaveCaptured("checkout_completed");
  await expect(context).toHaveStored([]);
});

test("opted out by default: no event, but the SDK asks for its configuration, and stores", async ({
  page,
  ph,
}) => {
  await page.goto("/consent?opt-out");
  await page.getByRole("button", { name: "Buy" }).click();
  await expect(ph).not.toHaveCaptured("checkout_completed");
  await expect(expect(ph).not.toHaveBeenContacted()).rejects.toThrow(
    / config: GET \/array\/[\s\S]+ flags: POST \/flags\//,
  );
  await expect(expect(page).toHaveStored([], { timeoutMs: 0 })).rejects.toThrow(
    /"ph_phc_\w+_posthog" in cookie of 127\.0\.0\.1\n[\s\S]+ in sessionStorage of http:/,
  );

  await page.getByRole("button", { name: "Accept" }).click();
  await page.getByRole("button", { name: "Buy" }).click();
  await expect(ph).toHaveCaptured("checkout_completed");
});

test("cookieless on reject: the decision is the only thing that is stored", async ({ page, ph }) => {
  await page.goto("/consent?on-reject");
  await expect(ph).not.toHaveCaptured("$pageview");
  await expect(page).toHaveStored([]);
  await page.getByRole("button", { name: "Decline" }).click();
  await page.getByRole("button", { name: "Buy" }).click();
  await expect(ph).toHaveCaptured("checkout_completed", { $cookieless_mode: true });
  await expect(page).toHaveStored([/^__ph_opt_in_out_/]);
});

test("persistence in memory: events are sent, nothing is stored", async ({ page, ph }) => {
  await page.goto("/consent?memory");
  await page.getByRole("button", { name: "Buy" }).click();
  await expect(ph).toHaveCaptured("checkout_completed");
  await expect(page).toHaveStored([]);
});

test("what is stored and was not expected is named, and what is missing", async ({ page, context, ph }) => {
  await page.goto("/consent?after-consent");
  await page.evaluate("localStorage.setItem('__ph_opt_in_out_x', 'secret')");
  await page.evaluate("localStorage.setItem('cart', 'not of PostHog')");
  const wrong = expect(page).toHaveStored(["ph_*"], { timeoutMs: 0 });
  const text = await wrong.then(String, String);
  expect(text).toMatch(/"__ph_opt_in_out_x" in localStorage of http:[\s\S]+not stored: "ph_\*"/);
  expect(text).not.toMatch(/secret|cart/);
  await expect(expect(context).not.toHaveStored(["*"], { timeoutMs: 0 })).rejects.toThrow(
    "__ph_opt_in_out_x",
  );
  await expect(expect(ph as never as typeof page).toHaveStored([])).rejects.toThrow(
    /expect\(\) needs a page or a context/,
  );
  await expect(expect(page).toHaveStored("ph_*" as never)).rejects.toThrow(/give a list of names/);
  await expect(expect(page).toHaveStored([], { timeout: 1 } as never)).rejects.toThrow(
    /unknown option "timeout"/,
  );
});
