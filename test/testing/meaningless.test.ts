import { describe, expect, test } from "vitest";
import { type Sim, startSim } from "../../src/index.ts";
import type { Project } from "../../src/sim/client/api.ts";
import "../../src/testing/vitest-matchers.ts";
import { openSim } from "../support/sim.ts";
import { send } from "./shop.ts";

const { sim } = await openSim({ scenario: "flags-gallery" });

const now = { timeoutMs: 0, settleMs: 0 };

const asserting = (ph: Project) => ({ is: expect(ph), not: expect(ph).not, events: ph.events });
type Asserting = ReturnType<typeof asserting>;

const flat = /properties are given flat/;
const nested = { properties: { plan: "pro" } };
const undefinedIn = /undefined in the pattern of events that must not come/;
const one = { kind: "HogQLQuery", query: "select 1" } as const;

/** Assertions that would hold whatever the app does. */
const refused: [what: string, assertion: (it: Asserting) => Promise<unknown>, message: RegExp][] = [
  [
    "nested properties",
    ({ not }) => not.toHaveCaptured("a", nested, now),
    /properties are given flat: \{plan: "pro"\}, not \{properties: \{plan: "pro"\}\}.*@all/,
  ],
  ["nested properties of a wait", ({ events }) => events.expectNone("a", nested, now), flat],
  [
    "options instead of properties",
    ({ not }) => not.toHaveCaptured("a", { distinctId: "u" }),
    /distinctId is an option: options come after the properties/,
  ],
  ["an empty pattern", ({ is }) => is.toHaveCaptured({}), /\{\} fits every event/],
  ["an empty pattern in order", ({ is }) => is.toHaveCapturedInOrder(["a", {}]), /\{\} fits every event/],
  ["nothing but everything", ({ is }) => is.toHaveCapturedOnly([{}]), /\{\} fits every event/],
  [
    "a flag's value that is undefined",
    ({ is }) => is.toHaveServedFlag("k", undefined),
    /toHaveServedFlag\("k"\): the second argument is undefined/,
  ],
  [
    "properties that are undefined",
    ({ is }) => is.toHaveCaptured("a", undefined),
    /the second argument is undefined; leave it out/,
  ],
  [
    "nested properties in the pattern of the event",
    ({ not }) => not.toHaveCaptured({ event: "a", properties: nested }),
    flat,
  ],
  [
    "nested properties beside others",
    ({ not }) => not.toHaveCaptured("a", { via: "web", properties: { plan: "pro" } }),
    flat,
  ],
  ["nested properties in a matcher", ({ not }) => not.toHaveCaptured("a", expect.objectContaining(nested)), flat],
  [
    "nested properties in a list",
    ({ not }) => not.toHaveCapturedInOrder([{ event: "a", properties: { properties: { p: 1 } } }]),
    flat,
  ],
  ["nested properties in a listing", ({ events }) => events.list({ where: { properties: nested } }), flat],
  ["nested properties of a person", ({ not }) => not.toHaveIdentified("u", nested), flat],
  [
    "$set of a person",
    ({ not }) => not.toHaveIdentified("u", { $set: { plan: "pro" } }),
    /a person has the properties themselves: \{plan: "pro"\}/,
  ],
  [
    "options instead of a person's properties",
    ({ not }) => not.toHaveIdentified("u", { timeoutMs: 1 } as never),
    /timeoutMs is an option/,
  ],
  [
    "a property of a person that is undefined",
    ({ not }) => not.toHaveIdentified("u", { plan: undefined }),
    /plan is undefined.*"@exists": false/,
  ],
  [
    "a property that is undefined, and must not come",
    ({ not }) => not.toHaveCaptured("a", { email: undefined }),
    /undefined in the pattern of events that must not come.*\/properties\/email.*"@exists": false/,
  ],
  ["a property that is undefined, of none", ({ events }) => events.expectNone("a", { email: undefined }), undefinedIn],
  ["an empty name", ({ not }) => not.toHaveCaptured(""), /no kept event has an empty event/],
  [
    "an empty id",
    ({ not }) => not.toHaveCaptured({ event: "a", distinct_id: "" }),
    /no kept event has an empty distinct_id/,
  ],
  [
    "an id that is undefined",
    ({ is }) => is.toHaveCaptured("a", {}, { distinctId: undefined } as never),
    /the option distinctId is undefined; leave it out/,
  ],
  [
    "a session that is undefined",
    ({ is }) => is.toHaveRecorded({ session: undefined } as never),
    /the option session is undefined/,
  ],
  [
    "a list of names",
    ({ not }) => not.toHaveCaptured(["a", "b"] as never),
    /expected an event's name or a pattern, got \["a", "b"\]/,
  ],
  ["a promise", ({ not }) => not.toHaveCaptured(Promise.resolve("a") as never), /expected an event's name/],
  [
    "a text instead of properties",
    ({ not }) => not.toHaveCaptured("a", "pro" as never),
    /"properties" of an event is an object: "pro" never fits/,
  ],
  [
    "null instead of properties",
    ({ not }) => not.toHaveCaptured("a", null as never),
    /"properties" of an event is an object: null never fits/,
  ],
  ["a name that is a number", ({ not }) => not.toHaveCaptured({ event: 5 }), /5 never fits/],
  [
    "a key that no event has, in a matcher",
    ({ not }) => not.toHaveCaptured(expect.objectContaining({ plan: "pro" })),
    /an event has no "plan"/,
  ],
  [
    "a matcher of which it is not known what it is for",
    ({ not }) => not.toHaveCaptured({ asymmetricMatch: (it: unknown) => it === "a" }),
    /as the event: write \{ event: … \} around it/,
  ],
  ["a matcher for lists", ({ not }) => not.toHaveCaptured(expect.arrayContaining(["a"])), /as the event/],
  ["a matcher for everything", ({ is }) => is.toHaveCaptured(expect.anything()), /Anything fits every event/],
  ["a matcher for every name", ({ is }) => is.toHaveCaptured(expect.any(String)), /Any<String> fits every event/],
  [
    "a text in every name",
    ({ is }) => is.toHaveCaptured(expect.stringContaining("")),
    /StringContaining "" fits every event/,
  ],
  ["an expression for every name", ({ is }) => is.toHaveCaptured(/.*/), /\/\.\*\/ fits every event/],
  ["an expression for every text", ({ is }) => is.toHaveCaptured(/[\s\S]*/), /fits every event/],
  ["an expression for any character", ({ is }) => is.toHaveCapturedOnly([/\S/]), /fits every event/],
  ["an expression of nothing or more", ({ is }) => is.toHaveCaptured(/|signup/g), /fits every event/],
  [
    "an expression for every name in a check",
    ({ events }) => events.verify({ expect: [{ match: { event: { "@regex": ".*?" } } }] }),
    /fits every event/,
  ],
  [
    "an operator as in queries",
    ({ not }) => not.toHaveCaptured("a", { n: { $gt: 3 } }),
    /operators begin with @, not "\$gt".*\/properties\/n\/\$gt.*write "@gt"/,
  ],
  [
    "an operator as in queries, of a person",
    ({ not }) => not.toHaveIdentified("u", { n: { $exists: true } }),
    /operators begin with @, not "\$exists"/,
  ],
  [
    "a limit that is no number",
    ({ not }) => not.toHaveCaptured("a", {}, { timeoutMs: Number.NaN }),
    /timeoutMs is a number of milliseconds from 0, not NaN/,
  ],
  [
    "a limit as a text",
    ({ not }) => not.toHaveCaptured("a", {}, { settleMs: "250" as never }),
    /settleMs is a number of milliseconds from 0, not "250"/,
  ],
  [
    "a limit below zero, of a wait",
    ({ events }) => events.expectNone("a", {}, { timeoutMs: -1 }),
    /timeoutMs is a number of milliseconds from 0, not -1/,
  ],
  ["only empty properties", ({ is }) => is.toHaveCaptured({ properties: {} }), /fits every event/],
  [
    "an async function",
    ({ not }) => not.toHaveCaptured("a", { plan: async (it: unknown) => it === "pro" }),
    /an async function answers with a promise/,
  ],
  ["a number that JSON has not", ({ not }) => not.toHaveCaptured("a", { n: Number.NaN }), /NaN never fits/],
  ["a Map", ({ not }) => not.toHaveCaptured("a", { n: new Map() }), /no JSON value fits it/],
  ["a kind that JSON has not", ({ not }) => not.toHaveCaptured("a", { n: expect.any(Function) }), /never fits/],
  [
    "what dropped events have",
    ({ not }) => not.toHaveCaptured({ event: "a", outcome: "dropped" }),
    /assertions are about kept events: "outcome" is "kept".*events\.dropped\(\)/,
  ],
  ["a count of none, waited for", ({ events }) => events.waitForCount("a", 0), /a whole number from 1.*expectNone/],
  [
    "a minimum of none",
    ({ events }) => events.verify({ expect: [{ match: { event: "a" }, count: { min: 0 } }] }),
    /always holds/,
  ],
  ["a verification of everything", ({ events }) => events.verify({ expect: [{ match: {} }] }), /\{\} fits every event/],
  ["a cursor of another sim", ({ not }) => not.toHaveCaptured("a", {}, { since: 1e9 }), /newest event is #/],
  [
    "a cursor of another sim, with a function",
    ({ not }) => not.toHaveCaptured("a", { n: (it: unknown) => it === 1 }, { since: 1e9 }),
    /newest event is #/,
  ],
  ["a cursor of requests of another sim", ({ not }) => not.toHaveBeenContacted({ since: 1e9 }), /newest request is #/],
  [
    "a flag that does not exist",
    ({ not }) => not.toHaveServedFlag("no-such-flag"),
    /there is no flag "no-such-flag" here/,
  ],
  [
    "a variant that does not exist",
    ({ not }) => not.toHaveServedFlag("variants", "contrl"),
    /has no variant "contrl"; did you mean "control"\?/,
  ],
  [
    "an insight's value that is undefined",
    ({ is }) => is.toHaveInsight(one, { value: undefined } as never),
    /value is undefined; give what the insight shows/,
  ],
  ["steps without a series", ({ is }) => is.toHaveInsight(one, { value: {} }), /value is \{\}/],
  [
    "a proxy that does not answer",
    ({ not }) => not.toPassThroughProxy("http://127.0.0.1:9/ingest", { timeoutMs: 200 }),
    /unreachable/,
  ],
  ["a merge with itself", ({ is }) => is.toHaveMerged("u1", "u1"), /both ids are the same/],
];

test.each(refused)("%s: refused", async (_, assertion, message) => {
  await using ph = await sim.project();
  await expect(assertion(asserting(ph))).rejects.toThrow(message);
});

test("a function that gives no answer is no proof", async () => {
  await using ph = await sim.project();
  await send(ph, { event: "a", distinct_id: "u", properties: { n: null } });
  const broken = expect(ph).not.toHaveCaptured("a", { n: (it: unknown) => (it as string).length > 3 }, now);
  await expect(broken).rejects.toThrow(/gave no answer for #\d+ a: it threw: Cannot read/);
  const promise = expect(ph).not.toHaveCaptured("a", { n: (it: unknown) => Promise.resolve(it === null) }, now);
  await expect(promise).rejects.toThrow(/gave no answer.*must answer at once/);
  // with another name the function does not matter
  await expect(ph).not.toHaveCaptured("b", { n: (it: unknown) => (it as string).length > 3 }, now);
});

test("what means something is allowed", async () => {
  await using ph = await sim.project();
  await expect(ph).not.toHaveCaptured({}, {}, now);
  await expect(ph).toHaveCapturedTimes({}, 0, {}, now);
  await ph.events.expectNone(undefined, undefined, now);
  await send(ph, { event: "a", distinct_id: "u", properties: { properties: { plan: "pro" } } });
  await expect(ph).toHaveCaptured("a", { properties: { "@all": [{ plan: "pro" }] } }, now);
  await expect(ph).toHaveCaptured("a", { plan: undefined }, now);
  await expect(ph).not.toHaveCaptured("a", { "@all": [{ since: 5 }] }, now);
  await expect(ph).toHaveCaptured({}, { properties: expect.any(Object) }, now);
});

test("a matcher for texts is the event's name", async () => {
  await using ph = await sim.project();
  await send(ph, { event: "signed_up", distinct_id: "u" });
  await expect(ph).toHaveCaptured(expect.stringContaining("sign"));
  await expect(ph).toHaveCaptured(expect.stringMatching(/^signed/), {}, now);
  await expect(ph).not.toHaveCaptured(expect.stringContaining("bought"), {}, now);
  await expect(expect(ph).not.toHaveCaptured(expect.any(String), {}, now)).rejects.toThrow("signed_up");
});

/** Sends an event as SDKs do, with any key. */
async function capture(key: string, event: string, more: object = {}, of: Sim = sim): Promise<void> {
  const body = JSON.stringify({
    api_key: key,
    batch: [{ event, distinct_id: "u", properties: { plan: "pro" }, ...more }],
  });
  await of.handle(new Request(`${of.url}/batch/`, { method: "POST", body }));
}

const aMinuteAgo = () => ({ timestamp: new Date(Date.now() - 60_000).toISOString() });

/** Assertions that an event that was sent with a wrong key must not leave green. */
const negatives: [name: string, assertion: (ph: Project) => Promise<unknown>][] = [
  ["not.toHaveCaptured", (ph) => expect(ph).not.toHaveCaptured("signed_up", {}, now)],
  ["not.toHaveCaptured with properties", (ph) => expect(ph).not.toHaveCaptured("signed_up", { plan: "pro" }, now)],
  [
    "not.toHaveCaptured with a function",
    (ph) => expect(ph).not.toHaveCaptured({ event: expect.stringMatching(/^signed/) }, {}, now),
  ],
  ["toHaveCapturedTimes", (ph) => expect(ph).toHaveCapturedTimes("signed_up", 0, {}, now)],
  ["toHaveCapturedOnly", (ph) => expect(ph).toHaveCapturedOnly([], now)],
  ["toHaveNoDroppedEvents", (ph) => expect(ph).toHaveNoDroppedEvents()],
  ["expectNone", (ph) => ph.events.expectNone("signed_up", {}, now)],
];

/** The message of an assertion that must fail. */
const failureOf = (assertion: Promise<unknown>): Promise<string> =>
  assertion.then(
    () => expect.fail("it passes"),
    (error: Error) => error.message,
  );

/** The possible causes of a report, in order. */
const causesIn = (report: string): string[] =>
  report.split("\n").flatMap((line) => /^ {2}- (.*)/.exec(line)?.[1] ?? []);

describe("an SDK with a key that no project has", () => {
  const positive: (typeof negatives)[number] = [
    "toHaveCaptured",
    (ph) => expect(ph).toHaveCaptured("signed_up", {}, now),
  ];
  const post = (of: Sim, path: string, headers: Record<string, string>, body: object) =>
    fetch(`${of.url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  const v1Headers = {
    authorization: "Bearer phc_other",
    "content-type": "application/json",
    "posthog-sdk-info": "posthog-node/6.0.0",
    "posthog-attempt": "1",
    "posthog-request-id": "0192b5a0-0000-7000-8000-000000000001",
    "posthog-request-timestamp": new Date().toISOString(),
  };
  const wrongKeys: [where: string, send: (of: Sim) => Promise<unknown>][] = [
    ["in the body", (of) => capture("phc_other", "signed_up", {}, of)],
    ["in the item", (of) => post(of, "/i/v0/e/", {}, { token: "phc_other", event: "signed_up", distinct_id: "u" })],
    [
      "in the header of capture v1",
      (of) => post(of, "/i/v1/analytics/events", v1Headers, { batch: [{ event: "signed_up", distinct_id: "u" }] }),
    ],
  ];

  test.each([...negatives, positive])("%s fails, and names the key", async (_, assertion) => {
    await using ph = await sim.project({ name: "only one" });
    await capture("phc_other", "signed_up");
    expect(await failureOf(assertion(ph))).toContain(
      `the SDK used the key phc_other, which no project has; expected ${ph.apiKey} (signed_up)`,
    );
  });

  test.each(wrongKeys)("%s", async (_, request) => {
    await using ph = await sim.project();
    await request(sim);
    const text = await failureOf(expect(ph).not.toHaveCaptured("signed_up", {}, now));
    expect(text).toMatch(/used the key phc_other, which no project has/);
  });

  test.each<[string, object, RegExp]>([
    ["no key", { batch: [{ event: "signed_up", distinct_id: "u" }] }, /the SDK sent no project key; expected phc_/],
    [
      "an empty key",
      { api_key: "", batch: [{ event: "signed_up", distinct_id: "u" }] },
      /the SDK sent no project key; expected phc_/,
    ],
    [
      "a personal key",
      { api_key: "phx_0123456789abcdef", event: "signed_up", distinct_id: "u" },
      /used the key phx_\*\*\*, which no project has; expected phc_/,
    ],
  ])("%s", async (_, body, text) => {
    await using ph = await sim.project();
    await post(sim, "/batch/", {}, body);
    for (const assertion of [
      () => expect(ph).not.toHaveCaptured("signed_up", {}, now),
      () => expect(ph).toHaveNoDroppedEvents(),
      () => expect(ph).toHaveCaptured("signed_up", {}, now),
    ])
      expect(await failureOf(assertion())).toMatch(text);
  });

  test("also where the service answers 200 and drops the events", async () => {
    await using production = await startSim({ dialect: "production" });
    await using ph = await production.project();
    await capture("phc_other", "signed_up", {}, production);
    expect(await failureOf(expect(ph).toHaveNoDroppedEvents())).toContain("used the key phc_other");
    expect(await failureOf(expect(ph).toHaveCaptured("signed_up", {}, now))).toContain("used the key phc_other");
  });

  test("is no failure if another test can have sent it, which a report says", async () => {
    await using ph = await sim.project();
    await using other = await sim.project();
    await capture("phc_other", "signed_up");
    await expect(ph).not.toHaveCaptured("signed_up", {}, now);
    await expect(ph).toHaveNoDroppedEvents();
    await other.dispose();
    await expect(ph).not.toHaveCaptured("signed_up", {}, now);
    expect(await failureOf(expect(ph).toHaveCaptured("signed_up", {}, now))).toMatch(
      /phc_other, which no project has.*; another test that ran at the same time may have sent it/,
    );
  });

  test("other events, and events from before the test, are no failure", async () => {
    await using ph = await sim.project();
    await capture("phc_other", "other");
    await capture("phc_other", "signed_up", aMinuteAgo());
    await expect(ph).not.toHaveCaptured("signed_up", {}, now);
  });
});

describe("an SDK that goes on using the key of an ended project", () => {
  const wrong =
    /the SDK used the key of "first", which has ended: it is shared between tests, or was not shut down \(signed_up\)/;

  /** A project that has ended, and the next one. */
  async function pair() {
    const first = await sim.project({ name: "first" });
    await first.dispose();
    return { key: first.apiKey, ph: await sim.project({ name: "second" }) };
  }

  test.each([
    ...negatives,
    ["toHaveCaptured", (ph) => expect(ph).toHaveCaptured("signed_up", {}, now)] as (typeof negatives)[number],
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
    await capture(key, "signed_up", aMinuteAgo());
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
  });

  test("a late flush comes last in the report of another test, also of another process", async () => {
    const { key, ph } = await pair();
    await using _ph = ph;
    await capture(key, "signed_up", aMinuteAgo());
    const report = await failureOf(expect(ph).toHaveCaptured("signed_up", {}, now));
    const causes = causesIn(report);
    expect(causes[0]).toMatch(/^no request has reached the sim/);
    expect(causes.at(-1)).toBe('an SDK of "first", which has ended, has sent events late: signed_up');
    expect(report).not.toMatch(/rejected|from posthog|requests: [1-9]/);
  });

  test("one line lists the events when the sim closes", async () => {
    const notices: string[] = [];
    const own = await startSim({ onNotice: (text) => notices.push(text) });
    const [first, second] = [await own.project({ name: "first" }), await own.project({ name: "second" })];
    await capture(first.apiKey, "in time", {}, own);
    await first.dispose();
    for (const event of ["late", "late", "later"]) await capture(first.apiKey, event, {}, own);
    await capture(second.apiKey, "in time", {}, own);
    await second.dispose();
    await own.close();
    expect(notices).toEqual([
      '3 events came for tests that had ended: "first" (late ×2, later): shut their SDKs down before the test ends',
    ]);
  });
});
