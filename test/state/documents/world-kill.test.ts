import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { expect, test } from "vitest";
import type { World } from "../../../src/state/documents/world.ts";
import { contentOf, fileOf, newFolder, open, openedStores, read } from "./world-fixture.ts";

async function builtWriter(): Promise<string> {
  const outfile = join(newFolder(), "writer.mjs");
  const entry = fileURLToPath(new URL("./world-writer.ts", import.meta.url));
  await build({ entryPoints: [entry], outfile, bundle: true, platform: "node", format: "esm", logLevel: "error" });
  return outfile;
}

/** Lets the writer work until `isEnough`, kills it, and returns the highest number that it said is on disk. */
async function killedAt(writer: string, folder: string, isEnough: (said: number) => boolean): Promise<number> {
  const child = spawn(process.execPath, [writer, folder], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(child, "exit");
  let highest = 0;
  let said = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    highest = Number(line);
    if (isEnough(++said)) child.kill("SIGKILL");
  }
  expect(await ended).toEqual([null, "SIGKILL"]);
  return highest;
}

/** What a store says that opens the folder now; unless it is to be closed cleanly, a copy of it. */
async function contentAfter(folder: string, isClosed: boolean): Promise<World> {
  const looked = isClosed ? folder : newFolder();
  if (!isClosed) cpSync(folder, looked, { recursive: true });
  const content = contentOf(await open({ folder: looked }));
  for (const worlds of openedStores()) worlds.close();
  return content;
}

test("kill -9 again and again: every change that was reported is there, as a whole", async () => {
  const writer = await builtWriter();
  const folder = newFolder();
  for (let round = 1; round <= 6; round++) {
    // Every other time world.json was written at least once.
    const reported = await killedAt(
      writer,
      folder,
      (said) => said >= round * 150 && (round % 2 === 1 || existsSync(fileOf(folder))),
    );
    if (existsSync(fileOf(folder))) expect(read(folder).version).toBe(3);
    const { users, dashboards } = await contentAfter(folder, round % 3 === 0);
    const numbers = users.map((it) => it.id);
    expect(numbers.slice(0, reported)).toEqual(Array.from({ length: reported }, (_, i) => i + 1));
    // At most the change that was under way is there without having been reported.
    expect(numbers.length - reported).toBeLessThanOrEqual(1);
    expect(dashboards.map((it) => it.id)).toEqual(numbers.slice(-2));
  }
  for (const name of readdirSync(folder)) expect(name).toMatch(/^world\.(json|changes\.ndjson)(\.tmp)?$/);
});
