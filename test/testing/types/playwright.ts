import { mergeExpects, expect as plain } from "@playwright/test";
import { type AttachableProject, type Attachment, attach, expect, test } from "phx-sim/playwright";

test.use({ phxProject: { flags: { beta: "test" } }, phxAttach: { hosts: ["/ingest"], allowEscapes: ["/mine"] } });
test.use({ phxAttach: false });

export const suite = test("types", async ({ page, context, browser, ph, sim }) => {
  const project: AttachableProject = ph;
  const attachment: Attachment = await ph.attach(await browser.newContext(), { disguise: false });
  await attach(page, ph);
  await attach(context, sim);
  await attachment.detach();
  const done: Promise<void> = expect(project).toHaveCaptured("signed_up", { plan: expect.any(String) });
  await done;
  await expect(sim).not.toHaveCaptured({ event: /^\$/ }, {}, { since: 3, settleMs: 0 });
  await expect(ph).toHaveCapturedTimes("a", 2, { b: 1 }, { timeoutMs: 10 });
  await expect(ph).toHaveServedFlag("beta", "test", { distinctId: "anna" });
  await expect(page).toHaveTitle("Shop");
  await expect(ph).not.toHaveBeenContacted({ since: await ph.requests.mark() });
  await expect(page).toHaveStored(["ph_*", /^__ph_/], { timeoutMs: 1 });
  await expect(context).not.toHaveStored([]);
  await expect.soft(page, "nothing stored").toHaveStored([]);
  const blocked: readonly { method: string; url: string }[] = attachment.blocked();
  await ph.attach(page, { adBlocked: blocked.map(({ url }) => url) });
  using guard = sim.guard({ hosts: ["e.example.com"] });
  guard.verify();

  await expect.soft(ph, "signed up").toHaveCaptured("a", { amount: { "@gte": 3 } });
  await mergeExpects(expect, plain)(ph).toHaveCaptured("a");
  await expect(ph.url).toBe(sim.url);

  // @ts-expect-error only a project or a sim has the matchers
  await expect("text").toHaveCaptured("a");
  // @ts-expect-error only a project or a sim has the matchers
  await expect(page).toHaveCaptured("a");
  // @ts-expect-error only a page or a context has the matcher
  await expect(ph).toHaveStored([]);
  // @ts-expect-error a list is wanted
  await expect(page).toHaveStored("ph_*");
  // @ts-expect-error there is no such operator
  await expect(ph).toHaveCaptured("a", { amount: { "@gtee": 3 } });
  // @ts-expect-error there is no such operator
  await expect(ph).not.toHaveCapturedTimes("a", 2, { amount: { "@gtee": 3 } });
  // @ts-expect-error there is no such operator
  await expect.soft(sim).toHaveCaptured("a", { amount: { "@gtee": 3 } });
  // @ts-expect-error there is no such option
  await ph.attach(page, { host: "e.example.com" });
  // @ts-expect-error a page is wanted
  await attach(ph, ph);
  // @ts-expect-error an event is a name or an object
  await expect(ph).toHaveCaptured(1);
  // @ts-expect-error the count is a number
  await expect(ph).toHaveCapturedTimes("a", "2");
  // @ts-expect-error no such matcher
  await expect(ph).toHaveCapturd("a");
  // @ts-expect-error hosts are texts
  sim.guard({ hosts: [/posthog/] });
});
