import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type ExportedState, type Sim, startSim } from "../../../../src/index.ts";
import type { Json, JsonObject } from "../../../../src/kernel/base/json.ts";
import { newFolder } from "../../../support/folder.ts";

async function call(sim: Sim, method: string, path: string, body?: unknown, key?: string) {
  const init: RequestInit = { method, headers: key ? { authorization: `Bearer ${key}` } : {} };
  if (body !== undefined) {
    init.body = typeof body === "string" ? body : JSON.stringify(body);
    init.headers = { ...init.headers, "content-type": "application/json" };
  }
  const response = await sim.handle(new Request(sim.url + path, init));
  const text = await response.text();
  return { status: response.status, answer: (text === "" ? {} : JSON.parse(text)) as JsonObject };
}

const capture = (sim: Sim, body: object, token = sim.apiKey) =>
  call(sim, "POST", "/capture/", { api_key: token, ...body });

const firstKey = "phc_first";
const secondKey = "phc_second";

const twoProjects = {
  version: 1 as const,
  organizations: [
    {
      name: "Acme",
      projects: [
        {
          name: "First",
          api_key: firstKey,
          dashboards: [{ name: "Authored" }],
          flags: { beta: { rollout: 100 } },
          batch_exports: [
            { name: "Nightly", destination: { type: "NoOp" as const, config: {} }, interval: "day" as const },
          ],
        },
        { name: "Second", api_key: secondKey, dashboards: [{ name: "Other" }] },
      ],
    },
  ],
  personal_api_keys: [{ key: "phx_test", user: "dev@phx-sim.test", scopes: ["*"] }],
};

const start = (options: Parameters<typeof startSim>[0] = {}) => startSim({ scenario: twoProjects, ...options });

/** Documents of all kinds, persons with a history, groups, kept, dropped and cleared events. */
async function live(sim: Sim): Promise<void> {
  for (const token of [firstKey, secondKey]) {
    await capture(sim, { event: "early", distinct_id: "early" }, token);
  }
  await call(sim, "DELETE", "/__sim/events");
  for (const token of [firstKey, secondKey]) {
    await capture(sim, { event: "a", distinct_id: "anon" }, token);
    await capture(
      sim,
      {
        event: "$identify",
        distinct_id: "user",
        properties: { $anon_distinct_id: "anon", $set: JSON.parse('{"plan":"pro","__proto__":"x"}') },
      },
      token,
    );
    await capture(
      sim,
      {
        event: "$groupidentify",
        distinct_id: "user",
        properties: { $group_type: "company", $group_key: "acme", $group_set: { tier: "gold" } },
      },
      token,
    );
    await capture(sim, { event: "", distinct_id: "user" }, token);
    await capture(
      sim,
      { event: "quiet", distinct_id: "personless", properties: { $process_person_profile: false } },
      token,
    );
  }
  await sim.flags.set("beta", false);
  await call(sim, "PATCH", `/api/projects/${sim.projectId}/`, { name: "Renamed" }, sim.personalApiKey);
  for (const { id } of await projectsOf(sim)) {
    await call(sim, "POST", `/api/projects/${id}/dashboards/`, { name: "Made" }, sim.personalApiKey);
  }
}

const projectsOf = async (sim: Sim) => (await sim.info()).projects as { id: number; name: string }[];

/** What the control API shows of a project. */
async function seen(sim: Sim, project: number) {
  const { world } = await sim.state.export();
  const documents = (name: string) =>
    ((world as JsonObject)[name] as JsonObject[]).filter((it) => it.project === project);
  return {
    name: (await projectsOf(sim)).find((it) => it.id === project)?.name,
    dashboards: documents("dashboards").map((it) => it.name),
    overrides: documents("flag_overrides").map((it) => it.flag),
    exports: documents("batch_exports").map((it) => it.name),
    events: (await sim.events.list({ project })).map((it) => it.event),
    persons: (await sim.persons.list({ project })).length,
    groups: (await sim.groups.list({ project })).length,
    requests: (await sim.requests.list({ project })).length,
  };
}

