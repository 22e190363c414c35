import { describe, expect, test } from "vitest";
import { type Sim, startSim } from "../../../src/index.ts";
import type { FlagDecisions, FlagSeen } from "../../../src/service/flags/decision-shapes.ts";

/** A sim with these flags. */
const open = (flags: object, more: object = {}): Promise<Sim> =>
  startSim({ scenario: { api_key: "phc_seen", flags, ...more } });

const post = (sim: Sim, path: string, body: object) =>
  fetch(`${sim.url}${path}`, { method: "POST", body: JSON.stringify(body) });

const ask = (sim: Sim, distinctId: string, more: object = {}) =>
  post(sim, "/flags/?v=2", { token: "phc_seen", distinct_id: distinctId, ...more });

async function seen(sim: Sim, key: string): Promise<FlagSeen> {
  const reply = await fetch(`${sim.url}/__sim/flags/${encodeURIComponent(key)}/seen`);
  expect(reply.status).toBe(200);
  return (await reply.json()) as FlagSeen;
}

const sum = (counts: readonly number[]): number => counts.reduce((all, it) => all + it, 0);

const rules = (groups: object[], more: object = {}) => ({ filters: { groups, ...more } });
const mailOf = { key: "email", type: "person", operator: "icontains", value: "@shop.test" };

describe("what the rules give to the ids seen", () => {
  test("counts each set, and the hashes of all ids against its threshold", async () => {
    await using sim = await open({
      checkout: rules([{ properties: [mailOf], variant: "test" }, { rollout_percentage: 50 }], {
        multivariate: {
          variants: [
            { key: "control", rollout_percentage: 50 },
            { key: "test", rollout_percentage: 50 },
          ],
        },
      }),
    });
    for (let i = 0; i < 60; i++) {
      const email = i < 6 ? `c${i}@shop.test` : `c${i}@mail.test`;
      await ask(sim, `customer-${i}`, { person_properties: { email } });
    }
    // the same id again is one id
    await ask(sim, "customer-1", { person_properties: { email: "c1@shop.test" } });
    const found = await seen(sim, "checkout");
    expect(found).toMatchObject({ ids: 60, asked: 60, is_all: true, active: true, failed: 0 });
    expect(found.last_asked).not.toBeNull();
    const [first, second] = found.sets;
    expect(first).toMatchObject({ reached: 60, taken: 6, rollout: null });
    expect(second?.reached).toBe(54);
    expect(found.off).toBe(54 - (second?.taken ?? 0));
    const rollout = second?.rollout;
    expect(rollout).toMatchObject({ percentage: 50, count: 60, unit: "distinct id", expected: 30 });
    expect(sum(rollout?.bins ?? [])).toBe(60);
    expect(sum((rollout?.bins ?? []).slice(0, 10))).toBe(rollout?.within);
    const { variants } = found;
    // a set with its own variant draws none
    expect(variants?.count).toBe(second?.taken);
    expect(sum((variants?.rows ?? []).map((it) => it.seen))).toBe(variants?.count);
    // what clients got is what is counted
    const { decisions } = (await (
      await fetch(`${sim.url}/__sim/flag-decisions?key=checkout&limit=100`)
    ).json()) as FlagDecisions;
    const tests = new Set(decisions.filter((it) => it.flags[0]?.value === "test").map((it) => it.distinct_id));
    expect(tests.size).toBe((variants?.rows[1]?.seen ?? 0) + 6);
  });

  test("hashes group keys once, and says how many ids have none", async () => {
    await using sim = await open(
      { beta: rules([{ rollout_percentage: 30 }], { aggregation_group_type_index: 0 }) },
      { group_types: ["company"] },
    );
    for (let i = 0; i < 12; i++) await ask(sim, `member-${i}`, { groups: { company: `firm-${i % 3}` } });
    await ask(sim, "alone");
    const [set] = (await seen(sim, "beta")).sets;
    expect(set?.rollout).toMatchObject({ unit: "company", count: 3, without: 1, verdict: "too_few" });
  });

  test("ids of events are seen as well, but were not asked for", async () => {
    await using sim = await open({ half: { rollout: 50 } });
    await post(sim, "/capture/", { api_key: "phc_seen", event: "bought", distinct_id: "quiet" });
    expect(await seen(sim, "half")).toMatchObject({ ids: 1, asked: 0, last_asked: null });
  });

  test("an inactive flag counts nothing; one that cannot be computed says so", async () => {
    const cohort = { key: "id", type: "cohort", operator: "in", value: 404 };
    await using sim = await open({
      off: { active: false, ...rules([{ rollout_percentage: 50 }]) },
      broken: rules([{ properties: [cohort] }]),
    });
    await ask(sim, "anna");
    expect(await seen(sim, "off")).toMatchObject({ active: false, sets: [{ reached: 0, rollout: null }] });
    expect(await seen(sim, "broken")).toMatchObject({ failed: 1, off: 0 });
  });

  test("shares below 100 % leave some without a variant; shares beyond it are never reached", async () => {
    const split = (...shares: number[]) =>
      rules([{ rollout_percentage: 100 }], {
        multivariate: { variants: shares.map((it, i) => ({ key: `v${i}`, rollout_percentage: it })) },
      });
    await using sim = await open({ under: split(20, 30), over: split(80, 80) });
    for (let i = 0; i < 20; i++) await ask(sim, `it-${i}`);
    const shares = async (key: string) =>
      (await seen(sim, key)).variants?.rows.map(({ variant, share }) => [variant, Number(share.toFixed(3))]);
    expect(await shares("under")).toEqual([
      ["v0", 0.2],
      ["v1", 0.3],
      [null, 0.5],
    ]);
    expect(await shares("over")).toEqual([
      ["v0", 0.8],
      ["v1", 0.2],
    ]);
  });

  test("a key without a flag is not found", async () => {
    await using sim = await open({ on: true });
    const reply = await fetch(`${sim.url}/__sim/flags/none/seen`);
    expect(reply.status).toBe(404);
  });
});
