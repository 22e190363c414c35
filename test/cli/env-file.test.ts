import { existsSync, lstatSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { devNull } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect } from "vitest";
import { endAll, newFolder, runHere, startReady } from "../support/phx-sim.ts";
import { test } from "../support/sim.ts";

afterEach(endAll);

/** A port that is free now. */
async function freePort(): Promise<string> {
  const server = createServer();
  const port = await new Promise<number>((resolve) =>
    server.listen(0, "127.0.0.1", () => resolve((server.address() as { port: number }).port)),
  );
  await new Promise((resolve) => server.close(resolve));
  return String(port);
}

const read = (cwd: string, name = ".env.local") => readFileSync(join(cwd, name), "utf8");

describe("env --write", () => {
  test("replaces its own names and keeps every other line, its order and its mode", async () => {
    const cwd = newFolder();
    const { ready } = await startReady([], { cwd });
    const before = [
      "# mine",
      "MY_SECRET=s3cret",
      "export NEXT_PUBLIC_POSTHOG_HOST=https://us.i.posthog.com",
      "",
      "OTHER='a=b'",
    ];
    writeFileSync(join(cwd, ".env.local"), before.join("\n"), { mode: 0o640 });
    const { code, stdout } = await runHere(["env", "--framework", "next", "--write", ".env.local"], { cwd });
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^\d+ variables set in \.env\.local\n$/)]);
    const text = read(cwd);
    expect(text.split("\n").slice(0, 5)).toEqual(before.with(2, `export NEXT_PUBLIC_POSTHOG_HOST=${ready.url}`));
    expect(text).toContain(`\nNEXT_PUBLIC_POSTHOG_KEY=${ready.project_api_key}\n`);
    expect(statSync(join(cwd, ".env.local")).mode & 0o777).toBe(0o640);
    // a second run changes nothing
    await runHere(["env", "--framework", "next", "--write", ".env.local"], { cwd });
    expect(read(cwd)).toBe(text);
  });

  test("a new file, a link, and line ends of Windows", async ({ folder: cwd }) => {
    await startReady([], { cwd });
    await runHere(["env", "--write", ".env"], { cwd });
    expect(read(cwd, ".env")).toBe((await runHere(["env"], { cwd })).stdout);
    writeFileSync(join(cwd, "real"), "A=1\r\nB=2\r\n");
    symlinkSync("real", join(cwd, "link"));
    await runHere(["env", "--write", "link"], { cwd });
    expect(read(cwd, "real")).toMatch(/^A=1\r\nB=2\r\n\r\n#[^\n]*\r\n/);
    expect(read(cwd, "real").replaceAll("\r\n", "")).not.toContain("\n");
  });

  test("a value of several lines is one entry, whatever it contains", async ({ folder: cwd }) => {
    const { ready } = await startReady([], { cwd });
    const key = 'KEY="-----BEGIN-----\nPOSTHOG_HOST=mine\n\\"POSTHOG_API_KEY=mine\n-----END-----" # kept';
    const quoted = "NOTE='\nPOSTHOG_HOST=mine\n'\nTICKS=`\nPOSTHOG_HOST=mine`";
    const before = `${key}\n${quoted}\nPOSTHOG_API_KEY="old\nold"\nOPEN="not closed\nPOSTHOG_HOST=old\n`;
    for (const ends of ["\n", "\r\n"]) {
      writeFileSync(join(cwd, ".env"), before.replaceAll("\n", ends));
      expect(await runHere(["env", "--framework", "node", "--write", ".env"], { cwd })).toMatchObject({ code: 0 });
      const expected = before
        .replace('POSTHOG_API_KEY="old\nold"', `POSTHOG_API_KEY=${ready.project_api_key}`)
        .replace("POSTHOG_HOST=old", `POSTHOG_HOST=${ready.url}`);
      expect(read(cwd, ".env").slice(0, expected.replaceAll("\n", ends).length)).toBe(expected.replaceAll("\n", ends));
    }
  });

  test("bytes of another encoding and the end of each line stay; UTF-16 is refused", async () => {
    const cwd = newFolder();
    await startReady([], { cwd });
    const write = (bytes: Buffer) => writeFileSync(join(cwd, ".env"), bytes);
    const bytes = () => readFileSync(join(cwd, ".env"));
    const env = () => runHere(["env", "--framework", "node", "--write", ".env"], { cwd });
    for (const before of [
      Buffer.from("NAME=caf\xe9\nA=1\n", "latin1"),
      Buffer.from('A=1\r\nB="x\ny"\r\n'),
      Buffer.from("A=é\nB=2\r\nC=3\n"),
    ]) {
      write(before);
      expect((await env()).code).toBe(0);
      expect(bytes().subarray(0, before.length)).toEqual(before);
      expect(bytes().length).toBeGreaterThan(before.length);
    }
    const wide = Buffer.from("\ufeffA=1\n", "utf16le");
    write(wide);
    expect(await env()).toMatchObject({ code: 1, stderr: expect.stringContaining("save it as UTF-8") });
    expect(bytes()).toEqual(wide);
  });

  test("a read-only file is refused; a link to a file that does not exist yet stays a link", async () => {
    const cwd = newFolder();
    await startReady([], { cwd });
    writeFileSync(join(cwd, ".env"), "A=1\n", { mode: 0o444 });
    const refused = await runHere(["env", "--write", ".env"], { cwd });
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(refused.stderr).toContain(".env cannot be written: permission denied");
    expect(read(cwd, ".env")).toBe("A=1\n");
    mkdirSync(join(cwd, "shared"));
    symlinkSync("shared/env", join(cwd, "link"));
    expect((await runHere(["env", "--write", "link"], { cwd })).code).toBe(0);
    expect(lstatSync(join(cwd, "link")).isSymbolicLink()).toBe(true);
    expect(existsSync(join(cwd, "shared/env"))).toBe(true);
  });

  test("only where lines are NAME=value; a file that cannot be written is named", async ({ folder: cwd }) => {
    await startReady([], { cwd });
    expect(await runHere(["env", "--format", "json", "--write", "x"], { cwd })).toMatchObject({ code: 2 });
    const { code, stderr } = await runHere(["env", "--write", "missing/.env"], { cwd });
    expect([code, stderr]).toEqual([1, expect.stringContaining("missing/.env cannot be written: ")]);
    // a device or a pipe has no lines to keep
    const device = await runHere(["env", "--write", devNull], { cwd });
    expect(device).toMatchObject({ code: 1, stderr: expect.stringContaining("a pipe, a socket or a device") });
  });
});

