import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Sim, startSim } from "../../../src/index.ts";
import type { JsonObject } from "../../../src/kernel/base/json.ts";
import { newFolder } from "../../support/folder.ts";

async function call(sim: Sim, method: string, path: string, body?: unknown, headers: object = {}) {
  const init: RequestInit = { method, headers: { ...headers } };
  if (body !== undefined) {
    init.body = typeof body === "string" ? body : JSON.stringify(body);
    init.headers = { ...headers, "content-type": "application/json" };
  }
  const response = await sim.handle(new Request(sim.url + path, init));
  const text = await response.text();
  // Answers of the capture edge may be plain text.
  const isJson = response.headers.get("content-type")?.includes("json") && text !== "";
  return { status: response.status, text, answer: (isJson ? JSON.parse(text) : {}) as JsonObject };
}

interface Made {
  id: number;
  name: string;
  api_key: string;
  secret_api_key: string;
  personal_api_key: string;
  host: string;
  env: Record<string, string>;
}

async function make(sim: Sim, body: object = {}): Promise<Made> {
  const { status, answer } = await call(sim, "POST", "/__sim/projects", body);
  expect({ status, answer }).toMatchObject({ status: 201 });
  return answer as unknown as Made;
}

const remove = (sim: Sim, id: number) => call(sim, "DELETE", `/__sim/projects/${id}`);
const capture = (sim: Sim, api_key: string, event: object) => call(sim, "POST", "/capture/", { api_key, ...event });
const namesOf = async (sim: Sim, project: number) => {
  const { answer } = await call(sim, "GET", `/__sim/events?project=${project}&limit=1000`);
  return (answer.events as JsonObject[]).map((it) => it.event);
};
const personsOf = async (sim: Sim, project: number) => {
  const { answer } = await call(sim, "GET", `/__sim/persons?project=${project}`);
  return (answer.persons as JsonObject[]).map((it) => it.distinct_ids);
};
async function flagsOf(sim: Sim, api_key: string, distinct_id: string, more: object = {}) {
  const { answer } = await call(sim, "POST", "/flags?v=2", { api_key, distinct_id, ...more });
  const flags = Object.entries(answer.flags as Record<string, JsonObject>);
  return Object.fromEntries(flags.map(([key, it]) => [key, it.variant ?? it.enabled]));
}
const definitionsOf = async (sim: Sim, { api_key, secret_api_key }: Made) =>
  (
    await call(sim, "GET", `/flags/definitions?token=${api_key}`, undefined, {
      authorization: `Bearer ${secret_api_key}`,
    })
  ).answer;

const cohortIs = (id: number, type = "cohort") => ({ key: "id", value: id, type, operator: "in" });
const everyone = { groups: [{ properties: [], rollout_percentage: 100 }] };
const whenIn = (...properties: object[]) => ({ groups: [{ properties, rollout_percentage: 100 }] });

/** Cohorts that refer to cohorts, flags that refer to both, a static cohort, groups, surveys. */
const scenario = {
  version: 1 as const,
  organizations: [
    {
      name: "Acme",
      projects: [
        {
          name: "First",
          api_key: "phc_first",
          timezone: "Europe/Berlin",
          remote_config: { heatmaps: true },
          cohorts: [
            { id: 11, name: "Insiders", is_static: true, persons: ["ada"] },
            { id: 12, name: "Pros", filters: personIs("plan", "pro") },
            {
              id: 13,
              name: "Both",
              filters: {
                properties: {
                  type: "AND",
                  values: [
                    cohortIs(11),
                    { key: "plan", value: "pro", type: "person", operator: "exact" },
                    { ...cohortIs(12), value: "12" },
                  ],
                },
              },
            },
          ],
          flags: {
            plain: { id: 21, filters: everyone },
            insiders: { id: 22, filters: whenIn(cohortIs(11)) },
            both: { id: 23, filters: whenIn(cohortIs(13)) },
            "by-id": {
              id: 24,
              filters: whenIn({ key: "22", value: true, type: "flag", operator: "flag_evaluates_to" }),
            },
            "by-key": {
              id: 25,
              filters: whenIn({ key: "plain", value: true, type: "flag", operator: "flag_evaluates_to" }),
            },
            asleep: { id: 26, active: false, filters: everyone },
            layout: { rollout: 100, variants: { wide: 100, narrow: 0 } },
            org: { id: 28, filters: { ...everyone, aggregation_group_type_index: 0 } },
          },
          persons: [
            { distinct_ids: ["ada", "ada@acme.test"], properties: { plan: "pro" } },
            { distinct_ids: ["bob"], properties: { plan: "pro" } },
          ],
          groups: [{ type: "company", key: "acme" }],
          surveys: [{ id: "s1", name: "How is it?" }],
        },
        { name: "Second", api_key: "phc_second", flags: { other: { rollout: 100 } } },
      ],
    },
  ],
  personal_api_keys: [{ key: "phx_dev", user: "dev@phx-sim.test", scopes: ["*"] }],
};

