import type { Project, PropertiesPattern } from "phx-sim";
import { definePlan } from "phx-sim/plan";
import { expect, test } from "phx-sim/vitest";
import "phx-sim/vitest/matchers";
import { expect as plain } from "vitest";

export const suite = test("types", async ({ ph, sim, expect: local }) => {
  const project: Project = ph;
  const done: Promise<void> = expect(project).toHaveCaptured("signed_up", { plan: expect.any(String) });
  await done;
  await local(sim).not.toHaveCaptured({ event: /^\$/, distinct_id: "anna" }, {}, { since: 3, settleMs: 0 });
  await plain(ph).toHaveCapturedTimes("a", 2, { b: 1 }, { timeoutMs: 10, distinctId: "anna" });
  await expect(ph).toHaveCapturedInOrder(["a", { event: "b" }]);
  await expect(ph).toHaveCapturedOnly(["a"]);
  await expect(ph).toHaveNoDroppedEvents();
  await expect(ph).toHaveIdentified("anna", { plan: "pro" }, { timeoutMs: 1 });
  await expect(ph).toHaveMerged("anna", "ben");
  await expect(ph).toHaveServedFlag("beta", "test", { distinctId: "anna" });
  await expect(ph).toMatchTrackingPlan("events.plan.json");
  await expect(ph).toMatchTrackingPlan(definePlan({}));
  await expect(ph).toHaveNoUnmatchedRequests();
  await expect(ph).not.toHaveBeenContacted({ since: await ph.requests.mark(), timeoutMs: 1 });

  const record: Record<string, unknown> = {};
  const pattern: PropertiesPattern = record;
  const loose: ReturnType<typeof JSON.parse> = {};
  await expect(ph).toHaveCaptured("a", record);
  await expect(ph).toHaveCaptured(loose, { ...loose, plan: loose });
  await ph.events.waitFor("a", pattern);
  await ph.events.list({ where: record });
  await expect(ph).toHaveCaptured("a", {
    amount: { "@gte": 3, "@not": { "@in": [7, { "@id": 1 }] } },
    "@@id": "x",
    $current_url: /shop$/,
    at: new Date(),
    items: [{ sku: expect.any(String), price: (price: number) => price > 1 }],
    raw: { "@eq": { "@type": "Product" } },
    tags: { "@each": { "@any": [{ "@startsWith": "a" }, null] } },
  });

  // @ts-expect-error there is no such operator
  await expect(ph).toHaveCaptured("a", { amount: { "@gtee": 3 } });
  // @ts-expect-error there is no such operator
  await expect(ph).toHaveCaptured("a", { "@gtee": "3" });
  // @ts-expect-error there is no such operator
  await expect(ph).toHaveCaptured({ event: "a", properties: { amount: { "@gtee": 3 } } });
  // @ts-expect-error there is no such operator
  await expect(ph).not.toHaveCaptured("a", { cart: { items: [{ "@not": { "@gtee": 3 } }] } });
  // @ts-expect-error there is no such operator
  await expect(ph).toHaveCapturedTimes("a", 1, { amount: { "@all": [{ "@gte": 1 }, { "@gtee": 3 }] } });
  // @ts-expect-error there is no such operator
  await expect(ph).toHaveCapturedInOrder(["a", { properties: { amount: { "@gtee": 3 } } }]);
  // @ts-expect-error there is no such operator
  await expect(ph).toHaveCapturedOnly([{ event: { "@startWith": "a" } }]);
  // @ts-expect-error there is no such operator
  await expect(ph).toHaveIdentified("anna", { age: { "@gtee": 3 } });
  // @ts-expect-error there is no such operator
  await ph.events.waitFor("a", { amount: { "@gtee": 3 } });
  // @ts-expect-error there is no such operator
  await ph.events.waitFor({ event: { "@startWith": "a" } });
  // @ts-expect-error there is no such operator
  await ph.events.waitForCount("a", 2, { properties: { amount: { "@gtee": 3 } } });
  // @ts-expect-error there is no such operator
  await ph.events.waitForSequence(["a", { properties: { amount: { "@gtee": 3 } } }]);
  // @ts-expect-error there is no such operator
  await ph.events.expectNone("a", { amount: { "@gtee": 3 } });
  await ph.events.verify({ expect: [{ match: "a" }, { match: { event: /b/ }, count: { max: 1 } }] });
  // @ts-expect-error there is no such operator
  await ph.events.verify({ expect: [{ match: "a" }, { match: { properties: { amount: { "@gtee": 3 } } } }] });
  // @ts-expect-error there is no such term
  await ph.events.verify({ expect: [{ match: "a" }], order: true });
  // @ts-expect-error there is no such term
  await ph.events.verify({ expect: [{ match: "a", times: 2 }] });
  // @ts-expect-error there is no such operator
  await ph.events.list({ where: { properties: { amount: { "@gtee": 3 } } } });
  // @ts-expect-error there is no such operator
  await ph.events.dropped({ where: { properties: { amount: { "@gtee": 3 } } } });
  // @ts-expect-error there is no such option
  await ph.events.list({ evnt: "a" });

  // @ts-expect-error only a project or a sim has the matchers
  await expect("text").toHaveCaptured("a");
  // @ts-expect-error only a project or a sim has the matchers
  await plain(3).not.toHaveNoDroppedEvents();
  ph.env("next");
  // @ts-expect-error there is no such framework
  ph.env("cobol");
  // @ts-expect-error an event is a name or an object
  await expect(ph).toHaveCaptured(1);
  // @ts-expect-error there is no such option
  await expect(ph).toHaveCaptured("a", {}, { timeout: 1 });
  // @ts-expect-error the count is a number
  await expect(ph).toHaveCapturedTimes("a", "2");
  // @ts-expect-error a list is wanted
  await expect(ph).toHaveCapturedInOrder("a");
  // @ts-expect-error two ids are wanted
  await expect(ph).toHaveMerged("anna");
  // @ts-expect-error a flag is a boolean or a text
  await expect(ph).toHaveServedFlag("beta", 1);
  // @ts-expect-error no such matcher
  await expect(ph).toHaveCapturd("a");
});

export const beta = test.extend({ phxProject: { name: "beta", flags: { beta: true } } });