describe("POST /__sim/reset of one project", () => {
  let sim: Sim;
  let ids: number[];
  beforeEach(async () => {
    sim = await start();
    await live(sim);
    ids = (await projectsOf(sim)).map((it) => it.id);
  });
  afterEach(() => sim.close());

  const [one, two] = [() => ids[0] ?? 0, () => ids[1] ?? 0];

  test("it goes back to the scenario, the other stays", async () => {
    const other = await seen(sim, two());
    await sim.reset({ project: one() });
    expect(await seen(sim, one())).toEqual({
      name: "First",
      dashboards: ["Authored"],
      overrides: [],
      exports: ["Nightly"],
      events: [],
      persons: 0,
      groups: 0,
      requests: 0,
    });
    expect(await seen(sim, two())).toEqual(other);
  });

  test("only the parts that it names", async () => {
    const before = await seen(sim, one());
    await sim.reset({ project: one(), what: ["people"] });
    expect(await seen(sim, one())).toEqual({ ...before, persons: 0, groups: 0 });
    await sim.reset({ project: one(), what: ["events"] });
    expect(await seen(sim, one())).toMatchObject({ events: [], dashboards: before.dashboards });
    await sim.reset({ project: one(), what: ["world"] });
    expect(await seen(sim, one())).toMatchObject({ name: "First", dashboards: ["Authored"] });
  });

  test("one that was deleted is there again", async () => {
    await call(sim, "DELETE", `/api/projects/${one()}/`, undefined, sim.personalApiKey);
    expect((await projectsOf(sim)).map((it) => it.id)).toEqual([two()]);
    await sim.reset({ project: one() });
    expect(await seen(sim, one())).toMatchObject({ name: "First", dashboards: ["Authored"] });
    expect((await capture(sim, { event: "back", distinct_id: "u" }, firstKey)).status).toBe(200);
  });

  test("one that the scenario does not have is emptied and stays", async () => {
    await using adopting = await start({ adoptTokens: true });
    await capture(adopting, { event: "a", distinct_id: "u" }, "phc_adopted");
    const project = (await projectsOf(adopting)).at(-1)?.id ?? 0;
    await adopting.reset({ project });
    expect(await seen(adopting, project)).toMatchObject({ name: "Adopted phc_adopted", events: [], persons: 0 });
  });

  const bad: [what: string, body: (id: number) => object, status: number, pointer: string][] = [
    ["a project that does not exist", () => ({ project: 99 }), 404, "/project"],
    ["events of a project that does not exist", () => ({ project: 99, what: ["events"] }), 404, "/project"],
    ["a project by name", () => ({ project: "one" }), 400, "/project"],
    ["project 0", () => ({ project: 0 }), 400, "/project"],
    ["a project's clock", (project) => ({ project, what: ["clock"] }), 400, "/what"],
    ["a project's faults", (project) => ({ project, what: ["faults"] }), 400, "/what"],
    ["a part that is no list", (project) => ({ project, what: "world" }), 400, "/what"],
    ["an unknown part", () => ({ what: ["everything"] }), 400, "/what/0"],
    ["an unknown key", () => ({ projects: 1 }), 400, "/projects"],
  ];
  test.each(bad)("%s: refused", async (_, body, status, pointer) => {
    const before = await seen(sim, one());
    const found = await call(sim, "POST", "/__sim/reset", body(one()));
    expect([found.status, found.answer.pointer]).toEqual([status, pointer]);
    expect(await seen(sim, one())).toEqual(before);
  });
});

