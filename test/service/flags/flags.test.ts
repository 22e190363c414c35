import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { connectSim, type SimOptions, startSim } from "../../../src/index.ts";
import { control as controlOf } from "../../support/control.ts";
import { newFolder } from "../../support/folder.ts";
import { openSim } from "../../support/sim.ts";

const sets = (...groups: object[]) => ({ filters: { groups } });
const everyone = { rollout_percentage: 100 };
const shop = {
  plain: true,
  ways: { variants: { control: 50, test: 50 }, payloads: { test: { cta: "Buy" }, control: { cta: "Get" } } },
  "pro-only": { person: { plan: "pro" }, rollout: 40 },
  stopped: { active: false, ...sets(everyone) },
  gone: { deleted: true, ...sets(everyone) },
  companies: {
    filters: {
      aggregation_group_type_index: 0,
      groups: [
        { properties: [{ key: "tier", type: "group", group_type_index: 0, operator: "exact", value: ["gold"] }] },
      ],
    },
  },
  dependent: sets({ properties: [{ key: "9001", type: "flag", operator: "flag_evaluates_to", value: true }] }),
  base: { id: 9001, ...sets({ rollout_percentage: 0 }) },
};
const projects = [
  { id: 1, name: "Shop", api_key: "phc_shop", flags: shop },
  { id: 2, name: "Blog", api_key: "phc_blog", flags: { plain: false } },
];
const scenario = {
  version: 1,
  organizations: [{ name: "Org", projects }],
  personal_api_keys: [{ key: "phx_all", scopes: ["*"] }],
} as const satisfies SimOptions["scenario"];

const { sim, capture, post } = await openSim({ scenario });
beforeEach(() => sim.reset());

/** Makes the group type known. */
const company = {
  event: "$groupidentify",
  distinct_id: "x",
  properties: { $group_type: "company", $group_key: "any" },
};

interface Answer {
  status: number;
  answer: Record<string, unknown>;
}

const control = (method: string, path: string, body?: unknown, to = sim) =>
  controlOf<Record<string, unknown>>(to, method, `flags${path}`, body);

/** What a client gets. */
async function flags(distinctId: string, key = "phc_shop"): Promise<Record<string, Record<string, unknown>>> {
  const response = await post("/flags/?v=2", { token: key, distinct_id: distinctId });
  return ((await response.json()) as { flags: Record<string, Record<string, unknown>> }).flags;
}

