import { expect } from "vitest";
import { test } from "./sim.ts";

test("an event without a distinct_id is dropped, with the reason", async ({ sim, capture }) => {
  await capture([{ event: "signed_up", distinct_id: "anna" }, { event: "checkout" }]);

  expect(await sim.events.list({ outcome: "dropped" })).toMatchObject([
    { event: "checkout", reason: "missing_distinct_id" },
  ]);
});
