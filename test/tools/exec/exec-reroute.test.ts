import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, describe, expect, test } from "vitest";
import { startSim } from "../../../src/index.ts";
import { endAll, newFolder, phxSim } from "../../support/phx-sim.ts";
import { programs, testWith } from "../../support/programs.ts";

afterEach(endAll);

/** One authority for all; no proxy of this machine in the way. */
const env = {
  PHX_SIM_CA_DIR: join(newFolder(), "ca"),
  ...Object.fromEntries(
    ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"].flatMap((it) => [
      [it, ""],
      [it.toLowerCase(), ""],
    ]),
  ),
};
const start = (args: readonly string[], command: readonly string[], more: Record<string, string> = {}) =>
  phxSim([...args, "--", ...command], { cwd: newFolder(), env: { ...env, ...more } });
const node = (code: string): string[] => [process.execPath, "--input-type=module", "-e", code];

const sdk = JSON.stringify(pathToFileURL(join(import.meta.dirname, "../../../package.json")).href);
const byDefaultHost = `
  import { createRequire } from "node:module";
  const { PostHog } = createRequire(${sdk})("posthog-node");
  const client = new PostHog(process.env.POSTHOG_API_KEY, { host: "https://us.i.posthog.com" });
  client.capture({ distinctId: "u", event: "bought" });
  await client.shutdown();`;
const byFetch = `
  const body = JSON.stringify({ api_key: process.env.POSTHOG_API_KEY, event: "bought", distinct_id: "u" });
  const { status } = await fetch("https://us.i.posthog.com/capture/", { method: "POST", body });
  console.log(status);`;

const python = (scheme: string) => `
import json, os, urllib.request
body = json.dumps({"api_key": os.environ["POSTHOG_API_KEY"], "event": "bought", "distinct_id": "u"}).encode()
request = urllib.request.Request("${scheme}://us.i.posthog.com/capture/", body, {"content-type": "application/json"})
print(urllib.request.urlopen(request).status)`;