describe("without a running sim", () => {
  test("env prints what a start in this folder has", async ({ folder: cwd }) => {
    const port = await freePort();
    writeFileSync(join(cwd, "s.yaml"), "api_key: phc_mine\n");
    writeFileSync(join(cwd, "phx-sim.config.json"), JSON.stringify({ scenario: "s.yaml", port: Number(port) }));
    const { code, stdout, stderr } = await runHere(["env"], { cwd });
    expect(code).toBe(0);
    expect(stdout).toContain(`POSTHOG_HOST=http://127.0.0.1:${port}\n`);
    expect(stdout).toContain("POSTHOG_API_KEY=phc_mine\n");
    expect(stderr).toMatch(/^phx-sim: no sim runs; these are the address and keys that `phx-sim start` has here/);
    const { sim, ready } = await startReady(["--port", port], { cwd });
    expect((await runHere(["status"], { cwd })).stdout).toContain(`scenario          ${join(cwd, "s.yaml")}\n`);
    expect((await runHere(["env"], { cwd })).stdout).toBe(stdout);
    expect(ready.project_api_key).toBe("phc_mine");
    await sim.signal("SIGINT");
    writeFileSync(join(cwd, "s.yaml"), "flag: {}\n");
    expect(await runHere(["env"], { cwd })).toMatchObject({ code: 3, stderr: expect.stringContaining("s.yaml:1:1") });
  });

  test("an address or a folder that was given must have one", async ({ folder: cwd }) => {
    const env = { PHX_SIM_PORT: await freePort() };
    expect((await runHere(["env", "--url", `http://127.0.0.1:${env.PHX_SIM_PORT}`], { cwd, env })).code).toBe(5);
    expect((await runHere(["env", "--data", "elsewhere"], { cwd, env })).code).toBe(5);
    expect((await runHere(["status"], { cwd, env })).code).toBe(5);
  });
});

describe("a sim that this folder does not have", () => {
  test.each([["--memory"], ["--data=data"]])("is found at the port of start: %s", async (where) => {
    const { ready } = await startReady([where], { cwd: newFolder() });
    const cwd = newFolder();
    const env = { PHX_SIM_PORT: new URL(ready.url).port };
    const { code, stdout, stderr } = await runHere(["events", "list"], { cwd, env });
    expect([code, stdout]).toEqual([0, expect.any(String)]);
    expect(stderr).toContain(`phx-sim: no sim runs in this folder; this is the one at ${ready.url} (`);
    expect(await runHere(["stop"], { cwd, env })).toMatchObject({ code: 0 });
  });

  test("a start names the command that stops the one at its port", async () => {
    const { ready } = await startReady(["--memory"], { cwd: newFolder() });
    const { port } = new URL(ready.url);
    const cwd = newFolder();
    const { stderr } = await runHere(["start", "--memory", "--port", port], { cwd });
    const [, stop = ""] = /; stop it with phx-sim (.*?), or use /.exec(stderr) ?? [];
    expect(stop).toBe(`stop --url ${ready.url}`);
    expect((await runHere(stop.split(" "), { cwd })).code).toBe(0);
  });
});