describe("PUT /__sim/flags/:key", () => {
  const rows: [what: string, key: string, body: object, expected: object][] = [
    ["on", "base", { value: true }, { enabled: true, reason: { code: "override" } }],
    ["off", "plain", { value: false }, { enabled: false, reason: { code: "override" } }],
    [
      "a variant, with its own payload",
      "ways",
      { value: "test" },
      { enabled: true, variant: "test", metadata: { payload: '{"cta":"Buy"}' } },
    ],
    [
      "a variant with another payload",
      "ways",
      { value: "test", payload: { cta: "Now" } },
      { variant: "test", metadata: { payload: '{"cta":"Now"}' } },
    ],
    ["a forced variant", "ways", { value: "third", force: true }, { enabled: true, variant: "third" }],
    ["an inactive flag", "stopped", { value: true }, { enabled: true }],
    ["a forced flag", "new", { value: "blue", force: true }, { enabled: true, variant: "blue" }],
    ["for one id", "base", { value: true, distinct_id: "user-1" }, { enabled: true }],
  ];
  test.each(rows)("%s", async (_what, key, body, expected) => {
    const { status, answer } = await control("PUT", `/${key}`, body);
    expect(status).toBe(200);
    const { force: _, ...kept } = { force: false, ...body };
    expect(answer).toMatchObject({ project: 1, key, payload: null, distinct_id: null, ...kept });
    expect((await flags("user-1"))[key]).toMatchObject(expected);
  });

  test("an id's own counts before everyone's", async () => {
    await control("PUT", "/ways", { value: "control" });
    await control("PUT", "/ways", { value: "test", distinct_id: "user-1" });
    expect((await flags("user-1")).ways).toMatchObject({ variant: "test" });
    expect((await flags("user-2")).ways).toMatchObject({ variant: "control" });
  });

  test("set again it is replaced", async () => {
    await control("PUT", "/plain", { value: false });
    await control("PUT", "/plain", { value: true });
    expect((await control("GET", "/plain")).answer.overrides).toMatchObject([{ value: true }]);
  });

  test("is the named project's", async () => {
    await control("PUT", "/plain", { value: true, project: 2 });
    expect((await flags("u", "phc_blog")).plain).toMatchObject({ reason: { code: "override" } });
    expect((await flags("u")).plain).toMatchObject({ reason: { code: "condition_match" } });
  });

  test("a flag that depends on it sees it", async () => {
    expect((await flags("u")).dependent).toMatchObject({ enabled: false });
    await control("PUT", "/base", { value: true });
    expect((await flags("u")).dependent).toMatchObject({ enabled: true, reason: { code: "condition_match" } });
  });

  test("an unknown flag is refused unless it is forced, or has an override already", async () => {
    const hint = 'did you mean "plain"?; "force" sets it anyway';
    const refusal = { code: "not_found", detail: 'project 1 has no flag "plian"', hint };
    expect(await control("PUT", "/plian", { value: true })).toMatchObject({ status: 404, answer: refusal });
    await expect(sim.flags.set("plian", true)).rejects.toMatchObject({ status: 404, body: refusal });
    expect((await control("GET", "/plain")).answer.overrides).toEqual([]);
    const { answer } = await control("PUT", "/plian", { value: true, force: true });
    expect(answer).toMatchObject({ known: false, hint: 'project 1 has no such flag; did you mean "plain"?' });
    expect((await control("PUT", "/plian", { value: false })).status).toBe(200);
    expect((await control("PUT", "/plain", { value: true })).answer).toMatchObject({ known: true, hint: null });
  });

  test("a key may be any text", async () => {
    for (const key of ["__proto__", "constructor", "a/b?c", "ключ", "explain"]) {
      expect((await control("PUT", `/${encodeURIComponent(key)}`, { value: true, force: true })).answer).toMatchObject({
        key,
      });
    }
    const list = (await control("GET", "")).answer.flags as { key: string; id: unknown }[];
    expect(list.filter((it) => it.id === null).map((it) => it.key)).toEqual([
      "__proto__",
      "constructor",
      "a/b?c",
      "ключ",
      "explain",
    ]);
  });

  const mistakes: [body: unknown, status: number, expected: object][] = [
    ["{", 400, { code: "parse_error" }],
    ["[]", 400, { code: "invalid_input", pointer: "" }],
    [{}, 400, { code: "invalid_input", pointer: "/value" }],
    [{ value: null }, 400, { code: "invalid_input", pointer: "/value" }],
    [{ value: 1 }, 400, { code: "invalid_input", pointer: "/value" }],
    [{ value: "" }, 400, { code: "invalid_input", pointer: "/value" }],
    [{ value: true, distinct_id: 5 }, 400, { code: "invalid_input", pointer: "/distinct_id" }],
    [{ value: true, distinct_id: "" }, 400, { code: "invalid_input", pointer: "/distinct_id" }],
    [{ value: true, project: "1" }, 400, { code: "invalid_input", pointer: "/project" }],
    [{ value: true, project: 9 }, 404, { code: "not_found", hint: "known projects: 1, 2" }],
    [{ value: true, distinctId: "u" }, 400, { code: "invalid_input", pointer: "/distinctId" }],
    [
      { value: "tset" },
      400,
      {
        code: "invalid_input",
        detail: 'flag "ways" has no variant "tset"',
        pointer: "/value",
        hint: 'its variants: control, test; did you mean test?; "force" sets it anyway',
      },
    ],
  ];
  test.each(mistakes)("%j is %d", async (body, status, expected) => {
    expect(await control("PUT", "/ways", body)).toMatchObject({ status, answer: expected });
    expect((await control("GET", "/ways")).answer.overrides).toEqual([]);
  });
});

