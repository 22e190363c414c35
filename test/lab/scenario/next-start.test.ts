import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Sim, type SimOptions, startSim } from "../../../src/index.ts";
import { newFolder } from "../../support/folder.ts";

const root = newFolder();

let count = 0;
const newData = (): string => join(root, `data-${++count}`);

interface Notices {
  readonly all: string[];
  /** Resolves once a notice matches. */
  said(pattern: RegExp): Promise<string>;
}

async function start(options: SimOptions): Promise<{ sim: Sim; notices: Notices }> {
  const all: string[] = [];
  let wake = () => {};
  const sim = await startSim({
    ...options,
    onNotice(text) {
      all.push(text);
      wake();
    },
  });
  const said = async (pattern: RegExp): Promise<string> => {
    for (;;) {
      const found = all.find((it) => pattern.test(it));
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };
  return { sim, notices: { all, said } };
}

/** Starts a sim, uses it and ends it; returns its notices. */
async function session(options: SimOptions, use: (sim: Sim) => Promise<void> = async () => {}): Promise<string[]> {
  const { sim, notices } = await start(options);
  try {
    await use(sim);
  } finally {
    await sim.close();
  }
  return notices.all;
}

const api = async (sim: Sim, method: string, path: string, body?: object, key = sim.personalApiKey) => {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const init = { method, headers, ...(body && { body: JSON.stringify(body) }) };
  const answer = await sim.handle(new Request(`${sim.url}/api/projects/@current${path}`, init));
  return (answer.status === 204 ? {} : await answer.json()) as { id: number; results: Named[] };
};
interface Named {
  id: number;
  key: string;
  name: string;
  active: boolean;
}

const flagsOf = async (sim: Sim) =>
  Object.fromEntries((await api(sim, "GET", "/feature_flags/")).results.map((it) => [it.key, it]));
const dashboardsOf = async (sim: Sim) => (await api(sim, "GET", "/dashboards/")).results.map(({ name }) => name).sort();
const capture = (sim: Sim, event: string, distinctId = "u", key = sim.apiKey) =>
  sim.handle(
    new Request(`${sim.url}/capture/`, {
      method: "POST",
      body: JSON.stringify({ api_key: key, event, distinct_id: distinctId }),
    }),
  );

const world = (project: object, more: object = {}) => ({
  version: 1 as const,
  organizations: [{ name: "Org", projects: [{ name: "App", api_key: "phc_app", ...project }] }],
  personal_api_keys: [{ key: "phx_all", scopes: ["*"] }],
  ...more,
});

test("a start with another scenario serves that scenario; the events of the former project stay", async () => {
  const data = newData();
  await session({ data }, async (sim) => {
    await capture(sim, "seen");
  });
  const scenario = world({ flags: { alpha: true }, persons: [{ distinct_ids: ["ann"], properties: { plan: "pro" } }] });
  const notices = await session({ data, scenario }, async (sim) => {
    expect([sim.apiKey, sim.personalApiKey]).toEqual(["phc_app", "phx_all"]);
    expect(Object.keys(await flagsOf(sim))).toEqual(["alpha"]);
    expect((await capture(sim, "later")).status).toBe(200);
    expect((await capture(sim, "former", "u", "phc_sim_default")).status).toBe(200);
    expect((await sim.events.list()).map(({ event }) => event)).toEqual(["seen", "later", "former"]);
    expect(await sim.persons.get("ann")).toMatchObject({ properties: { plan: "pro" } });
  });
  expect(notices).toHaveLength(1);
  expect(notices[0]).toMatch(
    /^the scenario is not the one of the last start and is now in force: .*flag added \(alpha of App\), person added \(ann of App\).*; as you have it, not as the scenario: organization "Local" \(in use\), project "Default project" \(in use\)$/,
  );
  expect(notices[0]).not.toContain("\n");
  // and nothing is said where nothing changed
  expect(await session({ data, scenario })).toEqual([]);
});

test("a shipped scenario replaces the default one of a folder without own changes", async () => {
  const data = newData();
  await session({ data });
  await session({ data, scenario: "shop" }, async (sim) => {
    await using fresh = await startSim({ scenario: "shop" });
    expect(sim.apiKey).toBe(fresh.apiKey);
    expect(await dashboardsOf(sim)).toEqual(await dashboardsOf(fresh));
    expect(Object.keys(await flagsOf(sim)).sort()).toEqual(Object.keys(await flagsOf(fresh)).sort());
    expect((await sim.persons.list()).length).toBe((await fresh.persons.list()).length);
  });
});

test("edits that were made while the sim was stopped are applied; what the user changed stays and is named", async () => {
  const data = newData();
  const file = join(root, `edited-${count}.json`);
  const write = (project: object) => writeFileSync(file, JSON.stringify(world(project)));
  write({ flags: { alpha: true, bravo: { rollout: 10 }, gone: true }, dashboards: [{ name: "Sales" }] });
  await session({ data, scenario: file }, async (sim) => {
    const { bravo } = await flagsOf(sim);
    await api(sim, "PATCH", `/feature_flags/${bravo?.id}/`, { active: false });
    await api(sim, "POST", "/dashboards/", { name: "Mine" });
    await api(sim, "POST", "/feature_flags/", { key: "charlie", name: "mine" });
  });
  write({
    flags: { first: true, alpha: { rollout: 30 }, bravo: { rollout: 20 }, charlie: { rollout: 5 } },
    dashboards: [{ name: "New" }, { name: "Sales", description: "of all shops" }],
  });
  const notices = await session({ data, scenario: file }, async (sim) => {
    const flags = await flagsOf(sim);
    expect(Object.keys(flags).sort()).toEqual(["alpha", "bravo", "charlie", "first"]);
    // a field that the user did not change follows the scenario
    expect(flags.bravo).toMatchObject({ active: false, filters: { groups: [{ rollout_percentage: 20 }] } });
    expect(flags.alpha).toMatchObject({ filters: { groups: [{ rollout_percentage: 30 }] } });
    expect(flags.charlie).toMatchObject({ name: "mine" });
    expect(await dashboardsOf(sim)).toEqual(["Mine", "New", "Sales"]);
  });
  expect(notices).toEqual([
    "the scenario is not the one of the last start and is now in force: 2 flags added (first, charlie), " +
      "2 flags changed (alpha, bravo), flag removed (gone), dashboard added (New), dashboard changed (Sales)" +
      '; as you have it, not as the scenario: feature flag "charlie" (made)',
  ]);
});

test.each<[string, (sim: Sim, id: number) => Promise<unknown>, unknown, RegExp]>([
  [
    "the same field",
    (sim, id) => api(sim, "PATCH", `/feature_flags/${id}/`, { filters: { groups: [{ rollout_percentage: 77 }] } }),
    [{ rollout_percentage: 77 }],
    /feature flag "bravo" \(changed\)/,
  ],
  [
    "a deletion",
    (sim, id) => api(sim, "PATCH", `/feature_flags/${id}/`, { deleted: true }),
    undefined,
    /feature flag "bravo" \(changed\)/,
  ],
])("a conflict stays as the user has it: %s", async (_, change, groups, words) => {
  const data = newData();
  await session({ data, scenario: world({ flags: { bravo: { rollout: 10 } } }) }, async (sim) => {
    await change(sim, (await flagsOf(sim)).bravo?.id ?? 0);
  });
  const notices = await session({ data, scenario: world({ flags: { bravo: { rollout: 20 } } }) }, async (sim) => {
    const { bravo } = await flagsOf(sim);
    if (groups === undefined) expect(bravo).toBeUndefined();
    else expect(bravo).toMatchObject({ filters: { groups } });
  });
  expect(notices.join()).toMatch(words);
});

test("an edit while the sim runs finds its flag by the key, in a folder with another scenario's documents", async () => {
  const data = newData();
  await session({ data }, async (sim) => {
    await api(sim, "POST", "/feature_flags/", { key: "mine-1", name: "one" });
    await api(sim, "POST", "/feature_flags/", { key: "mine-2", name: "two" });
  });
  const file = join(root, `reload-${count}.json`);
  const write = (rollout: number) =>
    writeFileSync(file, JSON.stringify({ api_key: "phc_sim_default", flags: { alpha: true, bravo: { rollout } } }));
  write(0);
  const { sim, notices } = await start({ data, scenario: file, onChange: "merge" });
  await using _ = { [Symbol.asyncDispose]: () => sim.close() };
  expect(Object.keys(await flagsOf(sim)).sort()).toEqual(["alpha", "bravo", "mine-1", "mine-2"]);
  write(100);
  await notices.said(/was edited and is in force: flag changed \(bravo\)/);
  const flags = await flagsOf(sim);
  expect(Object.keys(flags).sort()).toEqual(["alpha", "bravo", "mine-1", "mine-2"]);
  expect(flags["mine-2"]).toMatchObject({ name: "two" });
  expect((await sim.flags.explain("bravo", { distinctId: "u" })).value).toBe(true);
  // a reset of the project and of everything finds the same documents
  await sim.reset({ what: ["world"] });
  expect(Object.keys(await flagsOf(sim)).sort()).toEqual(["alpha", "bravo"]);
});

test("references follow documents that get other numbers", async () => {
  const data = newData();
  const cohort = (name: string) => ({ name, is_static: false, filters: { properties: { type: "AND", values: [] } } });
  await session({ data, scenario: world({}) }, async (sim) => {
    await api(sim, "POST", "/cohorts/", cohort("mine"));
    await api(sim, "POST", "/insights/", { name: "mine", query: { kind: "TrendsQuery", series: [] } });
  });
  const scenario = world({
    cohorts: [{ id: 1, ...cohort("Testers") }],
    flags: {
      gated: {
        filters: { groups: [{ properties: [{ type: "cohort", key: "id", value: 1 }], rollout_percentage: 100 }] },
      },
    },
    insights: [{ name: "Signups", query: { kind: "TrendsQuery", series: [] } }],
    dashboards: [{ name: "Board", tiles: [{ insight: "Signups" }] }],
    primary_dashboard: "Board",
  });
  await session({ data, scenario }, async (sim) => {
    const cohorts = (await api(sim, "GET", "/cohorts/")).results;
    const testers = cohorts.find((it) => it.name === "Testers");
    expect(cohorts.map((it) => it.name).sort()).toEqual(["Testers", "mine"]);
    expect(testers?.id).not.toBe(1);
    const { gated } = await flagsOf(sim);
    expect(gated).toMatchObject({ filters: { groups: [{ properties: [{ value: testers?.id }] }] } });
    const [board] = (await api(sim, "GET", "/dashboards/")).results;
    expect(await api(sim, "GET", `/dashboards/${board?.id}/`)).toMatchObject({
      tiles: [{ insight: { name: "Signups" } }],
    });
  });
});

test("a folder without a known scenario keeps what it has and gets what it lacks", async () => {
  const data = newData();
  await session({ data, scenario: world({ flags: { old: true } }) }, async (sim) => {
    await capture(sim, "seen");
  });
  for (const damage of [
    () => rmSync(join(data, "scenario.json")),
    () => writeFileSync(join(data, "scenario.json"), "{"),
  ]) {
    damage();
    const scenario = world({ flags: { old: true, alpha: true } });
    const notices = await session({ data, scenario }, async (sim) => {
      expect(Object.keys(await flagsOf(sim)).sort()).toEqual(["alpha", "old"]);
      expect(await sim.events.list()).toMatchObject([{ event: "seen" }]);
    });
    expect(notices.join()).toContain("which scenario it had before is not known");
  }
  expect(existsSync(join(data, "scenario.json.tmp"))).toBe(false);
});

test("fresh removes what the folder has", async () => {
  const data = newData();
  await session({ data, scenario: world({ flags: { old: true } }) }, async (sim) => {
    await capture(sim, "seen");
    await api(sim, "POST", "/dashboards/", { name: "Mine" });
  });
  await session({ data, scenario: world({ flags: { alpha: true } }), fresh: true }, async (sim) => {
    expect(Object.keys(await flagsOf(sim))).toEqual(["alpha"]);
    expect(await dashboardsOf(sim)).toEqual([]);
    expect(await sim.events.list()).toEqual([]);
    expect(await sim.persons.list()).toEqual([]);
  });
  expect(readFileSync(join(data, "traffic.ndjson"), "utf8")).not.toContain("seen");
});

test("without a scenario a folder keeps the one that it has, also for a reset", async () => {
  const data = newData();
  const scenario = { api_key: "phc_kept", flags: { beta: true } };
  await session({ data, scenario });
  const notices = await session({ data }, async (sim) => {
    expect(sim.apiKey).toBe("phc_kept");
    expect((await sim.info()).scenario).toBe("(the data folder's)");
    await sim.reset();
    expect(sim.apiKey).toBe("phc_kept");
  });
  expect(notices).toEqual([]);
  await session({ data, fresh: true }, async (sim) => expect(sim.apiKey).toBe("phc_sim_default"));
});

test("what changed has its name on one line, whatever it is called", async () => {
  const data = newData();
  const notebooks = (text: string) => [
    { title: "plans", text_content: text },
    { title: "goals", text_content: "c" },
  ];
  const scenario = { flags: { "a\nb\u001b[31m": true }, notebooks: notebooks("a") };
  await session({ data, scenario });
  const changed = { flags: { "a\nb\u001b[31m": false }, notebooks: notebooks("b").reverse() };
  expect(await session({ data, scenario: changed })).toEqual([
    "the scenario is not the one of the last start and is now in force: flag changed (a\\x0ab\\x1b[31m), notebook changed (plans)",
  ]);
});