function personIs(key: string, value: string) {
  return { properties: { type: "OR", values: [{ key, value, type: "person", operator: "exact" }] } };
}

let sim: Sim;

describe("a project for a test", () => {
  beforeAll(async () => {
    sim = await startSim({ scenario });
  });
  afterAll(() => sim.close());

  test("has keys, a host and the variables of its own", async () => {
    const made = await make(sim, { name: "signs up" });
    expect(made).toMatchObject({
      id: expect.any(Number),
      name: "signs up",
      api_key: expect.stringMatching(/^phc_\w{28,60}$/),
      secret_api_key: expect.stringMatching(/^phs_\w{28,60}$/),
      personal_api_key: expect.stringMatching(/^phx_\w{28,60}$/),
      host: sim.url,
      env: {
        POSTHOG_HOST: sim.url,
        POSTHOG_API_KEY: made.api_key,
        NEXT_PUBLIC_POSTHOG_KEY: made.api_key,
        VITE_POSTHOG_HOST: sim.url,
        POSTHOG_PERSONAL_API_KEY: made.personal_api_key,
        POSTHOG_PROJECT_ID: String(made.id),
        PHX_SIM_URL: sim.url,
      },
    });
    expect(made.id).toBeGreaterThan(2);
  });

  test("may have a name that another one has, or none", async () => {
    const [one, two, nameless] = [
      await make(sim, { name: "twin" }),
      await make(sim, { name: "twin" }),
      await make(sim),
    ];
    expect(one.id).not.toBe(two.id);
    expect(new Set([one, two, nameless].flatMap((it) => [it.api_key, it.personal_api_key])).size).toBe(6);
    expect(nameless.name).toBe(`Project ${nameless.id}`);
  });

  test("is listed with the others", async () => {
    const made = await make(sim, { name: "listed" });
    const { projects } = (await call(sim, "GET", "/__sim/projects")).answer as { projects: JsonObject[] };
    expect(projects[0]).toMatchObject({ name: "First", ephemeral: false, adopted: false });
    const { host: _, env: __, ...keys } = made;
    expect(projects.find((it) => it.id === made.id)).toEqual({
      ...keys,
      ephemeral: true,
      adopted: false,
      created_at: expect.any(String),
    });
  });

  test.each([
    ["ada", { insiders: true, both: true, "by-id": true, "by-key": true }],
    ["ada@acme.test", { insiders: true, both: true, "by-id": true }],
    // bob is in no static cohort, and persons are not taken over
    ["bob", { insiders: false, both: false, "by-id": false, "by-key": true }],
  ])("decides the flags of the first project as that does, for %s", async (id, expected) => {
    const made = await make(sim);
    const flags = await flagsOf(sim, made.api_key, id, { groups: { company: "acme" } });
    expect(flags).toMatchObject({ ...expected, plain: true, layout: "wide", org: true });
    expect(flags).toEqual(await flagsOf(sim, "phc_first", id, { groups: { company: "acme" } }));
    // without an active version it is not answered at all; its definition is there
    expect(flags).not.toHaveProperty("asleep");
  });

  test("has documents of its own: numbers of cohorts and flags are new, and so are references to them", async () => {
    const made = await make(sim);
    const { answer } = await call(sim, "GET", "/__sim/state");
    const world = answer.world as { cohorts: JsonObject[]; feature_flags: JsonObject[] };
    const cohorts = world.cohorts.filter((it) => it.project === made.id);
    const flags = world.feature_flags.filter((it) => it.project === made.id);
    expect(cohorts.map((it) => it.name)).toEqual(["Insiders", "Pros", "Both"]);
    expect(flags.map((it) => it.key)).toContain("asleep");
    const ids = new Map(cohorts.map((it) => [it.name, it.id as number]));
    for (const id of ids.values()) expect(id).toBeGreaterThan(13);
    for (const it of flags) expect(it.id).toBeGreaterThan(28);
    expect(JSON.stringify(cohorts[2]?.filters)).toContain(`"value":${ids.get("Insiders")}`);
    // a reference that was text stays text
    expect(JSON.stringify(cohorts[2]?.filters)).toContain(`"value":"${ids.get("Pros")}"`);
    const flag = (key: string) => flags.find((it) => it.key === key);
    expect(JSON.stringify(flag("both")?.filters)).toContain(`"value":${ids.get("Both")}`);
    expect(JSON.stringify(flag("by-id")?.filters)).toContain(`"key":"${flag("insiders")?.id}"`);
    expect(JSON.stringify(flag("by-key")?.filters)).toContain('"key":"plain"');
  });

  test("has settings, remote config, surveys and definitions like the first", async () => {
    const made = await make(sim);
    const config = await call(sim, "GET", `/array/${made.api_key}/config`);
    expect(config.answer).toMatchObject({ token: made.api_key, heatmaps: true, surveys: true });
    const surveys = await call(sim, "GET", `/api/surveys/?token=${made.api_key}`);
    expect(surveys.answer.surveys).toEqual([{ id: "s1", name: "How is it?" }]);
    const shown = await call(sim, "GET", `/api/projects/${made.id}/`, undefined, {
      authorization: `Bearer ${made.personal_api_key}`,
    });
    expect(shown.answer).toMatchObject({ id: made.id, timezone: "Europe/Berlin", api_token: made.api_key });
    const { flags } = (await definitionsOf(sim, made)) as { flags: JsonObject[] };
    expect(new Set(flags.map((it) => it.team_id))).toEqual(new Set([made.id]));
  });

  test("has no events, and no persons but those of static cohorts", async () => {
    await capture(sim, "phc_first", { event: "before", distinct_id: "zoe" });
    const made = await make(sim);
    expect(await namesOf(sim, made.id)).toEqual([]);
    expect((await personsOf(sim, made.id)).map((ids) => (ids as string[]).toSorted())).toEqual([
      ["ada", "ada@acme.test"],
    ]);
    const { answer } = await call(sim, "GET", `/__sim/persons/ada?project=${made.id}`);
    const first = await call(sim, "GET", "/__sim/persons/ada?project=1");
    expect(answer).toMatchObject({ project: made.id, properties: { plan: "pro" } });
    expect(answer.uuid).not.toBe(first.answer.uuid);
  });

  test("can be like another one, or like none", async () => {
    const like = await make(sim, { like: 2 });
    expect(await flagsOf(sim, like.api_key, "u")).toEqual({ other: true });
    const bare = await make(sim, { like: null });
    expect(await flagsOf(sim, bare.api_key, "u")).toEqual({});
    expect((await call(sim, "GET", `/array/${bare.api_key}/config`)).answer).toMatchObject({
      surveys: false,
      hasFeatureFlags: false,
    });
    const grandchild = await make(sim, { like: like.id, flags: { other: false } });
    expect(await flagsOf(sim, grandchild.api_key, "u")).toEqual({ other: false });
    expect(await flagsOf(sim, like.api_key, "u")).toEqual({ other: true });
  });

  test("has its flags as given, also those that are not there", async () => {
    const made = await make(sim, {
      flags: { plain: false, layout: "narrow", asleep: true, brandnew: "blue", __proto__x: true },
    });
    expect(await flagsOf(sim, made.api_key, "u")).toMatchObject({
      plain: false,
      layout: "narrow",
      asleep: true,
      brandnew: "blue",
    });
    expect(await flagsOf(sim, "phc_first", "u")).toMatchObject({ plain: true, layout: "wide" });
  });

  test("takes keys that are names of every object's members for flags", async () => {
    const made = await call(sim, "POST", "/__sim/projects", '{"flags":{"__proto__":true,"constructor":"x"}}');
    const { flags } = (await call(sim, "GET", `/__sim/flags?project=${made.answer.id}`)).answer as {
      flags: JsonObject[];
    };
    expect(flags.map((it) => it.key)).toEqual(expect.arrayContaining(["__proto__", "constructor"]));
  });

  test.each([
    ["[]", 400, { code: "invalid_input" }],
    ["{", 400, { code: "parse_error" }],
    [{ nmae: "x" }, 400, { pointer: "/nmae", detail: 'unknown key "nmae"', hint: "did you mean name?" }],
    [{ zzzzzz: 1 }, 400, { pointer: "/zzzzzz", detail: 'unknown key "zzzzzz"' }],
    [{ name: 7 }, 400, { pointer: "/name" }],
    [{ name: "x".repeat(1_001) }, 400, { pointer: "/name" }],
    [{ like: "1" }, 400, { pointer: "/like" }],
    [{ like: 0 }, 400, { pointer: "/like" }],
    [{ like: 1.5 }, 400, { pointer: "/like" }],
    [{ like: 999 }, 404, { pointer: "/like", detail: "there is no project 999" }],
    [{ flags: [] }, 400, { pointer: "/flags" }],
    [{ flags: { a: 1 } }, 400, { pointer: "/flags/a" }],
    [{ flags: { a: null } }, 400, { pointer: "/flags/a" }],
    [{ flags: { a: "" } }, 400, { pointer: "/flags/a" }],
    [
      { flags: { layout: "wid" } },
      400,
      { pointer: "/flags/layout", hint: "its variants: wide, narrow; did you mean wide?" },
    ],
  ])("is not made of %j", async (body, status, answer) => {
    const before = (await call(sim, "GET", "/__sim/projects")).answer;
    expect(await call(sim, "POST", "/__sim/projects", body)).toMatchObject({ status, answer });
    expect((await call(sim, "GET", "/__sim/projects")).answer).toEqual(before);
  });

  test("is refused by a world without a home for it", async () => {
    const bare = await startSim();
    const { answer } = await call(bare, "GET", "/__sim/state");
    const world = answer.world as JsonObject;
    const noOne = { ...world, users: [], memberships: [], personal_api_keys: [] };
    await call(bare, "PUT", "/__sim/state", { ...answer, world: noOne });
    expect(await call(bare, "POST", "/__sim/projects", {})).toMatchObject({
      status: 409,
      answer: { code: "conflict" },
    });
    await bare.close();
  });
});

