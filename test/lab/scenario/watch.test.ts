import { mkdirSync, renameSync, rmSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { type ScenarioWatch, watchScenario } from "../../../src/lab/scenario/follow-scenario.ts";
import { readScenario } from "../../../src/lab/scenario/load.ts";
import { newFolder } from "../../support/folder.ts";

const folder = newFolder();
const watches: ScenarioWatch[] = [];
afterEach(async () => {
  for (const it of watches.splice(0)) await it.close();
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
});

const named = (name: string, more: object = {}): string =>
  JSON.stringify({
    version: 1,
    organizations: [{ name, projects: [{ name: "App", api_key: "phc_app" }] }],
    personal_api_keys: [{ key: "phx_all", scopes: ["*"] }],
    ...more,
  });

/** What the watcher reports, to be awaited one by one. */
async function watched(file: string) {
  const reported: string[] = [];
  let wake = () => {};
  const tell = (text: string) => {
    reported.push(text);
    wake();
  };
  const watch = await watchScenario({
    source: file,
    first: await readScenario(file),
    onScenario: (scenario) => tell(scenario.organizations[0]?.name ?? ""),
    onInvalid: ({ problems }) => tell(`invalid: ${problems[0]?.message}`),
    onError: (error) => tell(`error: ${String(error)}`),
  });
  watches.push(watch);
  await watch.ready;
  return {
    /** Resolves when a text that fits has been reported, with all that was reported until then. */
    async until(wanted: string | RegExp): Promise<string[]> {
      while (!reported.some((text) => (typeof wanted === "string" ? text === wanted : wanted.test(text)))) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      // Waiting for a text is an assertion: what never comes fails the test.
      expect(reported).not.toEqual([]);
      return reported.splice(0);
    },
  };
}

test("a changed file is read again, an invalid one is reported and the next good one counts", async () => {
  const file = join(folder, "a.json");
  writeFileSync(file, named("One"));
  const watch = await watched(file);
  writeFileSync(file, named("Two"));
  await watch.until("Two");
  writeFileSync(file, named("Two").slice(0, -20));
  await watch.until(/^invalid: /);
  writeFileSync(file, named("Three"));
  await watch.until("Three");
});

test("a file that is replaced by another, as editors do", async () => {
  const file = join(folder, "a.json");
  writeFileSync(file, named("One"));
  const watch = await watched(file);
  for (const name of ["Two", "Three"]) {
    writeFileSync(join(folder, ".a.json.tmp"), named(name));
    renameSync(join(folder, ".a.json.tmp"), file);
    await watch.until(name);
  }
});

test("a file that is deleted and made again", async () => {
  const file = join(folder, "a.json");
  writeFileSync(file, named("One"));
  const watch = await watched(file);
  unlinkSync(file);
  await watch.until(/^invalid: /);
  writeFileSync(file, named("Two"));
  await watch.until("Two");
});

test.each(["its folder", "a folder above it"])("%s is removed and made again at once", async (which) => {
  const own = join(folder, "above", "own");
  const file = join(own, "a.json");
  const removed = which === "its folder" ? own : join(folder, "above");
  mkdirSync(own, { recursive: true });
  writeFileSync(file, named("One"));
  const watch = await watched(file);
  for (const name of ["Two", "Three"]) {
    rmSync(removed, { recursive: true });
    mkdirSync(own, { recursive: true });
    writeFileSync(file, named(name));
    await watch.until(name);
    writeFileSync(file, named(`${name} again`));
    await watch.until(`${name} again`);
  }
});

test("a folder is replaced by another, and a missing folder of a base is made", async () => {
  const own = join(folder, "own");
  const file = join(own, "a.json");
  mkdirSync(own);
  writeFileSync(file, named("One"));
  const watch = await watched(file);
  mkdirSync(join(folder, "next"));
  writeFileSync(join(folder, "next", "a.json"), JSON.stringify({ version: 1, extends: "../base/b.json" }));
  renameSync(own, join(folder, "before"));
  renameSync(join(folder, "next"), own);
  await watch.until(/^invalid: .*does not exist/);
  mkdirSync(join(folder, "base"));
  writeFileSync(join(folder, "base", "b.json"), named("Base"));
  await watch.until("Base");
  writeFileSync(join(folder, "base", "b.json"), named("Other base"));
  await watch.until("Other base");
});

test("files that it extends, also those that it comes to extend", async () => {
  mkdirSync(join(folder, "deep"));
  const base = join(folder, "deep", "base.json");
  const file = join(folder, "a.json");
  writeFileSync(base, named("Base"));
  writeFileSync(file, named("One"));
  const watch = await watched(file);
  writeFileSync(file, JSON.stringify({ version: 1, extends: "./deep/base.json" }));
  await watch.until("Base");
  writeFileSync(base, named("Other base"));
  await watch.until("Other base");
});

test("several writes at once are one edit", async () => {
  const file = join(folder, "a.json");
  writeFileSync(file, named("One"));
  const watch = await watched(file);
  for (const name of ["Two", "Three", "Four"]) writeFileSync(file, named(name));
  expect(await watch.until("Four")).toEqual(["Four"]);
});