describe("DELETE", () => {
  beforeEach(async () => {
    for (const body of [{ value: true }, { value: true, distinct_id: "u" }, { value: true, project: 2 }]) {
      await control("PUT", "/plain", body);
    }
    await control("PUT", "/ways", { value: "test" });
  });

  const rows: [path: string, removed: number, left: number][] = [
    ["/plain", 2, 2],
    ["/plain?distinct_id=u", 1, 3],
    ["/plain?distinct_id=v", 0, 4],
    ["/plain?distinct_id=", 0, 4],
    ["/plain?project=2", 1, 3],
    ["/nothing", 0, 4],
    ["?project=2", 1, 3],
    ["?project=3", 0, 4],
    ["", 4, 0],
  ];
  test.each(rows)("%s removes %d", async (path, removed, left) => {
    expect(await control("DELETE", path)).toEqual({ status: 200, answer: { removed } });
    const list = (await control("GET", "")).answer.flags as { overrides: unknown[] }[];
    expect(list.flatMap((it) => it.overrides)).toHaveLength(left);
  });

  test("reset ends them all", async () => {
    await sim.reset();
    expect((await flags("u")).plain).toMatchObject({ reason: { code: "condition_match" } });
    expect(await control("DELETE", "")).toMatchObject({ answer: { removed: 0 } });
  });
});

describe("GET /__sim/flags", () => {
  test("reports each flag's rules in short; deleted ones are left out", async () => {
    const { answer } = await control("GET", "?project=1");
    const list = answer.flags as { key: string; rules: string[]; active: boolean }[];
    expect(list.map((it) => [it.key, it.active, it.rules])).toEqual([
      ["plain", true, ["everyone: 100 %"]],
      ["ways", true, ["everyone: 100 %", "variants: control 50 %, test 50 %"]],
      ["pro-only", true, ['plan is "pro": 40 %']],
      ["stopped", false, ["everyone: 100 %"]],
      ["companies", true, ['the group type 0\'s tier is "gold": 100 %']],
      ["dependent", true, ['flag "base" is on: 100 %']],
      ["base", true, ["everyone: 0 %"]],
    ]);
  });

  test.each([
    ["", [1, 1, 1, 1, 1, 1, 1, 2]],
    ["?project=2", [2]],
    ["?project=3", []],
  ])("%s", async (query, projects) => {
    const { answer } = await control("GET", query);
    expect((answer.flags as { project: number }[]).map((it) => it.project)).toEqual(projects);
  });

  const missing: [path: string, status: number, expected: object][] = [
    ["?project=x", 400, { code: "invalid_input", pointer: "?project" }],
    ["/plian", 404, { code: "not_found", hint: 'did you mean "plain"?' }],
    ["/gone", 404, { code: "not_found" }],
    ["/plain?project=3", 404, { code: "not_found", hint: "known projects: 1, 2" }],
  ];
  test.each(missing)("%s is %d", async (path, status, answer) => {
    expect(await control("GET", path)).toMatchObject({ status, answer });
  });
});

const query = (given: Record<string, unknown>): string =>
  `?${new URLSearchParams(
    Object.entries(given).map(([name, it]): [string, string] => [
      name,
      typeof it === "object" ? JSON.stringify(it) : String(it),
    ]),
  )}`;