describe("the personal key", () => {
  beforeAll(async () => {
    sim = await startSim({ scenario });
  });
  afterAll(() => sim.close());

  test.each([
    ["its own flags", (own: Made, _: Made) => `/api/projects/${own.id}/feature_flags/`, 200],
    ["its own persons", (own: Made, _: Made) => `/api/projects/${own.id}/persons/`, 200],
    ["its own definitions", (own: Made, _: Made) => `/flags/definitions?token=${own.api_key}`, 200],
    ["the first project", () => "/api/projects/1/feature_flags/", 403],
    ["the first project's definitions", () => "/flags/definitions?token=phc_first", 401],
    ["another test's flags", (_: Made, other: Made) => `/api/projects/${other.id}/feature_flags/`, 403],
    ["another test's persons", (_: Made, other: Made) => `/api/projects/${other.id}/persons/`, 403],
    ["another test's definitions", (_: Made, other: Made) => `/flags/definitions?token=${other.api_key}`, 401],
  ])("and %s", async (_, path, status) => {
    const [own, other] = [await make(sim), await make(sim)];
    const headers = { authorization: `Bearer ${own.personal_api_key}` };
    expect((await call(sim, "GET", path(own, other), undefined, headers)).status).toBe(status);
  });
});

describe("deleting", () => {
  beforeEach(async () => {
    sim = await startSim({ scenario });
  });
  afterEach(() => sim.close());

  test("leaves nothing but what was captured", async () => {
    const made = await make(sim, { flags: { plain: false } });
    const other = await make(sim);
    const counts = async () => (await call(sim, "GET", "/__sim/info")).answer.counts as Record<string, number>;
    const before = await counts();
    for (const it of [made, other]) {
      await capture(sim, it.api_key, { event: "a", distinct_id: "u", properties: { $set: { x: 1 } } });
      await capture(sim, it.api_key, {
        event: "$groupidentify",
        distinct_id: "u",
        properties: { $group_type: "company", $group_key: "g", $group_set: { y: 1 } },
      });
    }
    await call(sim, "PUT", `/__sim/flags/layout`, { value: "narrow", project: made.id });
    for (const it of [made, other])
      await call(sim, "POST", "/__sim/faults", { effect: { status: 500 }, match: { project: it.id, route: "flags" } });
    await call(sim, "POST", `/__sim/answers`, { project: made.id, answers: [{ status: 418 }] });
    expect(await remove(sim, made.id)).toMatchObject({ status: 200, answer: { deleted: made.id } });

    expect(await namesOf(sim, made.id)).toEqual(["a", "$groupidentify"]);
    expect(await personsOf(sim, made.id)).toEqual([]);
    expect(await namesOf(sim, other.id)).toEqual(["a", "$groupidentify"]);
    const { faults } = (await call(sim, "GET", "/__sim/faults")).answer as { faults: JsonObject[] };
    expect(faults.map((it) => (it.match as JsonObject).project)).toEqual([other.id]);
    const { answer } = await call(sim, "GET", "/__sim/state");
    const { projects, ...rest } = answer.world as Record<string, JsonObject[]>;
    expect(projects?.map((it) => it.id)).toEqual([1, 2, other.id]);
    for (const documents of Object.values(rest).filter(Array.isArray)) {
      expect(documents.filter((it) => it.project === made.id)).toEqual([]);
    }
    expect(JSON.stringify(answer.world)).not.toContain(made.api_key);
    expect(rest.personal_api_keys?.filter((it) => it.key === made.personal_api_key)).toEqual([]);
    expect((await counts()).events).toBe((before.events ?? 0) + 4);
  });

  test("closes its keys", async () => {
    const made = await make(sim);
    await remove(sim, made.id);
    const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
    expect((await capture(sim, made.api_key, { event: "a", distinct_id: "u" })).status).toBe(401);
    const flags = { api_key: made.api_key, distinct_id: "u" };
    expect((await call(sim, "POST", "/flags?v=2", flags)).status).toBe(401);
    expect((await call(sim, "GET", `/array/${made.api_key}/config`)).status).toBe(404);
    const definitions = `/flags/definitions?token=${made.api_key}`;
    for (const key of [made.secret_api_key, made.personal_api_key])
      expect((await call(sim, "GET", definitions, undefined, bearer(key))).status).toBe(401);
    const path = `/api/projects/${made.id}/`;
    expect((await call(sim, "GET", path, undefined, bearer(made.personal_api_key))).status).toBe(401);
    expect((await call(sim, "GET", path, undefined, bearer(sim.personalApiKey))).status).toBe(404);
    expect(await call(sim, "POST", "/__sim/reset", { project: made.id })).toMatchObject({ status: 404 });
    expect(await remove(sim, made.id)).toMatchObject({
      status: 404,
      answer: { code: "not_found", hint: "known projects: 1, 2" },
    });
  });

  test("never gives its number to another one", async () => {
    const made = await make(sim);
    await remove(sim, made.id);
    expect((await make(sim)).id).toBeGreaterThan(made.id);
  });

  test("moves the users on whose current project it was", async () => {
    const made = await make(sim);
    const headers = { authorization: `Bearer ${sim.personalApiKey}` };
    const moved = await call(sim, "PATCH", "/api/users/@me/", { set_current_team: made.id }, headers);
    expect(moved.answer.team).toMatchObject({ id: made.id });
    await remove(sim, made.id);
    const { answer } = await call(sim, "GET", "/api/users/@me/", undefined, headers);
    expect(answer.team).toMatchObject({ id: 1 });
  });

  test.each([
    ["1", 409, "conflict"],
    ["2", 409, "conflict"],
    ["999", 404, "not_found"],
    ["0", 404, "not_found"],
    ["x", 404, "not_found"],
    ["1e0", 404, "not_found"],
  ])("%s is refused with %d", async (id, status, code) => {
    expect(await call(sim, "DELETE", `/__sim/projects/${id}`)).toMatchObject({ status, answer: { code } });
    expect((await capture(sim, "phc_first", { event: "a", distinct_id: "u" })).status).toBe(200);
  });

  test("takes adopted projects, too", async () => {
    const adopting = await startSim({ adoptTokens: true });
    await capture(adopting, "phc_unknown", { event: "a", distinct_id: "u" });
    const { projects } = (await call(adopting, "GET", "/__sim/projects")).answer as { projects: JsonObject[] };
    const adopted = projects.find((it) => it.adopted);
    expect(adopted).toMatchObject({ api_key: "phc_unknown", personal_api_key: null, ephemeral: false });
    expect(await remove(adopting, Number(adopted?.id))).toMatchObject({ status: 200 });
    await adopting.close();
  });

  test("in the middle of traffic leaves no one behind", async () => {
    const [gone, stays] = [await make(sim), await make(sim)];
    const requests = Array.from({ length: 60 }, (_, i) => {
      const { api_key } = i % 2 === 0 ? gone : stays;
      return fetch(`${sim.url}/capture/`, {
        method: "POST",
        body: JSON.stringify({ api_key, event: `e${i}`, distinct_id: `u${i}` }),
      });
    });
    const removed = remove(sim, gone.id);
    const answers = await Promise.all([...requests, removed]);
    for (const { status } of answers) expect([200, 401]).toContain(status);
    expect(await personsOf(sim, gone.id)).toEqual([]);
    expect(await namesOf(sim, stays.id)).toHaveLength(30);
    const { answer } = await call(sim, "GET", "/__sim/state");
    expect(JSON.stringify(answer.people)).not.toContain(`"project":${gone.id},`);
  });

  test("and its number is not used again while its events are there", async () => {
    const first = await make(sim);
    await capture(sim, first.api_key, { event: "a", distinct_id: "u" });
    await remove(sim, first.id);
    const second = await make(sim);
    await call(sim, "POST", "/__sim/reset", { what: ["world"] });
    const third = await make(sim);
    expect(new Set([first.id, second.id, third.id]).size).toBe(3);
    expect(await namesOf(sim, first.id)).toEqual(["a"]);
    expect(await namesOf(sim, third.id)).toEqual([]);
  });
});

