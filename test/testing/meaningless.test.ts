import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Project } from "../../src/client/api.ts";
import { type Sim, startSim } from "../../src/index.ts";
import "../../src/testing/vitest-matchers.ts";
import { send } from "./shop.ts";

let sim: Sim;
beforeAll(async () => {
  sim = await startSim();
});
afterAll(() => sim.close());

const now = { timeoutMs: 0, settleMs: 0 };

/** Assertions that would hold whatever the app does. */
const refused: [what: string, assertion: (ph: Project) => Promise<unknown>, message: RegExp][] = [
  [
    "nested properties",
    (ph) => expect(ph).not.toHaveCaptured("a", { properties: { plan: "pro" } }, now),
    /properties are given flat: \{plan: "pro"\}, not \{properties: \{plan: "pro"\}\}/,
  ],
  [
    "nested properties of a wait",
    (ph) => ph.events.expectNone("a", { properties: { plan: "pro" } }, now),
    /properties are given flat/,
  ],
  [
    "options instead of properties",
    (ph) => expect(ph).not.toHaveCaptured("a", { distinctId: "u" }),
    /distinctId is an option: options come after the properties/,
  ],
  ["an empty pattern", (ph) => expect(ph).toHaveCaptured({}), /\{\} fits every event/],
  ["an empty pattern in order", (ph) => expect(ph).toHaveCapturedInOrder(["a", {}]), /\{\} fits every event/],
  ["nothing but everything", (ph) => expect(ph).toHaveCapturedOnly([{}]), /\{\} fits every event/],
  [
    "a flag's value that is undefined",
    (ph) => expect(ph).toHaveServedFlag("k", undefined),
    /toHaveServedFlag\("k"\): the second argument is undefined/,
  ],
  [
    "properties that are undefined",
    (ph) => expect(ph).toHaveCaptured("a", undefined),
    /the second argument is undefined; leave it out/,
  ],
  ["a merge with itself", (ph) => expect(ph).toHaveMerged("u1", "u1"), /both ids are the same/],
];

test.each(refused)("%s: refused", async (_, assertion, message) => {
  await using ph = await sim.project();
  await expect(assertion(ph)).rejects.toThrow(message);
});

test("a matcher for texts is the event's name", async () => {
  await using ph = await sim.project();
  await send(ph, { event: "signed_up", distinct_id: "u" });
  await expect(ph).toHaveCaptured(expect.stringContaining("sign"));
  await expect(ph).toHaveCaptured(expect.stringMatching(/^signed/), {}, now);
  await expect(ph).not.toHaveCaptured(expect.stringContaining("bought"), {}, now);
  await expect(expect(ph).not.toHaveCaptured(expect.any(String), {}, now)).rejects.toThrow("signed_up");
});

describe("an SDK that goes on using the key of an ended project", () => {
  const capture = async (key: string, event: string, more: object = {}) => {
    const body = JSON.stringify({
      api_key: key,
      batch: [{ event, distinct_id: "u", properties: { plan: "pro" }, ...more }],
    });
    await sim.handle(new Request(`${sim.url}/batch/`, { method: "POST", body }));
  };
  const wrong =
    /the SDK used the key of "first", which has ended: it is shared between tests, or was not shut down \(signed_up\)/;

  /** A project that has ended, and the next one. */
  async function pair() {
    const first = await sim.project({ name: "first" });
    await first.dispose();
    return { key: first.apiKey, ph: await sim.project({ name: "second" }) };
  }

  test.each<[string, (ph: Project) => Promise<unknown>]>([
    ["not.toHaveCaptured", (ph) => expect(ph).not.toHaveCaptured("signed_up", {}, now)],
    [
      "not.toHaveCaptured with properties",
      (ph) => expect(ph).not.toHaveCaptured("signed_up", { plan: "pro" }, now),
    ],
    [
      "not.toHaveCaptured with a function",
      (ph) => expect(ph).not.toHaveCaptured({ event: expect.stringMatching(/^signed/) }, {}, now),
    ],
    ["toHaveCapturedTimes", (ph) => expect(ph).toHaveCapturedTimes("signed_up", 0, {}, now)],
    ["toHaveCapturedOnly", (ph) => expect(ph).toHaveCapturedOnly([], now)],
    ["toHaveNoDroppedEvents", (ph) => expect(ph).toHaveNoDroppedEvents()],
    ["expectNone", (ph) => ph.events.expectNone("signed_up", {}, now)],
    ["toHaveCaptured", (ph) => expect(ph).toHaveCaptured("signed_up", {}, now)],
  ])("%s fails, and names the project", async (_, assertion) => {
    const { key, ph } = await pair();
    await using _ph = ph;
    await capture(key, "signed_up");
    await expect(assertion(ph)).rejects.toThrow(wrong);
  });

  test("other events, events from before the end, and keys of other processes are no failure", async () => {
    const { key, ph } = await pair();
    await using _ph = ph;
    await capture(key, "other");
    await expect(ph).not.toHaveCaptured("signed_up", {}, now);
    await capture(key, "signed_up", { timestamp: new Date(Date.now() - 60_000).toISOString() });
    await expect(ph).not.toHaveCaptured("signed_up", {}, now);
    const other = await fetch(`${sim.url}/__sim/projects`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ name: "elsewhere", owner: "another process" }),
    });
    const { id, api_key: apiKey } = (await other.json()) as { id: number; api_key: string };
    await fetch(`${sim.url}/__sim/projects/${id}`, { method: "DELETE" });
    await capture(apiKey, "signed_up");
    await expect(ph).not.toHaveCaptured("signed_up", {}, now);
    // what came late is the last of the possible causes
    const failed = await expect(ph)
      .toHaveCaptured("signed_up", {}, now)
      .catch((error: Error) => error.message);
    expect(failed).toMatch(
      /- an SDK of "first", which has ended, has sent events late: signed_up\n(?! {2}- )/,
    );
  });
});