describe("explain", () => {
  const ways: [method: string, ask: (key: string, given: Record<string, unknown>) => Promise<Answer>][] = [
    ["GET", (key, given) => control("GET", `/${key}/explain${query(given)}`)],
    ["POST", (key, given) => control("POST", `/${key}/explain`, given)],
  ];

  describe.each(ways)("by %s", (_, ask) => {
    const rows: [what: string, key: string, given: Record<string, unknown>, expected: object][] = [
      [
        "a property that does not fit",
        "pro-only",
        { distinct_id: "u", person: { plan: "free" } },
        {
          key: "pro-only",
          value: false,
          reason: { code: "no_condition_match" },
          override: null,
          by_rules: { value: false },
          conditions: [{ matched: false, properties: [{ key: "plan", actual: "free", passed: false }] }],
          hint: expect.stringContaining("plan"),
        },
      ],
      [
        "a rollout",
        "pro-only",
        { distinct_id: "u", person: { plan: "pro" } },
        { conditions: [{ rollout: { percentage: 40, hash: { input: "pro-only.u" } } }] },
      ],
      [
        "a group",
        "companies",
        { distinct_id: "u", groups: { company: "acme" }, group_properties: { company: { tier: "gold" } } },
        { value: true, conditions: [{ group_type: "company", properties: [{ actual: "gold" }] }] },
      ],
      ["no group", "companies", { distinct_id: "u" }, { value: false, conditions: [{ miss: "no_group_type" }] }],
      ["an inactive flag", "stopped", { distinct_id: "u" }, { value: false, reason: { code: "flag_disabled" } }],
      ["another project's", "plain", { distinct_id: "u", project: 2 }, { project: 2, value: false }],
    ];
    test.each(rows)("%s", async (_what, key, given, expected) => {
      await capture(company);
      expect(await ask(key, given)).toMatchObject({ status: 200, answer: expected });
    });

    const mistakes: [given: Record<string, unknown>, status: number, expected: object][] = [
      [{}, 400, { code: "invalid_input" }],
      [{ distinct_id: "u", person: 3 }, 400, { code: "invalid_input" }],
      [{ distinct_id: "u", groups: { company: {} } }, 400, { code: "invalid_input" }],
      [{ distinct_id: "u", group_properties: { company: 1 } }, 400, { code: "invalid_input" }],
      [{ distinct_id: "u", project: 7 }, 404, { code: "not_found", hint: "known projects: 1, 2" }],
    ];
    test.each(mistakes)("%j is %d", async (given, status, answer) => {
      expect(await ask("ways", given)).toMatchObject({ status, answer });
    });

    test("an unknown flag is 404 with the nearest", async () => {
      expect(await ask("pro-olny", { distinct_id: "u" })).toMatchObject({
        status: 404,
        answer: { code: "not_found", hint: 'did you mean "pro-only"?' },
      });
    });
  });

  test("stored properties count, the given ones before them", async () => {
    await capture({ event: "$identify", distinct_id: "stored", properties: { $set: { plan: "free" } } });
    const actual = async (given: object) => {
      const { answer } = await control("POST", "/pro-only/explain", { distinct_id: "stored", ...given });
      return answer.conditions;
    };
    expect(await actual({})).toMatchObject([{ properties: [{ actual: "free" }] }]);
    expect(await actual({ person: { plan: "pro" } })).toMatchObject([{ properties: [{ actual: "pro" }] }]);
  });

  test("an override is reported, and what the rules would have said", async () => {
    await control("PUT", "/pro-only", { value: true, payload: { a: 1 } });
    const { answer } = await control("GET", "/pro-only/explain?distinct_id=u");
    expect(answer).toMatchObject({
      value: true,
      enabled: true,
      payload: '{"a":1}',
      reason: { code: "override" },
      override: { value: true, distinct_id: null, payload: { a: 1 } },
      by_rules: { value: false, reason: { code: "no_condition_match" } },
      conditions: [{ matched: false }],
    });
  });

  test("says what /flags says", async () => {
    await control("PUT", "/ways", { value: "test", distinct_id: "user-1" });
    await control("PUT", "/new", { value: "blue", force: true });
    await control("PUT", "/stopped", { value: true });
    for (const id of ["user-1", "user-2", "user-3"]) {
      for (const [key, got] of Object.entries(await flags(id))) {
        const { answer } = await control("GET", `/${key}/explain?distinct_id=${id}`);
        expect([key, answer.enabled, answer.variant, answer.reason]).toEqual([
          key,
          got.enabled,
          got.variant ?? null,
          {
            code: (got.reason as { code: string }).code,
            description: (got.reason as { description: string }).description,
          },
        ]);
      }
    }
  });

  test("a key that is only overridden has no rules", async () => {
    await control("PUT", "/new", { value: "blue", force: true });
    expect((await control("GET", "/new/explain?distinct_id=u")).answer).toMatchObject({
      key: "new",
      id: null,
      value: "blue",
      by_rules: null,
      conditions: [],
    });
  });

  test("what it depends on may be overridden", async () => {
    await control("PUT", "/base", { value: true });
    expect((await control("GET", "/dependent/explain?distinct_id=u")).answer).toMatchObject({
      value: true,
      override: null,
      conditions: [{ properties: [{ flag: { key: "base", value: true } }] }],
    });
  });

  test.each(ways)("by %s: a property may have any name", async (_, ask) => {
    const properties = [{ key: "__proto__", type: "person", operator: "exact", value: "x" }];
    const body = JSON.stringify({ key: "odd", filters: { groups: [{ properties, rollout_percentage: 100 }] } });
    const headers = { authorization: "Bearer phx_all", "content-type": "application/json" };
    const url = `${sim.url}/api/projects/1/feature_flags/`;
    expect((await sim.handle(new Request(url, { method: "POST", headers, body }))).status).toBe(201);
    const person = JSON.parse('{"__proto__":"x"}');
    const { answer } = await ask("odd", { distinct_id: "u", person });
    expect(answer).toMatchObject({ value: true, conditions: [{ properties: [{ actual: "x" }] }] });
  });

  test.each([
    ["person", [], "/person"],
    ["groups", { company: true }, "/groups/company"],
    ["group_properties", { company: "acme" }, "/group_properties/company"],
  ])("a wrong %s is a mistake", async (name, value, pointer) => {
    const answer = { code: "invalid_input", pointer };
    expect(await control("POST", "/ways/explain", { distinct_id: "u", [name]: value })).toMatchObject({
      status: 400,
      answer,
    });
  });

  test("unknown keys of a body are mistakes", async () => {
    expect(await control("POST", "/ways/explain", { distinctId: "u" })).toMatchObject({
      status: 400,
      answer: { pointer: "/distinctId" },
    });
  });
});

