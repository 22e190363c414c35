import { beforeAll, describe, expect, test } from "vitest";
import { control } from "../../support/control.ts";
import { openSim } from "../../support/sim.ts";

const { sim, capture } = await openSim();
beforeAll(async () => {
  await capture([
    { event: "signup", distinct_id: "u1", properties: { plan: "pro", amount: 12, $lib: "web" } },
    { event: "signup", distinct_id: "u2", properties: { plan: "free", "a.b": [1, { c: "deep" }] } },
    { distinct_id: "nameless" },
  ]);
  await capture({ event: "order placed", distinct_id: "u1", properties: JSON.parse('{"__proto__":{"x":1}}') });
  await sim.handle(new Request(`${sim.url}/nowhere?why=lost`));
});

const queryOf = (filter: string, more: Record<string, string> = {}) =>
  new URLSearchParams({ filter, ...more }).toString();

const ids = async (query: string) => {
  const { status, answer } = await control(sim, "GET", `events?${query}`);
  expect(status).toBe(200);
  return answer.events.map((it) => it.seq);
};

const lists: [filter: string, seqs: number[]][] = [
  ["", [1, 2, 3, 4]],
  ["event:signup", [1, 2]],
  ["event:sign*", [1, 2]],
  ["event:signup id:u2", [2]],
  ["is:dropped", [3]],
  ["reason:missing_*", [3]],
  ["prop.amount:>10", [1]],
  ['prop."a.b".c:deep', [2]],
  ["has:prop.__proto__", [4]],
  ["prop.__proto__.x:1", [4]],
  ['"order pl"', [4]],
  ["route:/batch status:200", [1, 2, 3, 4]],
  ["status:>=400", []],
  ["since:1h", [1, 2, 3, 4]],
  ["until:1h", []],
  ["request:2 OR seq:1", [1, 4]],
  ["-event:signup -is:dropped", [4]],
  ["lib:posthog-js", [1]],
  ["project:1 seq:<=2", [1, 2]],
  ["project:77", []],
];
test.each(lists)("GET /__sim/events?filter=%s", async (filter, seqs) => {
  expect(await ids(queryOf(filter))).toEqual(seqs);
});

const together: [filter: string, more: Record<string, string>, seqs: number[]][] = [
  ["plan", { event: "signup" }, [1, 2]],
  ["event:signup", { event: "order placed" }, []],
  ["event:signup", { order: "desc" }, [2, 1]],
  ["event:signup", { limit: "1" }, [1]],
  ["event:signup", { since: "1" }, [2]],
  ["event:signup", { until: "1" }, [1]],
  ["event:signup", { outcome: "dropped" }, []],
  ["event:signup", { where: '{"properties":{"plan":"free"}}' }, [2]],
  ["id:u1", { project: "1" }, [1, 4]],
];
test.each(together)("%s with %j", async (filter, more, seqs) => {
  expect(await ids(queryOf(filter, more))).toEqual(seqs);
});

test("a filtered list has pages, each with the cursor of the next one", async () => {
  const first = (await control(sim, "GET", `events?${queryOf("id:u1", { limit: "1" })}`)).answer;
  expect([first.events.map((it) => it.seq), first.cursor, first.more]).toEqual([[1], 1, true]);
  const second = (await control(sim, "GET", `events?${queryOf("id:u1", { limit: "1", since: "1" })}`)).answer;
  expect([second.events.map((it) => it.seq), second.cursor, second.more]).toEqual([[4], 4, false]);
});

test("a list that waits returns with the first event that matches the filter", async () => {
  const { cursor } = (await control(sim, "GET", "events?limit=1&since=999999")).answer;
  const query = queryOf("prop.late:true -is:dropped", { since: String(cursor), wait_ms: "20000" });
  const waiting = control(sim, "GET", `events?${query}`);
  await capture([
    { event: "late", distinct_id: "u1", properties: { late: false } },
    { event: "late", distinct_id: "u1", properties: { late: true } },
  ]);
  const { answer } = await waiting;
  expect(answer.events.map((it) => it.properties.late)).toEqual([true]);
});

