import { readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { checkData, startSim } from "../../src/index.ts";
import { FileBytes } from "../../src/kernel/store/bytes.ts";
import { readOpening } from "../../src/state/journal/log/log-lines.ts";
import { sidecarLog } from "../../src/state/journal/log/log-tables.ts";
import { openRowFile, RowTable } from "../../src/state/journal/log/rows.ts";
import { event, request } from "../../src/state/journal/log/traffic-index.ts";
import { ask, capture, newFolder } from "./folder.ts";

const folders: string[] = [];
afterAll(() => {
  for (const it of folders) rmSync(it, { recursive: true });
});

let data: string;
beforeEach(async () => {
  data = newFolder();
  folders.push(data);
  const sim = await startSim({ data });
  for (const name of ["one", "two", "three", "four"])
    await capture(sim, { event: name, distinct_id: "u", properties: { $set: { plan: "free" } } });
  for (const name of ["first", "second", "third"]) await ask(sim, "POST", "/api/projects/1/dashboards/", { name });
  await sim.clock.advance("90m");
  await sim.snapshot("before");
  await sim.close();
});

/** Starts a sim and returns what it printed, what `info` lists, and the events. */
async function started() {
  const said: string[] = [];
  const sim = await startSim({ data, onNotice: (text) => said.push(text) });
  const { damage } = (await sim.info()) as { damage: { file: string; detail: string }[] };
  const events = (await sim.events.list()).map((it) => it.event);
  const boards = JSON.parse((await ask(sim, "GET", "/api/projects/1/dashboards/")).body);
  await sim.close();
  return { said: said.join("\n"), damage, events, boards: boards.results.map((it: { name: string }) => it.name) };
}

describe("a file that is missing or empty at the start is reported, and by doctor before it", () => {
  const held: readonly [name: string, what: string][] = [
    ["traffic.ndjson", "7 requests with 4 events"],
    ["people.ndjson", "1 person"],
    ["scenario.json", "the scenario that was last applied"],
    ["clock.json", "how the clock was set"],
    ["snapshots/before", "a snapshot"],
    ["world.json", "the documents"],
  ];
  test.each(held)("%s is missing", async (name, what) => {
    rmSync(join(data, name), { recursive: true });
    const detail = `this file is missing: what it held is lost (${what})`;
    const found = { file: join(data, name), line: null, detail };
    expect(await checkData(data)).toEqual([found]);
    const { said, damage } = await started();
    expect(said).toContain(`${join(data, name)}: ${detail}`);
    expect(damage).toContainEqual(found);
    // once
    expect(await checkData(data)).toEqual([]);
  });

  test.each(held.filter(([name]) => name.endsWith("json") && name !== "world.json"))(
    "%s is empty",
    async (name, what) => {
      truncateSync(join(data, name));
      const detail = `this file is empty: what it held is lost (${what})`;
      expect(await checkData(data)).toContainEqual({ file: join(data, name), line: null, detail });
      expect((await started()).said).toContain(`${join(data, name)}: ${detail}`);
    },
  );

  test("an empty world.json stops the start", async () => {
    truncateSync(join(data, "world.json"));
    await expect(startSim({ data })).rejects.toThrow(/world\.json:1:1 is not JSON/);
  });

  test("what the sim itself removed is not reported", async () => {
    const sim = await startSim({ data });
    await ask(sim, "DELETE", "/__sim/snapshots/before");
    await ask(sim, "DELETE", "/__sim/events?compact=true");
    await ask(sim, "POST", "/__sim/reset", {});
    await sim.close();
    expect(await checkData(data)).toEqual([]);
    expect((await started()).damage).toEqual([]);
  });
});

test.each(["first", "third"])("a dashboard's line that is dropped from world.json is reported: %s", async (name) => {
  const file = join(data, "world.json");
  const lines = readFileSync(file, "utf8").split("\n");
  writeFileSync(file, lines.filter((it) => !it.includes(`"name":"${name}"`)).join("\n"));
  const detail = expect.stringMatching(
    /^dashboards: 1 of the \d+ documents that phx-sim wrote is missing: removed by hand, or lost$/,
  );
  expect(await checkData(data)).toContainEqual({ file, line: null, detail });
  const { damage, boards } = await started();
  expect(damage).toContainEqual({ file, line: null, detail });
  expect(boards).not.toContain(name);
  expect(await checkData(data)).toEqual([]);
});

describe("index files whose rows do not lead to the lines of the log are found and made again", () => {
  /** Changes a cell, and saves the file with right checksums. */
  function change(name: "requests.idx" | "events.idx", row: number, column: number, by: number): void {
    const bytes = new FileBytes(join(data, "traffic.ndjson"), "r");
    const opening = readOpening(bytes, "traffic.ndjson");
    if (!opening) throw new Error("the log has no first line");
    const rows = new RowTable(name === "requests.idx" ? request.width : event.width);
    const file = openRowFile(join(data, name), rows, sidecarLog(bytes, opening), () => {});
    rows.set(row, column, rows.get(row, column) + by);
    file.touch();
    file.save(bytes.size);
    file.close();
    bytes.close();
  }

  test.each([
    ["the last request", () => change("requests.idx", 6, request.offsetLow, 1)],
    ["a request", () => change("requests.idx", 1, request.offsetLow, 1)],
    ["an event", () => change("events.idx", 1, event.request, 1)],
    ["the name of an event", () => change("events.idx", 1, event.name, 1)],
  ])("%s", async (_name, act) => {
    act();
    const [found, ...others] = await checkData(data);
    expect(others).toEqual([]);
    expect(found?.detail).toBe("it does not fit the log; nothing is lost: the next start makes it again");
    expect((await started()).events).toEqual(["one", "two", "three", "four"]);
  });
});
