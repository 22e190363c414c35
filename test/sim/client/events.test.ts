import { describe, expect, test } from "vitest";
import { type Events, ExpectationError } from "../../../src/index.ts";
import { capture, ends, held } from "./ends.ts";

/** Long enough that a failure is one, short enough for those that are meant. */
const soon = { timeoutMs: 40 };
const isPro = (value: unknown) => value === "pro";
const isA = (value: unknown) => value === "a";
const amount = (value: unknown) => typeof value === "number" && value > 40;

/** Each says the same of one event in another way; the last ones cannot be said over HTTP. */
const patterns: readonly [name: string, pattern: Record<string, unknown>, fits: boolean][] = [
  ["literals", { plan: "pro" }, true],
  ["other literals", { plan: "free" }, false],
  ["a nested subset", { cart: { total: 49 } }, true],
  ["operators", { amount: { "@gte": 40, "@lt": 50 } }, true],
  ["operators that do not hold", { amount: { "@gt": 49 } }, false],
  ["a regular expression", { $current_url: /checkout\/\d+$/ }, true],
  ["another regular expression", { $current_url: /^checkout/ }, false],
  ["expect.any", { amount: expect.any(Number) }, true],
  ["expect.any of another type", { amount: expect.any(String) }, false],
  ["expect.objectContaining", { cart: expect.objectContaining({ total: 49 }) }, true],
  ["expect.not.objectContaining", { cart: expect.not.objectContaining({ total: 49 }) }, false],
  ["expect.stringMatching", { plan: expect.stringMatching(/^p/) }, true],
  ["absence", { coupon: undefined }, true],
  ["absence of what is there", { plan: undefined }, false],
  ["a predicate", { amount }, true],
  ["a predicate that says no", { amount: (value: unknown) => value === 1 }, false],
  ["a predicate beside a literal", { amount, plan: "free" }, false],
  ["a matcher of one's own", { plan: { asymmetricMatch: (it: unknown) => it === "pro" } }, true],
  ["a matcher that says no", { plan: { asymmetricMatch: () => false } }, false],
];

const bought = {
  event: "checkout",
  properties: { plan: "pro", amount: 49, cart: { total: 49, items: 2 }, $current_url: "https://a.b/checkout/7" },
};

/** What an assertion in vain is rejected with. */
async function failure(assertion: Promise<unknown>): Promise<ExpectationError> {
  const error = await assertion.then(
    () => new Error("it passed"),
    (thrown: unknown) => thrown,
  );
  if (error instanceof ExpectationError) return error;
  throw error;
}

