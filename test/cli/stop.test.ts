import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startSim } from "../../src/index.ts";
import { endAll, newFolder, phxSim, post, runHere, startReady } from "../support/phx-sim.ts";

let cwd: string;
beforeEach(() => {
  cwd = newFolder();
});
afterEach(endAll);

const stop = (...args: string[]) => runHere(["stop", ...args], { cwd });

describe("phx-sim stop", () => {
  test("stops the sim of the folder, says which, and is done when it is gone", async () => {
    const { sim, ready } = await startReady([], { cwd });
    await post(`${ready.url}/capture/`, { api_key: ready.project_api_key, event: "a", distinct_id: "u" });
    const { code, stdout, stderr } = await stop();
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toBe(
      `stopped phx-sim ${ready.version} at ${ready.url} (pid ${ready.pid}, data in ${join(cwd, ".phx-sim")})\n`,
    );
    expect(existsSync(join(cwd, ".phx-sim", "run.json"))).toBe(false);
    await expect(fetch(ready.url)).rejects.toThrow();
    expect(await sim.ended).toMatchObject({ code: 0, stderr: expect.stringContaining("stopped; 1 event kept") });
  });

  test("finds it by --url, and answers JSON", async () => {
    const { sim, ready } = await startReady(["--memory"], { cwd: newFolder() });
    const { code, stdout } = await stop("--url", ready.url, "--json");
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual({ url: ready.url, version: ready.version, pid: ready.pid, data: null });
    expect((await sim.ended).code).toBe(0);
  });

  test("ends a recording with its tape whole", async () => {
    const upstream = await startSim();
    try {
      const record = phxSim(["record", "--upstream", upstream.url, "--port", "0", "--tape", "t", "--json"], { cwd });
      const [line] = await record.says("stdout", /^\{.*\}\n/);
      const { url } = JSON.parse(line);
      await post(`${url}/flags/?v=2`, { token: upstream.apiKey, distinct_id: "u" });
      expect((await stop("--url", url)).code).toBe(0);
      expect((await record.ended).code).toBe(0);
      const shown = await runHere(["tape", "show", "t"], { cwd });
      expect(shown).toMatchObject({ code: 0, stdout: expect.stringContaining("/flags/?v=2") });
    } finally {
      await upstream.close();
    }
  });

  test("ends with 5 when none runs", async () => {
    expect(await stop()).toMatchObject({ code: 5, stdout: "", stderr: expect.stringMatching(/^phx-sim: no running/) });
  });

  test("needs the token of a sim that is bound wider than loopback", async () => {
    const { ready } = await startReady(["--memory", "--host", "0.0.0.0"], { cwd: newFolder() });
    expect(await stop("--url", ready.url)).toMatchObject({ code: 5, stderr: expect.stringContaining("--token") });
    expect((await fetch(`${ready.url}/__sim/stop`, { method: "POST" })).status).toBe(401);
    expect((await stop("--url", ready.url, "--token", ready.control_token ?? "")).code).toBe(0);
  });

  test("leaves a sim alone that runs inside another program", async () => {
    const sim = await startSim();
    try {
      const { code, stderr } = await stop("--url", sim.url);
      expect({ code, stderr }).toEqual({
        code: 2,
        stderr: `phx-sim: this sim ends with the program that runs it (pid ${process.pid}); end that program; only a sim of phx-sim start, replay or record can be stopped\n`,
      });
      expect((await fetch(`${sim.url}/__sim/health`)).status).toBe(200);
    } finally {
      await sim.close();
    }
  });

  test("a page of another site cannot stop it", async () => {
    const { ready } = await startReady(["--memory"], { cwd });
    const headers = { origin: "https://evil.example", "sec-fetch-site": "cross-site" };
    expect((await fetch(`${ready.url}/__sim/stop`, { method: "POST", headers })).status).toBe(403);
    expect((await fetch(`${ready.url}/__sim/health`)).status).toBe(200);
  });
});
