import { beforeEach, describe, expect, test } from "vitest";
import type { Journey } from "../../../src/lab/journeys/shapes.ts";
import { openSim } from "../../support/sim.ts";

const { sim } = await openSim({
  scenario: { api_key: "phc_j", flags: { banner: true, gold: { person: { plan: "gold" } } } },
});
beforeEach(() => sim.reset());

const post = (path: string, body: unknown) =>
  fetch(`${sim.url}${path}`, { method: "POST", body: JSON.stringify(body) });

const now = Date.now();
const event = (name: string, seconds: number, properties: object = {}, distinctId = "ines") => ({
  event: name,
  distinct_id: distinctId,
  timestamp: new Date(now + seconds * 1_000).toISOString(),
  properties,
});

const send = (...batch: object[]) => post("/batch/", { api_key: "phc_j", batch });

async function journey(id: string, search = ""): Promise<Journey> {
  const reply = await fetch(`${sim.url}/__sim/persons/${encodeURIComponent(id)}/journey${search}`);
  expect(reply.status).toBe(200);
  return (await reply.json()) as Journey;
}

const texts = ({ moments }: Journey, lane: string): string[] =>
  moments.filter((it) => it.lane === lane).map((it) => it.text || it.name);

describe("a person's journey", () => {
  test("has a lane for pages, clicks, own events, flags, requests and problems, in the order of time", async () => {
    await send(
      event("$pageview", -60, { $current_url: "https://shop.test/plants?page=2" }),
      event("$autocapture", -50, { $elements_chain: 'button:text="Buy now"nth-child="1"' }),
      event("bought", -45, { price: 3 }),
      event("$exception", -40, { $exception_list: [{ type: "TypeError", value: "no price" }] }),
      event("$web_vitals", -39, { $web_vitals_CLS_value: 0.3, $web_vitals_LCP_value: 900 }),
      event("$feature_flag_called", -38, { $feature_flag: "banner", $feature_flag_response: true }),
      event("$screen", -70, { $screen_name: "Cart" }),
    );
    const found = await journey("ines");
    expect(texts(found, "page")).toEqual(["Cart", "/plants"]);
    expect(texts(found, "click")).toEqual(["Buy now"]);
    expect(texts(found, "own")).toEqual(["bought"]);
    expect(texts(found, "problem")).toEqual(["TypeError: no price", "CLS 0.30"]);
    expect(texts(found, "flag")).toEqual(["banner = true"]);
    expect(found.moments.filter((it) => it.lane === "request")).toMatchObject([
      { name: "POST /batch/", status: 200, events: 7, outcome: "kept" },
    ]);
    const times = found.moments.map((it) => Date.parse(it.at));
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(found).toMatchObject({ left_out: 0, is_all: true });
  });

  test("values of flags are in force until another answer; both ids of a merged person count", async () => {
    await post("/flags/?v=2", { token: "phc_j", distinct_id: "anon" });
    await send(event("$identify", 0, { $anon_distinct_id: "anon" }));
    await post("/flags/?v=2", { token: "phc_j", distinct_id: "ines", person_properties: { plan: "gold" } });
    const { flags, person } = await journey("ines");
    expect(person.distinct_ids.toSorted()).toEqual(["anon", "ines"]);
    const gold = flags.find(({ key }) => key === "gold");
    expect(gold?.spans).toMatchObject([
      { value: false, why: "No matching condition set" },
      { value: true, why: "set 1", to: null },
    ]);
    expect(gold?.spans[0]?.to).toBe(gold?.spans[1]?.from);
    expect(flags.find(({ key }) => key === "banner")?.spans).toHaveLength(1);
    expect(flags[0]?.key).toBe("gold");
  });

  test("a rejected request that names the person is a moment, also on an unknown path", async () => {
    await send(event("seen", 0));
    await post("/ingest/e/", { api_key: "phc_j", event: "lost", distinct_id: "ines" });
    await post("/ingest/e/", { api_key: "phc_j", event: "lost", distinct_id: "other" });
    const { moments } = await journey("ines");
    expect(moments.filter((it) => it.outcome === "rejected")).toMatchObject([
      { lane: "request", name: "POST /ingest/e/", status: 404, reason: "not_found" },
    ]);
  });

  test("a session has only its own events", async () => {
    await send(event("first", -9_000, { $session_id: "s-1" }), event("second", 0, { $session_id: "s-2" }));
    const { moments } = await journey("ines", "?session=s-2");
    expect(moments.filter((it) => it.seq !== null).map((it) => it.name)).toEqual(["second"]);
    expect((await journey("ines", "?session=none")).moments).toEqual([]);
  });

  test("damaged times are shown at their arrival and named", async () => {
    await send(
      { ...event("future", 0), timestamp: "2999-01-01T00:00:00Z" },
      { ...event("ancient", 0), timestamp: "1970-01-01T00:00:00Z" },
      event("early", 7_200),
      event("right", 0),
    );
    const { moments } = await journey("ines");
    const clocks = Object.fromEntries(moments.map((it) => [it.name, it.clock]));
    expect(clocks).toMatchObject({ future: "ahead", ancient: "behind", early: "ahead", right: null });
    for (const it of moments) expect(Math.abs(Date.parse(it.at) - now)).toBeLessThan(600_000);
  });

  test("damaged events of every kind are moments", async () => {
    const wrong = [null, 1, true, [], {}, [null], [[]], "x".repeat(100_000)];
    const names = ["$pageview", "$autocapture", "$exception", "$web_vitals", "$feature_flag_called", "$groupidentify"];
    const fields = ["$current_url", "$elements_chain", "$exception_list", "$feature_flag", "$session_id", "$group_key"];
    await send(
      ...names.flatMap((name) =>
        wrong.map((it) => event(name, 0, Object.fromEntries(fields.map((field) => [field, it])))),
      ),
    );
    const { moments } = await journey("ines");
    expect(moments.filter((it) => it.seq !== null)).toHaveLength(names.length * wrong.length);
    for (const it of moments) expect(it.text.length).toBeLessThanOrEqual(200);
  });

  test("more than 2,000 moments are cut, and the answer says so", async () => {
    for (let i = 0; i < 5; i++)
      await send(...Array.from({ length: 500 }, (_, n) => event(`e${i * 500 + n}`, i * 500 + n - 2_500)));
    const found = await journey("ines");
    expect(found.moments).toHaveLength(2_000);
    expect(found.is_all).toBe(false);
    expect(found.left_out).toBeGreaterThan(0);
    expect(found.moments.findLast((it) => it.seq !== null)?.name).toBe("e2499");
  });

  test("an id without a person is not found", async () => {
    expect((await fetch(`${sim.url}/__sim/persons/nobody/journey`)).status).toBe(404);
  });
});
