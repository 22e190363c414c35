import { afterAll, beforeAll, expect, test } from "vitest";
import { type Sim, startSim } from "../../src/index.ts";
import "../../src/testing/vitest-matchers.ts";
import { element, opening, sendPart } from "../lab/sessions/recorded.ts";

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

test("a recording with a picture that is part of the app", async () => {
  const logo = element("img", { src: "data:image/png;base64,iVBORw0KGgo=" });
  await sendPart(ph, opening(element("body", {}, logo)), { $session_id: "s2" });
  await expect(ph).toHaveRecordedNoneOf(["jane@acme.test"], { allowUnread: ["image"] });
  await ph.reset();
  await sendPart(ph, opening(element("body", {}, "Pay")));
});

test("a search without a runner", async () => {
  const { verdict, finds, undecided } = await ph.recordings.search(["jane@acme.test", "4242 4242 4242 4242"]);
  expect({ verdict, finds, undecided }).toEqual({ verdict: "none", finds: [], undecided: [] });
});
