import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { startSim } from "../../src/index.ts";
import { checkData } from "../../src/sim/folder/check-folder.ts";
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
  await capture(sim, { event: "one", distinct_id: "u", properties: { $set: { plan: "free" } } });
  await sim.clock.advance("90m");
  await sim.close();
});

const damaged = (change: (text: string) => string) => () => {
  const file = join(data, "clock.json");
  writeFileSync(file, change(readFileSync(file, "latin1")), "latin1");
};

describe("a damaged clock.json costs only how the clock was set", () => {
  const cases: Record<string, () => void> = {
    "a flipped digit": damaged((text) => text.replace(/(?<="ahead":)\d/, (it) => `${(Number(it) + 1) % 10}`)),
    "cut off": damaged((text) => text.slice(0, 30)),
    zeros: damaged((text) => "\0".repeat(text.length)),
    "a file of something else": damaged(() => "[]\n"),
  };
  test.each(Object.keys(cases))("%s", async (name) => {
    cases[name]?.();
    const detail = "this file is damaged: how the clock was set is lost";
    const found = [{ file: join(data, "clock.json"), line: null, detail }];
    expect(await checkData(data)).toEqual(found);
    const sim = await startSim({ data });
    expect(await sim.info()).toMatchObject({ damage: found, damage_count: 1 });
    expect((await sim.events.list()).map((it) => it.event)).toEqual(["one"]);
    expect(Math.abs(new Date((await sim.clock.get()).now).getTime() - Date.now())).toBeLessThan(3_600_000);
    await sim.clock.advance("90m");
    await sim.close();
    expect(await checkData(data)).toEqual([]);
  });
});

test.each([
  ["next", "a restore, import or reset, which the next start finishes"],
  ["next.tmp", "an unfinished restore, import or reset, which the next start removes"],
])("the folder of a switch is reported: %s", async (name, detail) => {
  mkdirSync(join(data, name));
  expect(await checkData(data)).toEqual([{ file: join(data, name), line: null, detail }]);
  await (await startSim({ data })).close();
  expect(await checkData(data)).toEqual([]);
});

test("a log whose older requests were let go is intact, and damage to it is found by its line", async () => {
  const sim = await startSim({ data, keep: "1h" });
  await sim.clock.advance("2h");
  await capture(sim, { event: "two", distinct_id: "u" });
  await capture(sim, { event: "three", distinct_id: "u" });
  const evicted = async () => ((await sim.info()).counts as { evicted_requests: number }).evicted_requests;
  while ((await evicted()) === 0) await new Promise(setImmediate);
  await sim.close();
  expect(await checkData(data)).toEqual([]);

  const file = join(data, "traffic.ndjson");
  const text = readFileSync(file, "latin1");
  const line = text.split("\n").findIndex((it) => it.includes('"two"')) + 1;
  const found = [{ file, line, detail: expect.stringMatching(/^this line is damaged: request \d with event 2 lost$/) }];
  writeFileSync(file, text.replace('"two"', '"twa"'), "latin1");
  expect(await checkData(data)).toEqual(found);
  for (const hasIndex of [true, false]) {
    for (const name of ["requests.idx", "events.idx"])
      if (!hasIndex) renameSync(join(data, name), join(data, `${name}.old`));
    const again = await startSim({ data });
    expect((await again.events.list()).map((it) => it.event)).toEqual(["three"]);
    expect(await again.info()).toMatchObject({ damage: found });
    await again.close();
  }
});

test("persons that an import brought are kept in lines with checksums", async () => {
  const sim = await startSim({ data });
  await sim.state.import(await sim.state.export());
  await capture(sim, { event: "two", distinct_id: "u" });
  await sim.close();
  for (const name of ["people.ndjson", "traffic.ndjson"])
    for (const line of readFileSync(join(data, name), "utf8").trimEnd().split("\n"))
      expect(line).toMatch(/^\{"crc":"[0-9a-f]{8}",/);
  expect(await checkData(data)).toEqual([]);
  const again = await startSim({ data });
  expect((await ask(again, "GET", "/__sim/persons?distinct_id=u")).body).toContain('"plan":"free"');
  await again.close();
});
