import { setImmediate } from "node:timers/promises";
import { PostHog } from "posthog-node";
import { expect, test } from "vitest";
import { type Sim, startSim } from "../../../src/index.ts";
import type { Project } from "../../../src/sim/client/api.ts";
import { compareBaselines } from "../../../src/tools/baseline/compare.ts";
import { writeBaseline } from "../../../src/tools/baseline/file.ts";
import { createRecorder } from "../../../src/tools/baseline/recorder.ts";
import { send } from "../../testing/shop.ts";

/** What is recorded while the sim works, as the lines of a file. */
async function recorded(use: (sim: Sim) => Promise<void>, { sdk = false, order = true } = {}) {
  await using sim = await startSim();
  const recorder = createRecorder({ sdk, order });
  sim.onProject(recorder.addProject);
  sim.onLine(recorder.addLine);
  await use(sim);
  await sim.settle({ idleMs: 0 });
  const baseline = recorder.baseline(new Map([[sim.projectId, ""]]));
  const [, ...lines] = writeBaseline(baseline).trimEnd().split("\n");
  return { baseline, lines: lines.map((it) => JSON.parse(it)) };
}

const inTest = (use: (project: Project) => Promise<void>, options = {}) =>
  recorded(async (sim) => {
    await using project = await sim.project({ name: "t" });
    await use(project);
  }, options);

test("tokens in names are not in the file", async () => {
  const token = `phx_${"a1B2".repeat(10)}`;
  const stripe = `sk_live_${"a1B2".repeat(6)}`;
  const { lines } = await inTest((ph) =>
    send(ph, {
      event: `login ${stripe}`,
      properties: { [token]: 1, [`of ${stripe}`]: 2, $set: { [stripe]: 3 }, plan: "pro" },
    }),
  );
  expect(JSON.stringify(lines)).not.toMatch(/a1B2/);
  expect(lines[0]).toEqual({
    test: "t",
    event: "login {secret}",
    count: 1,
    properties: { "$set.{secret}": "number", "of {secret}": "number", plan: "string", "phx_***": "number" },
  });
});

test("events with the types of their properties; what some events lack is optional", async () => {
  const { lines } = await inTest((ph) =>
    send(
      ph,
      { event: "paid", properties: { amount: 1, tags: ["a"], card: null, items: [], both: [1, "a"] } },
      { event: "paid", properties: { amount: 2.5, tags: [], card: "x", items: [{ sku: 1 }], coupon: {} } },
      { event: "$pageview", properties: { $current_url: "https://a.example/?utm_source=x", utm_source: "x" } },
    ),
  );
  expect(lines).toEqual([
    { test: "t", event: "$pageview", count: 1 },
    {
      test: "t",
      event: "paid",
      count: 2,
      properties: {
        amount: "number",
        both: "(number|string)[]?",
        card: "null|string",
        coupon: "object?",
        items: "object[]",
        tags: "string[]",
      },
    },
    { test: "t", order: ["paid", "$pageview"] },
  ]);
});

test("identity calls with what they set, and flags that are read or requested", async () => {
  const { lines } = await inTest(async (ph) => {
    await send(
      ph,
      { event: "$identify", properties: { $anon_distinct_id: "v", $set: { plan: "pro", $browser: "x" } } },
      { event: "$create_alias", properties: { alias: "b" } },
      { event: "$groupidentify", properties: { $group_type: "company", $group_key: "c", $group_set: { seats: 3 } } },
      { event: "$set", properties: { $set_once: { first: true } } },
      { event: "paid", properties: { $set: { paying: true }, $groups: { company: "c" }, "$feature/beta": true } },
      { event: "$feature_flag_called", properties: { $feature_flag: "beta", $feature_flag_response: true } },
      { event: "$feature_flag_called", properties: { $feature_flag: "beta", $feature_flag_response: true } },
    );
    const body = { api_key: ph.apiKey, distinct_id: "anna", flag_keys_to_evaluate: ["gamma"] };
    await fetch(`${ph.host}/flags/?v=2`, { method: "POST", body: JSON.stringify(body) });
    const all = { api_key: ph.apiKey, distinct_id: "anna" };
    await fetch(`${ph.host}/flags/?v=2`, { method: "POST", body: JSON.stringify(all) });
  });
  expect(lines).toEqual([
    { test: "t", event: "paid", count: 1, properties: { "$groups.company": "string", "$set.paying": "boolean" } },
    { test: "t", identity: "alias", count: 1 },
    { test: "t", identity: "group company", count: 1, properties: { seats: "number" } },
    { test: "t", identity: "identify", count: 1, properties: { plan: "string" } },
    { test: "t", identity: "set", count: 1, properties: { first: "boolean" } },
    { test: "t", flag: "beta" },
    { test: "t", flag: "gamma" },
    { test: "t", order: ["identify()", "alias()", "group company()", "set()", "paid"] },
  ]);
});