describe("phx-sim exec --reroute", () => {
  test("posthog-node with the service's host; with --fail-on, --block-egress and --report", async () => {
    const report = join(newFolder(), "report");
    const args = ["--reroute", "--block-egress", "--fail-on", "egress,dropped,rejected,unmatched"];
    const { code, stderr } = await start(["exec", ...args, "--report", report], node(byDefaultHost)).ended;
    expect(stderr).toMatch(
      /^phx-sim: rerouted to http:\/\/127\.0\.0\.1:\d+: posthog\.com, \*\.posthog\.com \(Node by a preload, other programs by HTTPS_PROXY\)\n/,
    );
    expect(stderr).toContain("phx-sim: 1 event kept, 0 dropped");
    expect(code).toBe(0);
    expect(JSON.parse(readFileSync(join(report, "events.ndjson"), "utf8"))).toMatchObject({ event: "bought" });
  });

  test("the fixture of vitest lets rerouted calls pass", async () => {
    const cwd = newFolder();
    writeFileSync(join(cwd, "package.json"), '{ "type": "module" }');
    mkdirSync(join(cwd, "node_modules"));
    const root = join(import.meta.dirname, "../../..");
    for (const name of ["vitest", "posthog-node"])
      symlinkSync(join(root, "node_modules", name), join(cwd, "node_modules", name));
    symlinkSync(root, join(cwd, "node_modules/phx-sim"));
    const body = `
      import { expect, test } from "phx-sim/vitest";
      test("a client with the service's host", async ({ sim }) => {
        ${byFetch.replace("console.log(status);", "expect(status).toBe(200);")}
        await expect(sim).toHaveCaptured("bought");
      });`;
    writeFileSync(join(cwd, "hard-coded.test.js"), body);
    const vitest = [process.execPath, join(root, "node_modules/vitest/vitest.mjs"), "run"];
    const { code, stdout, stderr } = await phxSim(["exec", "--reroute", "--", ...vitest], { cwd, env }).ended;
    expect(code, stdout + stderr).toBe(0);
  });

  test("is off by default", async () => {
    const { code, stderr } = await start(["exec", "--fail-on", "egress"], node(byFetch)).ended;
    expect(stderr).toContain("blocked POST https://us.i.posthog.com/capture/");
    expect(stderr).not.toContain("rerouted");
    expect(code).toBe(1);
  });

  test("--reroute-host alone reroutes, too, and --block-egress leaves those hosts to it", async () => {
    const { stdout, stderr } = await start(
      ["exec", "--reroute-host", "e.shop.test", "--block-egress"],
      node(byFetch.replace("us.i.posthog.com", "e.shop.test")),
    ).ended;
    expect(stdout).toBe("200\n");
    expect(stderr).toContain("posthog.com, *.posthog.com, e.shop.test (");
    expect(stderr).toContain("e.shop.test: only Node processes are rerouted");
  });

  for (const scheme of ["http", "https"])
    testWith(programs.python, `Python: ${scheme}, by the proxy and its certificate`, async (command) => {
      const { code, stdout, stderr } = await start(
        ["exec", "--reroute", "--block-egress"],
        [command, "-c", python(scheme)],
      ).ended;
      expect(stderr).toContain("phx-sim: 1 event kept, 0 dropped; 1 request");
      expect([code, stdout]).toEqual([0, "200\n"]);
    });

  test("a proxy that is set already stays, and this is said", async () => {
    const { code, stdout, stderr } = await start(
      ["exec", "--reroute"],
      node(`${byFetch} console.log(process.env.HTTPS_PROXY, process.env.http_proxy);`),
      { HTTPS_PROXY: "http://proxy.invalid:1" },
    ).ended;
    expect([code, stdout]).toEqual([0, "200\nhttp://proxy.invalid:1 \n"]);
    expect(stderr).toContain("phx-sim: --reroute: HTTPS_PROXY is set and left as it is: only Node");
  });

  test("a sim that is no proxy needs no certificate", async () => {
    const { stdout, stderr } = await start(["exec", "--reroute", "--no-proxy"], node(byFetch), {
      PHX_SIM_CA_DIR: "/dev/null/ca",
    }).ended;
    expect(stdout).toBe("200\n");
    expect(stderr).toContain("(Node by a preload)\nphx-sim: --reroute: The sim is no proxy");
  });
});

describe("phx-sim record --reroute", () => {
  test("what goes to the service's host is passed on, and taped", async () => {
    await using far = await startSim({ dialect: "production" });
    const run = start(
      ["record", "--upstream", far.url, "--tape", "shop", "--reroute"],
      node(byFetch.replace("process.env.POSTHOG_API_KEY", JSON.stringify(far.apiKey))),
    );
    const { code, stdout, stderr } = await run.ended;
    expect([code, stdout]).toEqual([0, "200\n"]);
    expect(stderr).toContain("phx-sim: rerouted to http://127.0.0.1:");
    expect(stderr).toMatch(/1 exchange on .*shop\.tape\.ndjson/);
    expect(await far.events.list()).toMatchObject([{ event: "bought" }]);
  });

  test("needs a command", async () => {
    const args = ["record", "--upstream", "http://127.0.0.1:1", "--reroute"];
    const { code, stderr } = await phxSim(args, { cwd: newFolder(), env }).ended;
    expect([code, stderr]).toEqual([2, expect.stringContaining("--reroute needs a command")]);
  });
});

describe("mistakes", () => {
  test.each([
    ["a b", '--reroute-host: "a b" is not a host'],
    ["shop.test/ingest", '--reroute-host: "shop.test/ingest" has a path'],
  ])("the host %j", async (host, message) => {
    const { code, stderr } = await start(["exec", "--reroute-host", host], ["true"]).ended;
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
  });

  test.each([["exec"], ["record", "--upstream", "http://127.0.0.1:1"]])(
    "%s: no folder for the authority",
    async (...args) => {
      const file = join(newFolder(), "file");
      writeFileSync(file, "");
      const { code, stderr } = await start([...args, "--reroute"], ["true"], { PHX_SIM_CA_DIR: join(file, "ca") })
        .ended;
      expect([code, stderr]).toEqual([3, expect.stringMatching(/--reroute: .*cannot be read/)]);
    },
  );
});