describe("GET and PUT /__sim/state", () => {
  let folder: string;
  beforeAll(() => {
    folder = newFolder();
  });

  /** What must be the same wherever a state is. */
  async function comparable(sim: Sim) {
    const { saved_at: _, journal, ...rest } = await sim.state.export();
    const events = await sim.events.list();
    const persons = await sim.persons.list();
    const details = await Promise.all(
      persons.map(async (it) => (await call(sim, "GET", `/__sim/persons/${it.uuid}`)).answer),
    );
    return {
      ...rest,
      journal: (journal as JsonObject[]).map(({ n: _n, seq: _seq, ...line }) => line),
      events: events.map(({ seq: _seq, request: _request, ...event }) => event),
      history: details.map((it) => (it.history as JsonObject[]).map(({ seq: _seq, ...step }) => step)),
      persons,
      groups: await sim.groups.list(),
    };
  }

  test.each<[string, () => object]>([
    ["in memory", () => ({})],
    ["in a folder", () => ({ data: join(folder, "imported") })],
  ])("another sim %s has the same state after an import", async (_, options) => {
    await using from = await start();
    await live(from);
    const before = await comparable(from);
    await using to = await startSim(options());
    await capture(to, { event: "mine", distinct_id: "mine" });
    const done = await to.state.import(await from.state.export());
    expect(done).toMatchObject({ projects: 2, persons: 4, groups: 2, events: 10, cursor: 13 });
    expect(await comparable(to)).toEqual(before);
    await capture(to, { event: "next", distinct_id: "user" }, firstKey);
    expect((await to.events.list()).at(-1)).toMatchObject({ event: "next", seq: 14 });
  });

  test("an imported state is there after a restart", async () => {
    await using from = await start();
    await live(from);
    const before = await comparable(from);
    const data = join(folder, "kept");
    await using first = await startSim({ data });
    await first.state.import(await from.state.export());
    await first.close();
    await using second = await startSim({ data });
    expect(await comparable(second)).toEqual(before);
  });

  test("retries of imported events are still duplicates, and ids still merged", async () => {
    const uuid = "0190b5a0-0000-7000-8000-000000000001";
    await using sim = await start();
    await live(sim);
    await capture(sim, { event: "once", distinct_id: "user", uuid });
    await sim.state.import(await sim.state.export());
    await capture(sim, { event: "once", distinct_id: "user", uuid });
    expect(await sim.events.dropped({ event: "once" })).toMatchObject([{ reason: "duplicate_event_uuid" }]);
    const [project] = await projectsOf(sim);
    const [person] = await sim.persons.list({ distinct_id: "anon", project: project?.id ?? 0 });
    expect(person?.distinct_ids).toEqual(expect.arrayContaining(["anon", "user"]));
  });

  test("snapshots show what they saw also after an import", async () => {
    await using sim = await start();
    await live(sim);
    const before = await comparable(sim);
    await sim.snapshot("base");
    await using empty = await start();
    await sim.state.import(await empty.state.export());
    expect([await sim.events.list(), await sim.persons.list()]).toEqual([[], []]);
    await sim.restore("base");
    expect(await comparable(sim)).toEqual(before);
  });

  test("an export is of one moment, whatever arrives meanwhile", async () => {
    await using sim = await start();
    let isOver = false;
    let sent = 0;
    let onAnswer = () => {};
    const nextAnswer = () => new Promise<void>((resolve) => (onAnswer = resolve));
    const sending = (async () => {
      while (!isOver) {
        await capture(sim, { event: "e", distinct_id: `u${sent++}` });
        onAnswer();
      }
    })();
    for (let i = 1; i <= 5; i++) {
      await nextAnswer();
      const state = await sim.state.export();
      const people = (state.people as JsonObject[]).filter((it) => it.kind === "person");
      expect(people.length).toBeGreaterThanOrEqual(i);
      expect(people).toHaveLength((state.journal as JsonObject[]).length);
    }
    isOver = true;
    await sending;
  });

  test("a state of the version before this one is migrated, as a data folder is", async () => {
    await using sim = await startSim();
    const { answer: state } = await call(sim, "GET", "/__sim/state");
    const { resources: _, ...world } = state.world as JsonObject;
    const surveys = [{ id: "0190aaaa-0000-7000-8000-000000000001", project: 1, name: "How was it?" }];
    const older = { ...world, version: 2, surveys, early_access_features: [], web_experiments: [] };
    expect(await call(sim, "PUT", "/__sim/state", { ...state, world: older })).toMatchObject({ status: 200 });
    const { answer: now } = await call(sim, "GET", "/__sim/state");
    expect(now.world).toMatchObject({
      version: world.version,
      resources: [{ kind: "surveys", project: 1, fields: { name: "How was it?" } }],
    });
    const newer = { ...world, version: 99 };
    expect(await call(sim, "PUT", "/__sim/state", { ...state, world: newer })).toMatchObject({
      status: 400,
      answer: { pointer: "/world/version", hint: "import it into a newer phx-sim" },
    });
  });

  describe("what is no state", () => {
    let sim: Sim;
    let state: ExportedState;
    beforeAll(async () => {
      sim = await start();
      await live(sim);
      state = await sim.state.export();
    });
    afterAll(() => sim.close());

    /** The state with another value at the pointer. */
    function changed(pointer: string, value: Json | undefined): Json {
      const copy = structuredClone(state) as Json;
      const path = pointer.split("/").slice(1);
      const last = path.pop() ?? "";
      const at = path.reduce((it, key) => (it as JsonObject)[key] as Json, copy) as JsonObject;
      if (value === undefined) delete at[last];
      else at[last] = value;
      return copy;
    }

    const lineOf = (kind: string) => (state.people as JsonObject[]).findIndex((it) => it.kind === kind).toString();

    const noOne = "0190b5a0-0000-7000-8000-00000000dead";

    const bad: [what: string, body: () => Json, pointer: () => string][] = [
      ["another version", () => changed("/phx_sim_state", 2), () => "/phx_sim_state"],
      ["nothing", () => ({}), () => "/phx_sim_state"],
      ["a list", () => [], () => ""],
      ["an unknown key", () => changed("/extra", 1), () => ""],
      ["no world", () => changed("/world", undefined), () => "/world"],
      ["a wrong document", () => changed("/world/projects/0/name", 7), () => "/world/projects/0/name"],
      ["two projects of one key", () => changed("/world/projects/1/api_key", firstKey), () => "/world"],
      ["people that are no list", () => changed("/people", {}), () => "/people"],
      ["an unknown kind of line", () => changed("/people/0/kind", "clear"), () => "/people/0/kind"],
      ["a bad uuid", () => changed("/people/0/uuid", 'x"}'), () => "/people/0/uuid"],
      ["a bad property list", () => changed("/people/0/properties", []), () => "/people/0/properties"],
      ["an id of no one", () => changed(`/people/${lineOf("id")}/person`, noOne), () => `/people/${lineOf("id")}`],
      ["a bad time", () => changed("/journal/0/at", -1), () => "/journal/0/at"],
      ["half a header", () => changed("/journal/0/headers", ["one"]), () => "/journal/0/headers"],
      ["a line of another kind", () => changed("/journal/0/clear", {}), () => "/journal/0"],
      ["no event", () => changed("/journal/0/events", [7]), () => "/journal/0/events/0"],
      [
        "an unknown reason",
        () => changed("/journal/0/events/0/dropped", "toString"),
        () => "/journal/0/events/0/dropped",
      ],
      ["a time that no date has", () => changed("/journal/0/events/0/time", 9e15), () => "/journal/0/events/0/time"],
    ];
    test.each(bad)("%s: refused with its place, and nothing has changed", async (_, body, pointer) => {
      const before = await comparable(sim);
      const { status, answer } = await call(sim, "PUT", "/__sim/state", body());
      expect([status, answer.code, answer.pointer]).toEqual([400, "invalid_input", pointer()]);
      expect(await comparable(sim)).toEqual(before);
    });

    test.each(["{", "", '{"a":1}}', `${"[".repeat(500)}${"]".repeat(500)}`])("%j is no JSON", async (body) => {
      const { status } = await call(sim, "PUT", "/__sim/state", body);
      expect(status).toBe(400);
    });
  });
});