describe.each(ends)("events, $end", (end) => {
  test.each(patterns)("waitFor with %s", async (_, properties, fits) => {
    await using it = await held(end);
    await capture(it.sim, "other", bought);
    const { events } = it.client;
    // there it is most often a variable without a value
    const isRefused = Object.values(properties).includes(undefined);
    if (isRefused)
      await expect(events.expectNone("checkout", properties, soon)).rejects.toThrow('write {"@exists": false}');
    if (fits) {
      expect(await events.waitFor("checkout", properties, soon)).toMatchObject({ seq: 2, event: "checkout" });
      if (isRefused) return;
      const none = await failure(events.expectNone("checkout", properties, { ...soon, settleMs: 0 }));
      expect(none.report.complaints).toMatchObject([{ kind: "too_many", got: 1 }]);
    } else {
      const { report } = await failure(events.waitFor("checkout", properties, soon));
      expect(report.complaints).toMatchObject([{ kind: "too_few", got: 0 }]);
      expect(report.near_misses).toMatchObject([{ seq: 2, event: "checkout" }]);
      if (!isRefused) await events.expectNone("checkout", properties, { ...soon, settleMs: 0 });
    }
  });

  test.each(patterns.filter(([name, , fits]) => fits && name !== "absence"))(
    "waitFor with %s, before it comes",
    async (_, properties) => {
      await using it = await held(end);
      const waiting = it.client.events.waitFor("checkout", properties);
      await capture(it.sim, "other", { event: "checkout" });
      await capture(it.sim, bought);
      expect(await waiting).toMatchObject({ seq: 3, properties: { plan: "pro" } });
    },
  );

  test.each([
    ["a name", "checkout"],
    ["a regular expression", /^check/],
    ["the whole event", { event: "checkout", distinct_id: "u1" }],
    ["operators on the whole event", { "@any": [{ event: "checkout" }, { event: "paid" }] }],
    ["a matcher of the whole event", expect.objectContaining({ event: "checkout" })],
    ["a predicate on its name", { event: (name: unknown) => name === "checkout" }],
  ])("an event is reported by %s, alone and with properties", async (_, event) => {
    await using it = await held(end);
    await capture(it.sim, "other", { event: "checkout" }, bought);
    expect(await it.client.events.waitFor(event, undefined, soon)).toMatchObject({ seq: 2 });
    expect(await it.client.events.waitFor(event, { plan: "pro" }, soon)).toMatchObject({ seq: 3 });
  });

  test("waitForCount returns the first that many", async () => {
    await using it = await held(end);
    const waiting = it.client.events.waitForCount("a", 3);
    await capture(it.sim, "a", "b", "a");
    await capture(it.sim, "a", "a");
    expect((await waiting).map(({ seq }) => seq)).toEqual([1, 3, 4]);
    const plans = it.client.events.waitForCount("a", 1, { properties: { plan: isPro }, ...soon });
    expect((await failure(plans)).report.complaints).toMatchObject([{ kind: "too_few", got: 0 }]);
  });

  test.each<[string, Parameters<Events["waitForSequence"]>[0], number[] | undefined]>([
    ["in order", ["a", "b", "c"], [1, 2, 4]],
    ["one name twice", ["a", "a"], [1, 3]],
    ["out of order", ["c", "b"], undefined],
    ["too often", ["b", "b"], undefined],
    ["with a predicate", ["a", { event: (name: unknown) => name === "c" }], [1, 4]],
    ["out of order with a predicate", ["c", { event: (name: unknown) => name === "b" }], undefined],
    ["one predicate too often", [{ event: (name: unknown) => name === "b" }, "b"], undefined],
  ])("waitForSequence: %s", async (_, sequence, seqs) => {
    await using it = await held(end);
    await capture(it.sim, "a", "b", "a", "c");
    const { events } = it.client;
    if (seqs) expect((await events.waitForSequence(sequence, soon)).map(({ seq }) => seq)).toEqual(seqs);
    else expect(await failure(events.waitForSequence(sequence, soon))).toBeInstanceOf(ExpectationError);
  });

  test("waitForSequence of one distinct id", async () => {
    await using it = await held(end);
    await capture(it.sim, "a", { event: "a", distinct_id: "u2" }, { event: "b", distinct_id: "u2" }, "b");
    const found = await it.client.events.waitForSequence(["a", "b"], { distinctId: "u2" });
    expect(found.map(({ seq }) => seq)).toEqual([2, 3]);
  });

  test("a mark divides before from after", async () => {
    await using it = await held(end);
    const { events } = it.client;
    expect(await events.mark()).toBe(0);
    await capture(it.sim, "a", "b");
    const since = await events.mark();
    expect(since).toBe(2);
    await failure(events.waitFor("a", undefined, { since, ...soon }));
    await events.expectNone("a", undefined, { since, settleMs: 0 });
    await capture(it.sim, "a");
    expect(await events.waitFor("a", undefined, { since })).toMatchObject({ seq: 3 });
    expect(await events.waitFor({ event: isA }, {}, { since })).toMatchObject({ seq: 3 });
  });

  test("expectNone waits for what is still being sent", async () => {
    await using it = await held(end);
    const sending = capture(it.sim, "a");
    await it.client.events.waitFor("a");
    const { report } = await failure(it.client.events.expectNone("a"));
    expect(report.complaints).toMatchObject([{ kind: "too_many", events: [{ seq: 1 }] }]);
    await it.client.events.expectNone("b", { amount }, { settleMs: 20 });
    await it.client.events.expectNone("b", undefined, { settleMs: 20 });
    await sending;
  });

  test("expectNone without arguments is about every event", async () => {
    await using it = await held(end);
    await expect(it.client.events.expectNone(undefined, undefined, { settleMs: 0 })).resolves.toBeUndefined();
    await capture(it.sim, "a");
    const none = it.client.events.expectNone(undefined, undefined, { settleMs: 0 });
    await expect(none).rejects.toBeInstanceOf(ExpectationError);
  });

  const says = { event: (name: unknown) => name === "b" };
  test.each([
    ["over HTTP", { event: "b" }],
    ["here", says],
  ])("verify evaluates counts, order and nothing else: %s", async (_, b) => {
    await using it = await held(end);
    await capture(it.sim, "a", "b", "b");
    const { events } = it.client;
    const options = { ...soon, settleMs: 0 };
    const a = { event: "a" };
    const exactly = (n: number) => ({ min: n, max: n });
    const terms = {
      expect: [
        { match: a, count: exactly(1) },
        { match: b, count: exactly(2) },
      ],
    };
    expect(await events.verify({ ...terms, ordered: true, nothingElse: true }, options)).toEqual({
      passed: true,
      complaints: [],
      matched: [[1], [2, 3]],
    });
    const wrong = [
      { expect: [{ match: b, count: exactly(1) }] },
      { expect: [{ match: b, count: exactly(3) }] },
      { expect: [{ match: b }, { match: a }], ordered: true },
      { expect: [{ match: b }], nothingElse: true },
    ];
    const reports = [];
    for (const it of wrong) reports.push((await failure(events.verify(it, options))).report);
    expect(reports.map(({ complaints }) => complaints[0]?.kind)).toEqual([
      "too_many",
      "too_few",
      "out_of_order",
      "unexpected",
    ]);
  });

  test("list: by name, id, outcome, cursor, pattern, from the end", async () => {
    await using it = await held(end);
    await capture(it.sim, "a", { event: "b", distinct_id: "u2" }, bought, { event: "", distinct_id: "u1" });
    const { events } = it.client;
    const seqs = async (query?: Parameters<Events["list"]>[0]) => (await events.list(query)).map(({ seq }) => seq);
    expect(await seqs()).toEqual([1, 2, 3, 4]);
    expect(await seqs({ event: "b" })).toEqual([2]);
    expect(await seqs({ distinct_id: "u2" })).toEqual([2]);
    expect(await seqs({ outcome: "kept" })).toEqual([1, 2, 3]);
    expect((await events.dropped()).map(({ seq, reason }) => [seq, reason])).toEqual([[4, "empty_event_name"]]);
    expect(await seqs({ since: 1, until: 3 })).toEqual([2, 3]);
    expect(await seqs({ order: "desc", limit: 2 })).toEqual([4, 3]);
    expect(await seqs({ where: { properties: { amount: 49 } } })).toEqual([3]);
    expect(await seqs({ where: { properties: { amount } } })).toEqual([3]);
    expect(await seqs({ where: { event: (name: unknown) => name !== "b" }, limit: 2 })).toEqual([1, 3]);
    expect(await seqs({ where: { event: (name: unknown) => name !== "b" }, limit: 2, order: "desc" })).toEqual([4, 3]);
    const long = { properties: { plan: { "@in": ["pro", "x".repeat(20_000)] } } };
    expect(await seqs({ where: long })).toEqual([3]);
    await events.clear();
    expect(await seqs()).toEqual([]);
    expect(await events.mark()).toBe(4);
  });

  test("rejected requests are reported with their reason", async () => {
    await using it = await held(end);
    await fetch(`${it.sim.url}/batch/`, { method: "POST", body: "{" });
    const [rejected, ...more] = await it.client.events.rejected();
    expect(more).toEqual([]);
    expect(rejected).toMatchObject({ method: "POST", target: "/batch/", outcome: "rejected", status: 400 });
    expect(rejected?.rejected?.reason).toBeTruthy();
  });

  test("a title of one's own stands first in the report", async () => {
    await using it = await held(end);
    const own = await failure(it.client.events.waitFor("a", {}, { title: "the cart is reported", ...soon }));
    expect(own.message.split("\n")[0]).toContain("the cart is reported");
    const default_ = await failure(it.client.events.waitFor("a", { plan: "pro", amount }, soon));
    expect(default_.message.split("\n")[0]).toContain('waitFor("a", {plan: "pro", amount: ');
    expect(default_.message).toBe(default_.report.text);
  });

  test("a failure points at the line that asserted", async () => {
    await using it = await held(end);
    const { events } = it.client;
    const calls = [
      () => events.waitFor("a", undefined, { timeoutMs: 0 }),
      () => events.waitFor("a", { amount }, { timeoutMs: 0 }),
      () => events.waitForCount("a", 1, { timeoutMs: 0 }),
      () => events.waitForSequence(["a"], { timeoutMs: 0 }),
      () => events.verify({ expect: [{ match: { event: "a" } }] }, { timeoutMs: 0 }),
    ];
    for (const call of calls) {
      const { stack = "", message } = await failure(call());
      expect(stack).toContain(message);
      const [frame] = stack.slice(stack.indexOf(message) + message.length).match(/\n\s+at .*/) ?? [];
      expect(frame).toContain("events.test.ts");
    }
  });

  test("what is said of a mistake", async () => {
    await using it = await held(end);
    const nothing = JSON.parse("null");
    for (const event of [nothing, undefined, 7])
      await expect(it.client.events.waitFor(event)).rejects.toThrow(/an event's name or a pattern/);
    // @ts-expect-error there is no such operator
    const wrong = it.client.events.waitFor("a", { amount: { "@gretaer": 1 } }, soon);
    await expect(wrong).rejects.toBeInstanceOf(TypeError);
    await expect(wrong).rejects.not.toBeInstanceOf(ExpectationError);
    await expect(wrong).rejects.toThrow(/@gretaer/);
    await expect(it.client.events.waitForCount("a", 0, soon)).rejects.toThrow("expectNone() is for none");
  });
});
