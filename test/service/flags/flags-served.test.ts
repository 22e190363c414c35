import { describe, expect, test } from "vitest";
import type { Project } from "../../../src/sim/client/api.ts";
import { openSim } from "../../support/sim.ts";

const { sim } = await openSim();

const ask = (project: Project, path: string, body: Record<string, unknown> = { distinct_id: "anna" }) =>
  fetch(`${sim.url}${path}`, { method: "POST", body: JSON.stringify({ token: project.apiKey, ...body }) });

const flags = { multi: "test", on: true, off: false };
/** What each version of the answer says of the flags above; null: it does not have it. */
const versions: [string, Record<string, boolean | string | null>][] = [
  ["/flags/?v=2", flags],
  ["/flags/?v=1", flags],
  ["/flags", flags],
  ["/decide/?v=4", flags],
  ["/decide/?v=3", flags],
  ["/decide/?v=2", { ...flags, off: null }],
  ["/decide/?v=1", { multi: true, on: true, off: null }],
];

describe.each(versions)("an answer of %s", (path, values) => {
  test.each(Object.entries(values))("has %s as %s", async (key, value) => {
    await using project = await sim.project({ flags });
    await ask(project, path);
    const { served } = await project.flags.served(key);
    expect(served).toMatchObject([{ by: "answer", distinct_id: "anna", value, status: 200, project: project.id }]);
  });
});

const asked: [string, Parameters<Project["flags"]["served"]>[1], boolean][] = [
  ["any value", {}, true],
  ["the value", { value: "test" }, true],
  ["another value", { value: "control" }, false],
  ["the boolean", { value: true }, false],
  ["the distinct id", { distinctId: "anna", value: "test" }, true],
  ["another distinct id", { distinctId: "ben" }, false],
];

test.each(asked)("is asked for %s", async (_, options, fits) => {
  await using project = await sim.project({ flags });
  await ask(project, "/flags/?v=2");
  expect(await project.flags.served("multi", options)).toMatchObject({ key: "multi", fits });
});

test("a variant called true is not the boolean", async () => {
  await using project = await sim.project({ flags: { odd: "true" } });
  await ask(project, "/flags/?v=2");
  expect((await project.flags.served("odd", { value: "true" })).fits).toBe(true);
  expect((await project.flags.served("odd", { value: true })).fits).toBe(false);
});

test("of another project nothing is reported", async () => {
  await using project = await sim.project({ flags });
  await using other = await sim.project({ flags });
  await ask(project, "/flags/?v=2");
  expect((await other.flags.served("on")).served).toEqual([]);
  expect((await sim.flags.served("on", { project: project.id })).fits).toBe(true);
});

test("the newest come first, as many as wanted", async () => {
  await using project = await sim.project({ flags });
  for (const distinct_id of ["a", "b", "c"]) await ask(project, "/flags/?v=2", { distinct_id });
  const { served } = await project.flags.served("multi", { value: "no", limit: 2 });
  expect(served.map((it) => it.distinct_id)).toEqual(["c", "b"]);
});

test("an answer that a fault broke did not serve", async () => {
  await using project = await sim.project({ flags });
  await project.faults.apply({ effect: { status: 503 } });
  await ask(project, "/flags/?v=2");
  const { fits, served } = await project.flags.served("on");
  expect(fits).toBe(false);
  expect(served).toMatchObject([{ value: null, status: 503 }]);
});

describe("waiting", () => {
  test("ends with the answer that fits", async () => {
    await using project = await sim.project({ flags });
    const waiting = project.flags.served("multi", { value: "test", distinctId: "ben", waitMs: 60_000 });
    await ask(project, "/flags/?v=2");
    await ask(project, "/flags/?v=2", { distinct_id: "ben" });
    const { fits, served } = await waiting;
    expect(fits).toBe(true);
    expect(served[0]?.distinct_id).toBe("ben");
  });

  test("ends when the time is over", async () => {
    await using project = await sim.project({ flags });
    expect(await project.flags.served("multi", { waitMs: 1 })).toMatchObject({ fits: false, served: [] });
  });
});

const wrong: [query: string, pointer: string, detail: RegExp][] = [
  ["project=x", "?project", /expected a (whole )?number/],
  ["wait_ms=60001", "?wait_ms", /milliseconds from 0 to 60000/],
  ["limit=0", "?limit", /at least 1/],
  ["value=%22open", "?value", /"value" must be true, false or a variant/],
];
test.each(wrong)("%s is refused", async (query, pointer, detail) => {
  const response = await fetch(`${sim.url}/__sim/flags/x/served?${query}`);
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ pointer, detail: expect.stringMatching(detail) });
});
