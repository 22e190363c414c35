import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type SimOptions, startSim } from "../../../src/index.ts";
import { newFolder } from "../../support/folder.ts";

const folder = newFolder();

const withFlag = (rollout: number, dashboard: string): string =>
  JSON.stringify({
    version: 1,
    organizations: [
      {
        name: "Org",
        projects: [
          { name: "App", api_key: "phc_app", flags: { beta: { rollout } }, dashboards: [{ name: dashboard }] },
        ],
      },
    ],
    personal_api_keys: [{ key: "phx_all", scopes: ["*"] }],
  });

/** A sim on a scenario file, and its notices to be awaited. */
async function following(name: string, more: SimOptions) {
  const file = join(folder, name);
  writeFileSync(file, withFlag(0, "First"));
  const notices: string[] = [];
  let wake = () => {};
  const sim = await startSim({
    scenario: file,
    onNotice(text) {
      notices.push(text);
      wake();
    },
    ...more,
  });
  const api = (method: string, path: string, body?: object) =>
    fetch(`${sim.url}/api/projects/1${path}`, {
      method,
      headers: { authorization: "Bearer phx_all", "content-type": "application/json" },
      ...(body && { body: JSON.stringify(body) }),
    }).then((response) => response.json() as Promise<{ id: number; results: { name: string }[] }>);
  return {
    sim,
    api,
    edit: (text: string) => writeFileSync(file, text),
    async reported(wanted: RegExp) {
      while (!notices.some((text) => wanted.test(text))) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      return notices.splice(0).find((text) => wanted.test(text));
    },
    beta: async () => (await sim.flags.explain("beta", { distinctId: "u" })).value,
    names: async () => (await api("GET", "/dashboards/")).results.map((it) => it.name).sort(),
    [Symbol.asyncDispose]: () => sim.close(),
  };
}

const inForce = /is in force/;

test("an edit is merged: what was captured and made stays, an invalid edit changes nothing", async () => {
  await using it = await following("merge.json", { onChange: "merge" });
  await it.api("POST", "/dashboards/", { name: "Mine" });
  const event = JSON.stringify({ api_key: "phc_app", event: "seen", distinct_id: "u" });
  await fetch(`${it.sim.url}/capture/`, { method: "POST", body: event });
  expect(await it.beta()).toBe(false);

  it.edit(withFlag(100, "Renamed"));
  await it.reported(inForce);
  expect(await it.beta()).toBe(true);
  expect(await it.names()).toEqual(["Mine", "Renamed"]);
  expect(await it.sim.events.list()).toMatchObject([{ event: "seen" }]);

  it.edit(withFlag(100, "Renamed").replace('"beta"', '"beta":true,"beta '));
  expect(await it.reported(/not valid/)).toContain("merge.json:1:");
  expect((await it.sim.info()).scenario_problems).not.toEqual([]);
  expect(await it.beta()).toBe(true);

  it.edit(withFlag(0, "Renamed"));
  await it.reported(inForce);
  expect((await it.sim.info()).scenario_problems).toEqual([]);
  expect(await it.beta()).toBe(false);
});

test("an edit is reported with what it added, changed and removed", async () => {
  await using it = await following("changes.json", { onChange: "merge" });
  it.edit(JSON.stringify({ flags: { a: true, b: { rollout: 5 }, c: true }, persons: [{ distinct_ids: ["ann"] }] }));
  await it.reported(inForce);
  const before = (await it.sim.info()).scenario_edit;
  expect(before).toMatchObject({ count: expect.any(Number) });
  it.edit(
    JSON.stringify({
      flags: { b: { rollout: 6 }, c: true, ...Object.fromEntries([1, 2, 3, 4, 5, 6, 7].map((i) => [`n${i}`, true])) },
      persons: [{ distinct_ids: ["ann"], properties: { plan: "pro" } }],
      cohorts: [{ name: "Friends", is_static: true, persons: ["ann"] }],
      clock: "2026-01-01T00:00:00Z",
    }),
  );
  expect(await it.reported(inForce)).toBe(
    "the scenario was edited and is in force: flag changed (b), 7 flags added (n1, n2, n3, n4, n5, and 2 more), " +
      "flag removed (a), cohort added (Friends), person changed (ann), clock added",
  );
  const { scenario_edit: edit } = await it.sim.info();
  expect(edit).toMatchObject({ count: 12 });
  expect(edit).toHaveProperty(
    "changes",
    expect.arrayContaining([
      { change: "removed", kind: "flag", name: "a", project: null },
      { change: "changed", kind: "person", name: "ann", project: null },
      { change: "added", kind: "clock", name: null, project: null },
    ]),
  );
});

test("an edit that cannot work is in force and reported", async () => {
  const odd = JSON.stringify({ api_key: "phc_app", flags: { beta: { variants: { x: 50, y: 40 } } } });
  const warning = /add up to 90/;
  await using it = await following("odd.json", { onChange: "merge" });
  it.edit(odd);
  expect(await it.reported(warning)).toMatch(/^the scenario has 1 warning:\n.*odd\.json:1:/);
  expect((await it.sim.info()).scenario_warnings).toMatchObject([{ pointer: "/flags/beta/variants" }]);
});

test("an edit resets the world, what was captured stays", async () => {
  await using it = await following("reset.json", { onChange: "reset" });
  await it.api("POST", "/dashboards/", { name: "Mine" });
  const event = JSON.stringify({ api_key: "phc_app", event: "seen", distinct_id: "u" });
  await fetch(`${it.sim.url}/capture/`, { method: "POST", body: event });
  it.edit(withFlag(100, "Second"));
  await it.reported(inForce);
  expect(await it.names()).toEqual(["Second"]);
  expect(await it.sim.events.list()).toMatchObject([{ event: "seen" }]);
});
