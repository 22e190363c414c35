import { describe, expect, test } from "vitest";
import { answer, asked, exchange, started, tapeOf } from "./tapes.ts";

const token = "phc_recorded";
const flagsAnswer = (key: string) => answer({ flags: { [key]: { key, enabled: true } } });
const ask = { token, distinct_id: "u1" };
const threeAnswers = () =>
  tapeOf(["one", "two", "three"].map((key) => exchange("POST /flags/?v=2", flagsAnswer(key), { body: ask })));

const sourceOf = async (sim: Parameters<typeof asked>[0], body: object, headers: Record<string, string> = {}) =>
  (await asked(sim, "POST /flags/?v=2", { body, headers })).source;

describe("each client has its own place on the tape", () => {
  test("by project", async () => {
    const sim = await started({ tape: await threeAnswers() });
    await using one = await sim.project();
    await using two = await sim.project();
    const of = (apiKey: string) => sourceOf(sim, { ...ask, token: apiKey });
    expect([await of(one.apiKey), await of(two.apiKey), await of(one.apiKey), await of(two.apiKey)]).toEqual([
      "tape:checkout#1",
      "tape:checkout#1",
      "tape:checkout#2",
      "tape:checkout#2",
    ]);
  });

  test("by X-Test-Id, 30 at the same time", async () => {
    const sim = await started({ tape: await threeAnswers() });
    const runs = Array.from({ length: 30 }, async (_, i) => {
      const headers = { "x-test-id": `test-${i}` };
      return [await sourceOf(sim, ask, headers), await sourceOf(sim, ask, headers), await sourceOf(sim, ask, headers)];
    });
    const expected = ["tape:checkout#1", "tape:checkout#2", "tape:checkout#3"];
    expect(await Promise.all(runs)).toEqual(runs.map(() => expected));
    expect((await sim.tapes.get())?.ledger).toMatchObject({ hits: 90, unused_count: 0 });
  });

  test("an unknown key is the same client before and after its first event", async () => {
    const sim = await started({ tape: await threeAnswers() });
    const live = { ...ask, token: "phc_never_seen" };
    const first = await sourceOf(sim, live);
    const batch = [{ event: "e", distinct_id: "u1" }];
    await asked(sim, "POST /batch/", { body: { api_key: live.token, batch } });
    expect([first, await sourceOf(sim, live)]).toEqual(["tape:checkout#1", "tape:checkout#2"]);
    expect((await sim.events.list()).map(({ event }) => event)).toEqual(["e"]);
  });
});

describe("back to the beginning", () => {
  test("one client, or all", async () => {
    const sim = await started({ tape: await threeAnswers() });
    const both = async () => [
      await sourceOf(sim, ask, { "x-test-id": "a" }),
      await sourceOf(sim, ask, { "x-test-id": "b" }),
    ];
    await both();
    await sim.tapes.rewind("test:a");
    expect(await both()).toEqual(["tape:checkout#1", "tape:checkout#2"]);
    await sim.tapes.rewind();
    expect(await both()).toEqual(["tape:checkout#1", "tape:checkout#1"]);
  });

  test("a reset rewinds, unless it leaves the answers alone", async () => {
    const sim = await started({ tape: await threeAnswers() });
    await sourceOf(sim, ask);
    await sim.reset({ what: ["events"] });
    expect(await sourceOf(sim, ask)).toBe("tape:checkout#2");
    await sim.reset();
    expect(await sourceOf(sim, ask)).toBe("tape:checkout#1");
  });
});
