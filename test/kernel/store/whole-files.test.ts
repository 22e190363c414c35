import { execFileSync, spawn } from "node:child_process";
import { lstatSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { beforeEach, expect, test } from "vitest";
import { newFolder, runHere } from "../../support/phx-sim.ts";

let cwd: string;
beforeEach(() => {
  cwd = newFolder();
});

const ca = () => ({ PHX_SIM_CA_DIR: join(cwd, "ca") });

test("a link to a file that is written stays a link", async () => {
  writeFileSync(join(cwd, "far.pem"), "old");
  symlinkSync(join(cwd, "far.pem"), join(cwd, "near.pem"));
  expect(await runHere(["ca", "export", "--out", "near.pem"], { cwd, env: ca() })).toMatchObject({ code: 0 });
  expect(lstatSync(join(cwd, "near.pem")).isSymbolicLink()).toBe(true);
  expect(readFileSync(join(cwd, "far.pem"), "utf8")).toMatch(/^-----BEGIN CERTIFICATE-----\n/);
});

test.skipIf(process.platform === "win32")("a named pipe is written to, and stays one", async () => {
  const pipe = join(cwd, "pipe");
  execFileSync("mkfifo", [pipe]);
  const reader = spawn("cat", [pipe], { stdio: ["ignore", "pipe", "inherit"] });
  const [read, { code }] = await Promise.all([
    text(reader.stdout),
    runHere(["ca", "export", "--out", "pipe"], { cwd, env: ca() }),
  ]);
  expect({ code, isPipe: lstatSync(pipe).isFIFO() }).toEqual({ code: 0, isPipe: true });
  expect(read).toMatch(/^-----BEGIN CERTIFICATE-----\n/);
});