describe("simulate", () => {
  const values = ({ answer }: Answer) =>
    (answer.values as { value: unknown; count: number }[]).map((it) => [it.value, it.count]);
  const total = (answer: Answer) => values(answer).reduce((sum, [, count]) => sum + Number(count), 0);

  test("everyone is counted once", async () => {
    const answer = await control("GET", "/ways/simulate?count=2000");
    expect(answer.answer).toMatchObject({ key: "ways", project: 1, count: 2000, failed: 0, override: null });
    expect(values(answer).map(([value]) => value)).toEqual(["control", "test"]);
    expect(total(answer)).toBe(2000);
    for (const [, count] of values(answer)) expect(Math.abs(Number(count) - 1000)).toBeLessThan(150);
  });

  test("they are user-0 and on, however many", async () => {
    const many = await control("GET", "/ways/simulate?count=3001");
    expect(total(many)).toBe(3001);
    const gets = async (id: number) => (await flags(`user-${id}`)).ways?.variant;
    const first = values(await control("GET", "/ways/simulate?count=1"));
    expect(first).toEqual([[await gets(0), 1]]);
  });

  test("they have what is given in common", async () => {
    expect(values(await control("GET", "/pro-only/simulate"))).toEqual([[false, 1000]]);
    const pros = values(await control("POST", "/pro-only/simulate", { person: { plan: "pro" } }));
    expect(pros.map(([value]) => value)).toEqual([true, false]);
  });

  test("each has a group of its own", async () => {
    await capture(company);
    const given = { count: 10, group_properties: { company: { tier: "gold" } } };
    expect(values(await control("POST", "/companies/simulate", given))).toEqual([[true, 10]]);
  });

  test("an override for everyone is reported, not counted", async () => {
    await control("PUT", "/plain", { value: false });
    const answer = await control("GET", "/plain/simulate?count=5");
    expect(answer.answer).toMatchObject({ values: [{ value: true, count: 5, share: 1 }], override: { value: false } });
  });

  test.each([
    ["/ways/simulate?count=0", 400],
    ["/ways/simulate?count=100001", 400],
    ["/ways/simulate?person=x", 400],
    ["/wasy/simulate", 404],
    ["/stopped/simulate", 404],
    ["/ways/simulate?project=3", 404],
  ])("%s is %d", async (path, status) => {
    expect((await control("GET", path)).status).toBe(status);
  });
});