test("what differs between equal runs is not recorded", async () => {
  const run = (n: number) =>
    inTest((ph) =>
      send(
        ph,
        { event: `order ${1e9 + n} paid`, distinct_id: `user-${n}`, properties: { [`of ${crypto.randomUUID()}`]: n } },
        { event: "$pageleave", distinct_id: `user-${n}` },
        ...Array.from({ length: n }, () => ({ event: "$web_vitals", distinct_id: `user-${n}` })),
        { event: "no_user", distinct_id: "" },
      ),
    );
  const [{ lines }, second] = await Promise.all([run(1), run(2)]);
  expect(lines).toEqual([{ test: "t", event: "order {number} paid", count: 1, properties: { "of {uuid}": "number" } }]);
  expect(second.lines).toEqual(lines);
});

test("the SDKs' own events and properties on request, and no order", async () => {
  const { lines } = await inTest(
    (ph) => send(ph, { event: "$pageleave", properties: { $lib: "web" } }, { event: "a", properties: {} }),
    { sdk: true, order: false },
  );
  expect(lines).toMatchObject([
    { event: "$pageleave", properties: { $lib: "string" } },
    { event: "a", count: 1 },
  ]);
});

test("a repeated uuid counts once, and clients' uuids decide the order", async () => {
  const uuid = (n: number) => `0190000${n}-0000-7000-8000-000000000000`;
  const { lines } = await inTest(async (ph) => {
    await send(ph, { event: "second", uuid: uuid(2) } as object);
    await send(ph, { event: "first", uuid: uuid(1) } as object, { event: "second", uuid: uuid(2) } as object);
  });
  expect(lines).toEqual([
    { test: "t", event: "first", count: 1 },
    { test: "t", event: "second", count: 1 },
    { test: "t", order: ["first", "second"] },
  ]);
});

test("projects of tests by name, the first project as no test; silent and unnamed ones, too", async () => {
  const { lines } = await recorded(async (sim) => {
    await send(sim, { event: "seeded" });
    await sim.events.clear();
    await using silent = await sim.project({ name: "silent" });
    for (let i = 0; i < 2; i++) {
      await using project = await sim.project();
      await send(project, { event: "a" });
    }
    expect(silent.name).toBe("silent");
  });
  expect(lines).toEqual([
    { test: "", event: "seeded", count: 1 },
    { test: "(unnamed)", event: "a", count: 1 },
    { test: "silent" },
  ]);
});

test("attempts of a test are one: the longest, and what others add", async () => {
  const attempts = [["a"], ["a", "b", "c"], ["a", "b"], ["a", "x"]];
  const run = (order: readonly (readonly string[])[]) =>
    recorded(async (sim) => {
      for (const names of order) {
        await using project = await sim.project({ name: "t" });
        await send(project, ...names.map((event) => ({ event })));
      }
    });
  const [{ lines }, other] = await Promise.all([run(attempts), run(attempts.toReversed())]);
  expect(lines).toEqual([
    ...["a", "b", "c", "x"].map((event) => ({ test: "t", event, count: 1 })),
    { test: "t", order: ["a", "b", "c"] },
    { test: "t", order: ["a", "x"] },
  ]);
  expect(other.lines).toEqual(lines);
});

/** `npm run soak:baseline` runs 50. */
const runs = Number(process.env.RUNS ?? 3);
const tests = 30;

test(`${runs} runs of ${tests} parallel tests in random order are equal`, async () => {
  const chance = Math.random;
  /** Lets others go first, some turns long. */
  const pause = async () => {
    for (let left = Math.floor(chance() * 20); left > 0; left--) await setImmediate();
  };
  async function app(project: Project, n: number): Promise<void> {
    const posthog = new PostHog(project.apiKey, { host: project.host, flushAt: 2, requestTimeout: 60_000 });
    const use = async (user: string) => {
      const distinctId = `${user} ${chance()}`;
      posthog.capture({ distinctId: `visitor ${distinctId}`, event: "started" });
      await pause();
      posthog.identify({ distinctId, properties: { n, $anon_distinct_id: `visitor ${distinctId}` } });
      await pause();
      for (let i = 0; i <= n % 3; i++)
        posthog.capture({ distinctId, event: "bought", properties: { amount: chance(), n: i } });
      posthog.capture({ distinctId, event: `done ${n % 2}` });
    };
    await Promise.all(["anna", "ben", "cleo"].map(use));
    await posthog.shutdown();
  }
  const once = () =>
    recorded(async (sim) => {
      const order = Array.from({ length: tests }, (_, i) => [chance(), i] as const).sort(([a], [b]) => a - b);
      await Promise.all(
        order.map(async ([, i]) => {
          await using project = await sim.project({ name: `test ${i}` });
          await app(project, i);
        }),
      );
    });
  const first = await once();
  expect(first.baseline.tests.size).toBe(tests);
  for (let i = 1; i < runs; i++) {
    const { baseline } = await once();
    expect(compareBaselines(first.baseline, baseline, { complete: true })).toEqual({
      added: [],
      removed: [],
      changed: [],
      compared: tests,
      not_run: [],
    });
  }
});
