import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { CallToolResultSchema } from "@modelcontextprotocol/sdk/types.js";
import { expect, test } from "vitest";
import { startSim } from "../../../src/index.ts";
import { newFolder } from "../../support/phx-sim.ts";

const script = join(import.meta.dirname, "../../../bin/phx-sim.js");

async function connect(cwd: string, args: readonly string[] = []) {
  const client = new Client({ name: "test", version: "1" });
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [script, "mcp", ...args],
    cwd,
    stderr: "pipe",
  });
  await client.connect(transport);
  const call = async (name: string, input: Record<string, unknown> = {}) => {
    const result = CallToolResultSchema.parse(await client.callTool({ name, arguments: input }));
    const [content] = result.content;
    return { isError: result.isError === true, text: content?.type === "text" ? content.text : "" };
  };
  return { client, call, pid: transport.pid };
}

test("finds no sim, starts one where client commands find it, and ends it with itself", async () => {
  const cwd = newFolder();
  writeFileSync(join(cwd, "phx-sim.config.json"), '{ "scenario": "world.json", "port": 0 }');
  writeFileSync(join(cwd, "world.json"), '{ "api_key": "phc_of_a_file" }');
  const { client, call } = await connect(cwd);
  const missing = await call("status");
  expect(missing.isError).toBe(true);
  expect(JSON.parse(missing.text)).toMatchObject({ code: "no_sim", hint: expect.stringContaining("start") });
  const started = JSON.parse((await call("start")).text);
  expect(started).toMatchObject({ started: true, data: join(cwd, ".phx-sim"), project_api_key: "phc_of_a_file" });
  const located = JSON.parse(readFileSync(join(cwd, ".phx-sim/run.json"), "utf8"));
  const body = JSON.stringify({ api_key: located.project_api_key, event: "signup", distinct_id: "u1" });
  await fetch(`${located.url}/capture/`, { method: "POST", body });
  expect((await call("wait_for", { event: "signup" })).text).toContain('"distinct_id":"u1"');
  expect(JSON.parse((await call("start")).text)).toMatchObject({ started: false });
  await client.close();
  expect(existsSync(join(cwd, ".phx-sim/run.json"))).toBe(false);
});

test("uses the running sim of --url; check refuses what it cannot open", async () => {
  await using sim = await startSim();
  // The first answer loads the control API; a command waits five seconds for one.
  await fetch(`${sim.url}/__sim/info`);
  const { client, call } = await connect(newFolder(), ["--url", sim.url]);
  expect(JSON.parse((await call("status")).text)).toMatchObject({ url: sim.url });
  const refused = await call("check", { urls: ["file:///etc/passwd"] });
  expect(refused).toMatchObject({ isError: true });
  expect(JSON.parse(refused.text)).toMatchObject({ code: "usage" });
  await client.close();
});