const requests = async (query: string) => {
  const { status, answer } = await control(sim, "GET", `requests?${query}`);
  expect(status).toBe(200);
  return (answer as unknown as { requests: { n: number }[] }).requests.map((it) => it.n).reverse();
};

const requestLists: [filter: string, numbers: number[]][] = [
  ["n:<=3", [1, 2, 3]],
  ["event:signup", [1]],
  ["n:<=3 is:rejected", [3]],
  ["is:unmatched", [3]],
  ["route:/nowhere", [3]],
  ["target~why=lost", [3]],
  ["n:<=3 -is:rejected", [1, 2]],
  ["dropped:>0", [1]],
  ["reason:missing_event_name", [1]],
  ["prop.plan:pro", [1]],
  ["Endpoint", [3]],
  ["nameless", [1]],
  ["events:1 n:<=3", [2]],
  ["project:1 n:<=3", [1, 2]],
  ["method:GET", [3]],
];
test.each(requestLists)("GET /__sim/requests?filter=%s", async (filter, numbers) => {
  expect(await requests(queryOf(filter))).toEqual(numbers);
});

test("a filter of requests works with the other parameters", async () => {
  expect(await requests(queryOf("n:<=3", { outcome: "rejected" }))).toEqual([3]);
  expect(await requests(queryOf("is:rejected", { outcome: "answered" }))).toEqual([]);
  expect(await requests(queryOf("n:<=3", { limit: "1" }))).toEqual([3]);
});

test("a filter selects the requests of a HAR", async () => {
  const { answer } = await control(sim, "GET", `requests.har?${queryOf("is:unmatched")}`);
  expect((answer as unknown as { log: { entries: unknown[] } }).log.entries).toHaveLength(1);
});

describe("wrong filters", () => {
  const wrong: [path: string, filter: string, at: number, said: RegExp][] = [
    ["events", "evnt:a", 0, /^the filter is wrong at character 1: there is no field "evnt"$/],
    ["events", "a status:x", 9, /^the filter is wrong at character 10: "status" is a number$/],
    ["events", '"a', 0, /this quote is not closed$/],
    ["events", "(", 0, /this parenthesis is not closed$/],
    ["events", "a".repeat(2_001), 2_000, /a filter has at most 2,000 characters$/],
    ["requests", "is:kep", 3, /"is" is answered/],
    ["requests", "outcome:dropped", 8, /"outcome" is answered or rejected$/],
    ["requests.har", "a OR", 2, /there is nothing after this OR$/],
  ];
  test.each(wrong)("%s?filter=%s", async (path, filter, at, said) => {
    const { status, answer } = await control(sim, "GET", `${path}?${queryOf(filter)}`);
    expect({ status, ...answer }).toMatchObject({ status: 400, code: "invalid_input", pointer: "?filter", at });
    expect(answer.detail).toMatch(said);
    expect(answer).toHaveProperty("problems.0.at", at);
  });
});

describe("the client", () => {
  test("lists events by a filter", async () => {
    const events = await sim.events.list({ filter: "event:signup prop.amount:>10" });
    expect(events.map((it) => it.seq)).toEqual([1]);
    const found = await sim.requests.list({ filter: "is:unmatched" });
    expect(found.map((it) => it.n)).toEqual([3]);
  });

  test("looks through what fits for what only it can evaluate", async () => {
    const where = { plan: (value: unknown) => value === "free" };
    const events = await sim.events.list({ filter: "event:signup", where: { properties: where } });
    expect(events.map((it) => it.seq)).toEqual([2]);
  });

  test("streams events by a filter", async () => {
    for await (const event of sim.events.stream({ since: 0, filter: "is:dropped" })) {
      expect(event.seq).toBe(3);
      break;
    }
  });

  test("rejects a wrong filter with its place", async () => {
    await expect(sim.events.list({ filter: "foo:1" })).rejects.toThrow(/there is no field "foo"/);
  });
});