describe("a project that a test changed", () => {
  beforeEach(async () => {
    sim = await startSim({ scenario });
  });
  afterEach(() => sim.close());

  const changeMuch = async (made: Made) => {
    const headers = { authorization: `Bearer ${made.personal_api_key}` };
    const at = `/api/projects/${made.id}`;
    const flags = (await call(sim, "GET", `${at}/feature_flags/`, undefined, headers)).answer;
    const [flag] = flags.results as JsonObject[];
    await call(sim, "PATCH", `${at}/feature_flags/${flag?.id}/`, { active: false }, headers);
    await call(sim, "POST", `${at}/feature_flags/`, { key: "late", filters: everyone }, headers);
    await call(sim, "PATCH", `${at}/`, { name: "Renamed", timezone: "UTC" }, headers);
    await call(sim, "PUT", "/__sim/flags/layout", { value: "narrow", project: made.id });
    await call(sim, "DELETE", `/__sim/flags/plain?project=${made.id}`);
    await capture(sim, made.api_key, { event: "a", distinct_id: "ada", properties: { $set: { plan: "free" } } });
    await call(sim, "POST", "/__sim/faults", { effect: { status: 500 }, match: { project: made.id } });
    await call(sim, "POST", "/__sim/answers", { project: made.id, answers: [{ status: 418 }] });
  };

  /** All of it but what a reset may change. */
  const picture = async ({ id }: Made) => {
    const { answer } = await call(sim, "GET", "/__sim/state");
    const world = answer.world as Record<string, JsonObject[]>;
    const own = Object.entries(world).filter(([, it]) => Array.isArray(it));
    const documents = own.map(([name, it]) => [
      name,
      it.filter((document) => document.project === id || (name === "projects" && document.id === id)),
    ]);
    const persons = (await call(sim, "GET", `/__sim/persons?project=${id}`)).answer.persons as JsonObject[];
    return JSON.parse(
      JSON.stringify({ documents, persons, events: await namesOf(sim, id) }, (key, value) =>
        key === "updated_at" || key === "after_request" ? undefined : value,
      ),
    );
  };

  test("goes back to how it was made, and no other with it", async () => {
    const made = await make(sim, { name: "resets", flags: { plain: false } });
    const other = await make(sim);
    await capture(sim, other.api_key, { event: "b", distinct_id: "u" });
    const [before, beside] = [await picture(made), await picture(other)];
    await changeMuch(made);
    expect(await picture(made)).not.toEqual(before);
    expect((await call(sim, "POST", "/__sim/reset", { project: made.id })).status).toBe(200);
    expect(await picture(made)).toEqual(before);
    expect(await picture(other)).toEqual(beside);
    expect((await call(sim, "GET", "/__sim/faults")).answer.faults).toEqual([]);
    expect(await flagsOf(sim, made.api_key, "ada")).toMatchObject({ plain: false, insiders: true, both: true });
  });

  test.each([
    [["events"], { events: [], name: "Renamed", plan: "free" }],
    [["people"], { events: ["a"], name: "Renamed", plan: "pro" }],
    [["world"], { events: ["a"], name: "resets", plan: "free" }],
  ])("goes back in part: %j", async (what, expected) => {
    const made = await make(sim, { name: "resets" });
    await changeMuch(made);
    await call(sim, "POST", "/__sim/reset", { project: made.id, what });
    const { projects } = (await call(sim, "GET", "/__sim/projects")).answer as { projects: JsonObject[] };
    const { answer } = await call(sim, "GET", `/__sim/persons/ada?project=${made.id}`);
    expect({
      events: await namesOf(sim, made.id),
      name: projects.find((it) => it.id === made.id)?.name,
      plan: (answer.properties as JsonObject).plan,
    }).toEqual(expected);
  });

  test("goes with a reset of everything", async () => {
    const made = await make(sim);
    await call(sim, "POST", "/__sim/reset", {});
    const { projects } = (await call(sim, "GET", "/__sim/projects")).answer as { projects: JsonObject[] };
    expect(projects.map((it) => it.id)).toEqual([1, 2]);
    expect((await capture(sim, made.api_key, { event: "a", distinct_id: "u" })).status).toBe(401);
  });

  test("has its members and group types after a reset of all people", async () => {
    const made = await make(sim);
    await capture(sim, made.api_key, { event: "a", distinct_id: "u", properties: { $set: { x: 1 } } });
    await call(sim, "POST", "/__sim/reset", { what: ["people"] });
    expect(await personsOf(sim, made.id)).toHaveLength(1);
    const flags = await flagsOf(sim, made.api_key, "ada", { groups: { company: "acme" } });
    expect(flags).toMatchObject({ insiders: true, org: true });
  });

  test("comes back with a snapshot, and can be reset and deleted then", async () => {
    const made = await make(sim, { flags: { plain: false } });
    await capture(sim, made.api_key, { event: "a", distinct_id: "u" });
    await call(sim, "POST", "/__sim/snapshots", { name: "s" });
    await remove(sim, made.id);
    await call(sim, "POST", "/__sim/snapshots/s/restore");
    expect(await namesOf(sim, made.id)).toEqual(["a"]);
    expect(await flagsOf(sim, made.api_key, "ada")).toMatchObject({ plain: false, insiders: true });
    await call(sim, "POST", "/__sim/reset", { project: made.id });
    expect(await namesOf(sim, made.id)).toEqual([]);
    expect(await personsOf(sim, made.id)).toHaveLength(1);
    expect(await remove(sim, made.id)).toMatchObject({ status: 200 });
  });

  test("is carried by an exported state to another sim", async () => {
    const made = await make(sim, { name: "moves", flags: { plain: false } });
    await capture(sim, made.api_key, { event: "a", distinct_id: "u" });
    const { text } = await call(sim, "GET", "/__sim/state");
    const other = await startSim();
    expect((await call(other, "PUT", "/__sim/state", text)).status).toBe(200);
    expect(await namesOf(other, made.id)).toEqual(["a"]);
    expect(await flagsOf(other, made.api_key, "ada")).toMatchObject({ plain: false, insiders: true });
    await call(other, "DELETE", `/__sim/flags?project=${made.id}`);
    await call(other, "POST", "/__sim/reset", { project: made.id });
    expect(await flagsOf(other, made.api_key, "ada")).toMatchObject({ plain: false, insiders: true });
    expect(await remove(other, made.id)).toMatchObject({ status: 200 });
    await other.close();
  });

  test("outlives the sim in its data folder", async () => {
    const data = newFolder();
    const one = await startSim({ scenario, data });
    const [kept, gone] = [await make(one, { flags: { plain: false } }), await make(one)];
    await capture(one, kept.api_key, { event: "a", distinct_id: "u" });
    await remove(one, gone.id);
    await one.close();
    const two = await startSim({ scenario, data });
    expect(await namesOf(two, kept.id)).toEqual(["a"]);
    expect((await capture(two, gone.api_key, { event: "a", distinct_id: "u" })).status).toBe(401);
    await call(two, "POST", "/__sim/reset", { project: kept.id });
    expect(await flagsOf(two, kept.api_key, "ada")).toMatchObject({ plain: false, insiders: true });
    await two.close();
  });
});

