import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { startSim } from "../../../src/index.ts";
import { writeWhole } from "../../../src/kernel/base/whole-file.ts";
import { newFolder } from "../../support/folder.ts";

let home: string;
beforeEach(() => {
  home = newFolder();
});

/** Names of files that a data folder has for a moment, and of caches, which are made again. */
const planted = [
  "world.json.tmp",
  "world.changes.ndjson.tmp",
  "people.ndjson.tmp",
  "people.idx.tmp",
  "traffic.ndjson.trimmed.tmp",
  "traffic.ndjson.restored.tmp",
  "scenario.json.tmp",
  "requests.idx",
  "events.idx",
  `run.json.${process.pid}.tmp`,
  `.run.json.${process.pid}.tmp`,
  "next.tmp",
];

/** Starts, uses, and closes a sim on a folder in which each name leads to a file that is not the sim's. */
async function run(data: string, targets: string, names: readonly string[]): Promise<void> {
  for (const name of names) {
    rmSync(join(data, name), { recursive: true, force: true });
    symlinkSync(join(targets, name), join(data, name));
  }
  const sim = await startSim({ data, keep: "1MB" });
  const send = (i: number) => ({ api_key: sim.apiKey, event: "e", distinct_id: `u${i}`, properties: { $set: { i } } });
  for (let i = 0; i < 5; i++) {
    const body = JSON.stringify({ ...send(i), text: "x".repeat(400_000) });
    await sim.handle(new Request(`${sim.url}/capture/`, { method: "POST", body }));
  }
  await sim.flags.set("beta-feature", true);
  const state = await (await sim.handle(new Request(`${sim.url}/__sim/state`))).text();
  const put = { method: "PUT", body: state, headers: { "content-type": "application/json" } };
  expect((await sim.handle(new Request(`${sim.url}/__sim/state`, put))).status).toBe(200);
  await sim.reset();
  await sim.close();
}

test.each([
  ["that exist", true],
  ["that do not exist", false],
])("links to files %s are not followed", async (_name, exist) => {
  const [data, targets] = [join(home, "data"), join(home, "targets")];
  mkdirSync(targets);
  // a first run, so that the folder has all of its files
  await run(data, targets, []);
  if (exist) for (const name of planted) writeFileSync(join(targets, name), "mine");
  await run(data, targets, planted);
  expect(readdirSync(targets)).toEqual(exist ? planted.toSorted() : []);
  for (const name of readdirSync(targets)) expect(readFileSync(join(targets, name), "utf8")).toBe("mine");
  for (const name of ["requests.idx", "events.idx"]) expect(lstatSync(join(data, name)).isFile()).toBe(true);
});

test("a file that is written as a whole does not follow a link that stands where its draft goes", async () => {
  const file = join(home, "report.html");
  const target = join(home, "target");
  symlinkSync(target, `${file}.${process.pid}.tmp`);
  await writeWhole(file, ["text"]);
  expect(readFileSync(file, "utf8")).toBe("text");
  expect(existsSync(target)).toBe(false);
});
