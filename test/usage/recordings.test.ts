import { afterAll, beforeAll, expect, test } from "vitest";
import { type Sim, startSim } from "../../src/index.ts";
import "../../src/testing/vitest-matchers.ts";
import { element, opening, sendPart } from "../sessions/recorded.ts";

let ph: Sim;
beforeAll(async () => {
  ph = await startSim();
  await sendPart(ph, opening(element("body", {}, "Pay", element("input", { name: "card", value: "****" }))));
});
afterAll(() => ph.close());

test("the recording of a page is free of what was typed", async () => {
  await expect(ph).toHaveRecorded();
  await expect(ph).toHaveRecordedNoneOf(["jane@acme.test", "4242 4242 4242 4242"]);
});

test("a search without a runner", async () => {
  const { finds, missing, unread } = await ph.recordings.search(["jane@acme.test", "4242 4242 4242 4242"]);
  expect({ finds, missing, unread }).toEqual({ finds: [], missing: [], unread: {} });
});