describe("200 tests at once", () => {
  const count = 200;
  beforeAll(async () => {
    sim = await startSim({ scenario });
  });
  afterAll(() => sim.close());

  async function oneTest(i: number) {
    const made = await make(sim, { name: `test ${i}`, flags: { layout: i % 2 === 0 ? "wide" : "narrow" } });
    const own = `only-${i}`;
    await capture(sim, made.api_key, { event: own, distinct_id: "user", properties: { $set: { i } } });
    const flags = await flagsOf(sim, made.api_key, "user");
    await capture(sim, made.api_key, { event: "done", distinct_id: "user" });
    const person = await call(sim, "GET", `/__sim/persons/user?project=${made.id}`);
    const result = {
      events: await namesOf(sim, made.id),
      layout: flags.layout,
      set: (person.answer.properties as JsonObject).i,
    };
    expect(result).toEqual({ events: [own, "done"], layout: i % 2 === 0 ? "wide" : "narrow", set: i });
    expect((await remove(sim, made.id)).status).toBe(200);
    return made.id;
  }

  test("know nothing of each other, and leave no project", async () => {
    const ids = await Promise.all(Array.from({ length: count }, (_, i) => oneTest(i)));
    expect(new Set(ids).size).toBe(count);
    const { answer } = await call(sim, "GET", "/__sim/state");
    expect((answer.world as { projects: unknown[] }).projects).toHaveLength(2);
  });
});
