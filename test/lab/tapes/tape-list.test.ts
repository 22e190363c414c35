import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Sim, startSim } from "../../../src/index.ts";
import { newFolder } from "../../support/folder.ts";
import { answer, exchange, tapeOf } from "./replay/tapes.ts";

let sim: Sim;
beforeEach(async () => {
  sim = await startSim();
});
afterEach(() => sim.close());

async function get(path: string) {
  const response = await sim.handle(new Request(sim.url + path));
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const loaded = async (): Promise<string> => {
  const file = await tapeOf([
    exchange("POST /flags/?v=2", answer({ flags: {} }), { body: { token: "phc_x", distinct_id: "u" } }),
    exchange("GET /api/projects/1/dashboards/", answer({ results: [] }), {
      headers: ["Authorization", "Bearer phx_secret_of_mine"],
    }),
    exchange("GET /array/phc_x/config", null),
  ]);
  await sim.tapes.load(file);
  return file;
};

describe("exchanges", () => {
  test("are reported in order; what was used is marked", async () => {
    await loaded();
    await sim.handle(
      new Request(`${sim.url}/flags/?v=2`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ token: "phc_x", distinct_id: "u" }),
      }),
    );
    const { body } = await get("/__sim/tapes/exchanges");
    expect(body).toMatchObject({
      more: false,
      exchanges: [
        { i: 1, method: "POST", route: "flags", status: 200, used: true },
        { i: 2, method: "GET", status: 200, used: false, complete: true },
        { i: 3, status: null, ms: null },
      ],
    });
  });

  test.each([
    ["limit=1", [1], true],
    ["skip=1&limit=1", [2], true],
    ["skip=2", [3], false],
    ["skip=9", [], false],
  ])("page by page: %s", async (query, numbers, more) => {
    await loaded();
    const { body } = await get(`/__sim/tapes/exchanges?${query}`);
    expect((body.exchanges as { i: number }[]).map(({ i }) => i)).toEqual(numbers);
    expect(body.more).toBe(more);
  });

  test("one has headers and bodies, without secrets", async () => {
    await loaded();
    const { body } = await get("/__sim/tapes/exchanges/2");
    expect(body).toMatchObject({
      i: 2,
      response: { status: 200, body: { json: { results: [] } } },
      redacted: ["req.headers.authorization"],
    });
    expect(JSON.stringify(body)).not.toContain("phx_secret");
  });

  test.each([
    ["/__sim/tapes/exchanges?limit=0", 400],
    ["/__sim/tapes/exchanges?skip=-1", 400],
    ["/__sim/tapes/exchanges/4", 404],
    ["/__sim/tapes/exchanges/x", 404],
  ])("%s is a mistake", async (path, status) => {
    await loaded();
    expect((await get(path)).status).toBe(status);
  });

  test.each(["/__sim/tapes/exchanges", "/__sim/tapes/exchanges/1"])("%s without a tape", async (path) => {
    expect(await get(path)).toMatchObject({ status: 404, body: { detail: "no tape is loaded" } });
  });

  test("a tape that is gone is a conflict, reported in words", async () => {
    const file = await loaded();
    rmSync(file);
    expect(await get("/__sim/tapes/exchanges")).toMatchObject({ status: 409, body: { code: "conflict" } });
  });
});

describe("files", () => {
  let before = "";
  let folder = "";
  beforeEach(() => {
    before = process.cwd();
    folder = newFolder();
    process.chdir(folder);
  });
  afterEach(() => {
    process.chdir(before);
  });

  test("none, where there is no folder", async () => {
    expect((await get("/__sim/tapes/files")).body).toMatchObject({ tapes: [] });
  });

  test("a folder that is a file is a mistake", async () => {
    writeFileSync("tapes", "");
    const { status, body } = await get("/__sim/tapes/files");
    expect([status, body.code]).toEqual([409, "conflict"]);
    expect(body.detail).toContain("tapes");
  });

  test("by name, and what is wrong with one that is none", async () => {
    mkdirSync("tapes");
    writeFileSync("tapes/broken.tape.ndjson", "nothing\n");
    const { body } = await get("/__sim/tapes/files");
    expect(body.tapes).toMatchObject([{ name: "broken", exchanges: 0, problem: expect.any(String) }]);
  });
});
