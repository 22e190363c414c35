import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { expect, test } from "vitest";
import { TapeWriter } from "../../../../src/lab/tapes/format/write.ts";
import { newFolder } from "../../../support/folder.ts";
import { plain, readAll } from "./fixture.ts";

async function built(source: URL, at: string): Promise<string> {
  const outfile = join(at, "writer.mjs");
  const entry = fileURLToPath(source);
  await build({ entryPoints: [entry], outfile, bundle: true, platform: "node", format: "esm", logLevel: "error" });
  return outfile;
}

/** Lets the writer record, kills it, and returns the highest number that it said is on the tape. */
async function killedAfter(writer: string, file: string, exchanges: number): Promise<number> {
  const child = spawn(process.execPath, [writer, file], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(child, "exit");
  let highest = 0;
  let said = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    highest = Number(line);
    if (++said === exchanges) child.kill("SIGKILL");
  }
  expect(await ended).toEqual([null, "SIGKILL"]);
  return highest;
}

test("kill -9 again and again: every exchange that was reported is there, and every line can be read", async () => {
  const at = newFolder();
  const writer = await built(new URL("./kill-writer.ts", import.meta.url), at);
  const file = join(at, "t.tape.ndjson");
  for (let round = 1; round <= 8; round++) {
    const reported = await killedAfter(writer, file, 7 * round);
    const { exchanges, problems } = await readAll(file, { bodies: "whole" });
    expect(problems.filter(({ detail }) => !detail.includes("unfinished"))).toEqual([]);
    expect(problems.length).toBeLessThanOrEqual(1);
    const numbers = exchanges.map(({ i }) => i);
    expect(numbers).toEqual(Array.from({ length: numbers.length }, (_, i) => i + 1));
    expect(numbers.length).toBeGreaterThanOrEqual(reported);
    expect(exchanges.map(({ req }) => req.body)).toEqual(
      numbers.map((i) => ({ json: { i, fill: "x".repeat(i % 10 === 0 ? 70_000 : 1500) } })),
    );
  }
  await new TapeWriter(file, { redactor: plain }).close();
  expect((await readAll(file)).problems).toEqual([]);
});

test.skipIf(process.platform === "win32")(
  "a disk that is full ends the recording loudly, with whole lines",
  async () => {
    const at = newFolder();
    const writer = await built(new URL("./full-writer.ts", import.meta.url), at);
    const file = join(at, "t.tape.ndjson");
    const run = spawnSync("bash", ["-c", 'ulimit -f 40; exec "$@"', "bash", process.execPath, writer, file], {
      encoding: "utf8",
    });
    const summary = JSON.parse(run.stdout);
    expect(summary.exchanges).toBeGreaterThan(0);
    expect(summary.exchanges + summary.lost).toBe(60);
    expect(summary.trouble).toMatchObject({ isOver: true, detail: run.stderr.trimEnd() });
    expect(run.stderr).toMatch(/^recording has stopped: .*t\.tape\.ndjson cannot be written: .+\n$/);
    const { exchanges, problems } = await readAll(file);
    expect([exchanges.length, problems]).toEqual([summary.exchanges, []]);
  },
);
