import { mkdirSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, describe, expect } from "vitest";
import { endAll, newFolder, phxSim, runHere, startReady } from "../support/phx-sim.ts";
import { test } from "../support/sim.ts";

let server: Server | undefined;
afterEach(async () => {
  await endAll();
  server?.close();
  server = undefined;
});

/** The one line on stderr of a command line that ended by itself. */
function complaintOf({ code, stdout, stderr }: Awaited<ReturnType<typeof runHere>>) {
  expect(stdout).toBe("");
  expect(stderr).toMatch(/^phx-sim: [^\n]+\n$/);
  return { code, line: stderr.trimEnd() };
}

const complaint = async (args: readonly string[], cwd: string, env: Record<string, string> = {}) =>
  complaintOf(await runHere(args, { cwd, env }));
const failedStart = async (args: readonly string[], cwd: string) => complaintOf(await phxSim(args, { cwd }).ended);

describe("usage mistakes end with 2", () => {
  test.each<[string[], Record<string, string>, string]>([
    [["--port", "70000"], {}, '--port must be a whole number from 0 to 65535, not "70000"'],
    [["--port", "-1"], {}, '--port must be a whole number from 0 to 65535, not "-1"'],
    [["--port", "http"], {}, '--port must be a whole number from 0 to 65535, not "http"'],
    [
      ["completion"],
      {},
      "completion needs SHELL: bash or zsh, as in phx-sim completion bash (phx-sim completion --help)",
    ],
    [["version"], {}, 'unknown command "version"; phx-sim --version prints it (phx-sim --help lists all)'],
    [["hlep"], {}, 'unknown command "hlep"; did you mean help? (phx-sim --help lists all)'],
    [["--port"], {}, "--port needs a value (phx-sim --help lists all)"],
    [[], { PHX_SIM_PORT: "x" }, 'PHX_SIM_PORT must be a whole number from 0 to 65535, not "x"'],
    [["--host", "http://x"], {}, '--host must be a host name or an IP address, not "http://x"'],
    [["--dialect", "prod"], {}, '--dialect must be documented or production, not "prod"; did you mean production?'],
    [["--memory", "--data", "x"], {}, "--data and --memory exclude each other; give one of them"],
    [["--prot", "1"], {}, "unknown option --prot; did you mean --port? (phx-sim --help lists all)"],
    [["start", "extra"], {}, 'unexpected argument "extra" (phx-sim start --help)'],
    [["strat"], {}, 'unknown command "strat"; did you mean start? (phx-sim --help lists all)'],
    [["status", "--wait", "soon"], {}, '--wait must be a time such as 10s, 500ms or 2m, not "soon"'],
    [["env", "--format", "jsn"], {}, '--format must be dotenv, shell, json or github, not "jsn"; did you mean json?'],
  ])("%j %j", async (args, env, message) => {
    expect(await complaint(args, newFolder(), env)).toEqual({ code: 2, line: `phx-sim: ${message}` });
  });

  test.each([
    ['{"port": 1,,}', ":1:12: expected a key in double quotes"],
    ['{"prot": 1}', ':1:2: "prot" is not an option; did you mean port?'],
    ['{"port": true}', ':1:2: "port" must be a whole number from 0 to 65535, not true'],
  ])("config file %s", async (text, tail) => {
    const cwd = newFolder();
    const file = join(cwd, "phx-sim.config.json");
    writeFileSync(file, text);
    expect(await complaint(["--port", "0"], cwd)).toEqual({ code: 2, line: `phx-sim: ${file}${tail}` });
  });

  test("an address of another machine", async () => {
    const { code, line } = await failedStart(["--memory", "--port", "0", "--host", "203.0.113.7"], newFolder());
    expect(code).toBe(2);
    expect(line).toContain("203.0.113.7 is not an address of this machine");
  });
});

describe("what keeps a sim from starting ends with 3", () => {
  test("the port is another sim's", async () => {
    const { ready } = await startReady(["--memory"], { cwd: newFolder() });
    // The first answer loads the control API; a start waits two seconds for one.
    expect((await fetch(`${ready.url}/__sim/info`)).status).toBe(200);
    const { port } = new URL(ready.url);
    const { code, line } = await failedStart(["--memory", "--port", port], newFolder());
    expect(code).toBe(3);
    expect(line).toBe(
      `phx-sim: port ${port} is in use by phx-sim ${ready.version} (pid ${ready.pid}, in memory); ` +
        `stop it with phx-sim stop --url http://127.0.0.1:${port}, ` +
        "or use --port 0 for any free port or --port N for another",
    );
  });

  test("the port is another program's", async () => {
    const other = createServer((_, res) => res.end("hello"));
    server = other;
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const { port } = other.address() as AddressInfo;
    const { code, line } = await failedStart(["--memory", "--port", String(port)], newFolder());
    expect(code).toBe(3);
    const holder = process.platform === "linux" ? `.+ \\(pid ${process.pid}\\)` : "another program";
    expect(line).toMatch(new RegExp(`^phx-sim: port ${port} is in use by ${holder}; stop it, or use --port 0 `));
  });

  test("the data folder is another sim's", async ({ folder: cwd }) => {
    const { ready } = await startReady([], { cwd });
    const { code, line } = await failedStart(["--port", "0"], cwd);
    expect(code).toBe(3);
    expect(line).toContain(`${join(cwd, ".phx-sim")} is in use by pid ${ready.pid} at ${ready.url}`);
  });

  test("the data folder is a file", async ({ folder: cwd }) => {
    writeFileSync(join(cwd, "file"), "");
    const { code, line } = await failedStart(["--port", "0", "--data", "file"], cwd);
    expect(code).toBe(3);
    expect(line).toContain(join(cwd, "file"));
  });

  test.each([
    ["cut off", '{\n  "version": 1,\n  "projects": ['],
    ["of a newer version", '{"version": 999}'],
    ["with a wrong type", '{"version": 1, "projects": 3}'],
    ["empty", ""],
  ])("world.json is %s", async (_, text) => {
    const cwd = newFolder();
    const data = join(cwd, ".phx-sim");
    mkdirSync(data);
    writeFileSync(join(data, "world.json"), text);
    const { code, line } = await failedStart(["--port", "0"], cwd);
    expect(code).toBe(3);
    expect(line).toContain(join(data, "world.json"));
  });
});

test("a Node that is too old says so", async () => {
  const pretend = 'data:text/javascript,Object.defineProperty(process,"versions",{value:{node:"18.20.4"}})';
  const sim = phxSim(["--version"], { cwd: newFolder(), nodeOptions: ["--import", pretend] });
  expect(await sim.ended).toEqual({
    code: 3,
    stdout: "",
    stderr: "phx-sim: needs Node 20.19 or newer, and this is Node 18.20.4\n",
  });
});