test("an override is on disk before it is answered", async () => {
  const data = newFolder();
  await using kept = await startSim({ scenario, data });
  const changes = () => readFileSync(join(data, "world.changes.ndjson"), "utf8");
  await control("PUT", "/plain", { value: false, distinct_id: "on-disk" }, kept);
  expect(changes()).toContain("on-disk");
  await kept.close();
  await using again = await startSim({ data });
  expect((await control("GET", "/plain", undefined, again)).answer.overrides).toMatchObject([
    { value: false, distinct_id: "on-disk" },
  ]);
});

describe("sim.flags", () => {
  test("set, list, get, unset, clear", async () => {
    expect(await sim.flags.set("ways", "test", { payload: { a: 1 }, distinctId: "u" })).toMatchObject({
      distinct_id: "u",
      payload: { a: 1 },
      known: true,
    });
    expect((await sim.flags.list({ project: 1 })).find((it) => it.key === "ways")?.overrides).toMatchObject([
      { value: "test" },
    ]);
    expect(await sim.flags.get("ways")).toMatchObject({ variants: ["control", "test"] });
    expect(await sim.flags.unset("ways", { distinctId: "v" })).toBe(0);
    expect(await sim.flags.unset("ways")).toBe(1);
    await sim.flags.set("plain", true, { project: 2 });
    expect(await sim.flags.clear(1)).toBe(0);
    expect(await sim.flags.clear()).toBe(1);
  });

  test("a mistake is a ControlError", async () => {
    await expect(sim.flags.set("ways", "tset")).rejects.toMatchObject({
      name: "ControlError",
      status: 400,
      message: expect.stringContaining("did you mean test?"),
    });
    await expect(sim.flags.get("wasy")).rejects.toMatchObject({ status: 404 });
    expect(await sim.flags.set("ways", "third", { force: true })).toMatchObject({ value: "third" });
  });

  test("over a network as in process", async () => {
    const { flags: remote } = await connectSim(sim.url);
    await remote.set("a/b", "blue", { distinctId: "u&v", force: true });
    expect(await remote.explain("a/b", { distinctId: "u&v" })).toMatchObject({ value: "blue" });
    expect(await remote.unset("a/b", { distinctId: "u" })).toBe(0);
    expect(await remote.unset("a/b", { distinctId: "u&v" })).toBe(1);
    await expect(remote.explain("a/b", { distinctId: "u&v" })).rejects.toMatchObject({ status: 404 });
  });

  test("explain and simulate take what the endpoints take", async () => {
    const reported = await sim.flags.explain("pro-only", { distinctId: "u", person: { plan: "free" } });
    expect(reported.conditions[0]?.properties[0]).toMatchObject({ key: "plan", actual: "free", passed: false });
    const { values } = await sim.flags.simulate("plain", { count: 3 });
    expect(values).toEqual([{ value: true, count: 3, share: 1 }]);
  });
});
