import { execFile, spawnSync } from "node:child_process";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, describe, expect } from "vitest";
import { parse } from "yaml";
import { connectSim, startSim } from "../../src/index.ts";
import { blocksOf } from "../support/docs.ts";
import { endAll, newFolder, phxSim, runHere, startReady } from "../support/phx-sim.ts";
import { test } from "../support/sim.ts";

afterEach(endAll);

const token = "one-token.for~tests+of/containers==";
const root = join(import.meta.dirname, "../..");

interface Service {
  command?: string;
  environment: Record<string, string>;
  healthcheck?: { test: string[] };
}

/** The services of the documentation's compose file. */
function services(): Record<"sim" | "app" | "tests", Service> {
  const [block = ""] = blocksOf("docs/recipes/ci.md", "yaml", "services:");
  return parse(block.replaceAll(/\$\{PHX_SIM_TOKEN(?::\?[^}]*)?\}/g, token)).services;
}

/** A machine of its own with two network namespaces, where the host `sim` is one of them. */
const isolated = ["--map-root-user", "--net", "--mount", "--pid", "--fork", "--kill-child"];
const network = `set -eu
mount -t tmpfs tmpfs /run
mkdir /run/netns
ip netns add sim
ip netns add others
ip link add name veth0 type veth peer name veth1
ip link set veth0 netns sim
ip link set veth1 netns others
ip -n sim addr add 10.77.0.1/24 dev veth0
ip -n others addr add 10.77.0.2/24 dev veth1
for it in sim others; do ip -n $it link set lo up; done
ip -n sim link set veth0 up
ip -n others link set veth1 up
echo "10.77.0.1 sim" > /run/hosts
mount --bind /run/hosts /etc/hosts
`;
const canIsolate = spawnSync("unshare", [...isolated, "bash", "-c", network]).status === 0;

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
/** Runs words in a network namespace with a service's variables. */
const within = (namespace: string, { environment }: Service, words: readonly string[]) =>
  ["ip", "netns", "exec", namespace, "env"]
    .concat(Object.entries(environment).map(([name, value]) => `${name}=${value}`))
    .concat(words)
    .map(quoted)
    .join(" ");

const fromRoot = (path: string) => JSON.stringify(join(root, path));

test.skipIf(!canIsolate)("the documentation's compose file works from one network to another", async () => {
  const { sim, app, tests } = services();
  const folder = newFolder();
  const files = {
    "app.mjs": `import { PostHog } from ${fromRoot("node_modules/posthog-node/dist/entrypoints/index.node.mjs")};
      const posthog = new PostHog(process.env.POSTHOG_API_KEY, { host: process.env.POSTHOG_HOST });
      for (const distinctId of ["anna", "ben"]) posthog.capture({ distinctId, event: "signed_up" });
      await posthog.shutdown();`,
    "tests.mjs": `import { connectSim } from ${fromRoot("dist/index.js")};
      const sim = await connectSim();
      const { event } = await sim.events.waitFor("signed_up");
      const info = await sim.info();
      const { status } = await fetch(process.env.PHX_SIM_URL + "/__sim/info");
      const list = await fetch(process.env.PHX_SIM_URL + "/api/projects/1/persons/?limit=1", {
        headers: { authorization: "Bearer " + sim.personalApiKey },
      });
      console.log(JSON.stringify({ event, url: info.url, withoutToken: status, next: (await list.json()).next }));`,
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const bin = join(root, "bin/phx-sim.js");
  const [, ...words] = sim.command?.replace(/^npx --yes /, "").split(" ") ?? [];
  const [, ...healthcheck] = sim.healthcheck?.test ?? [];
  const node = process.execPath;
  writeFileSync(
    join(folder, "compose.sh"),
    `${network}
    ${within("sim", sim, [node, bin, ...words])} > sim.log 2>&1 &
    until ${within("sim", sim, healthcheck)} 2> /dev/null; do kill -0 $!; done
    ${within("others", app, [node, "app.mjs"])} >&2
    ${within("others", tests, [node, "tests.mjs"])}
    ${within("others", tests, [node, bin, "env", "--format", "json"])}
    ${within("others", tests, [node, bin, "status"])} | grep -q "running at http://sim:7490"
    kill -TERM $!
    wait`,
  );
  const { stdout } = await promisify(execFile)("unshare", [...isolated, "bash", "compose.sh"], { cwd: folder });
  const [facts = "", ...env] = stdout.trim().split("\n");
  expect(JSON.parse(facts)).toEqual({
    event: "signed_up",
    url: "http://sim:7490",
    withoutToken: 401,
    next: expect.stringContaining("http://sim:7490/api/projects/1/persons/?"),
  });
  expect(JSON.parse(env.join("\n"))).toMatchObject({
    POSTHOG_HOST: app.environment.POSTHOG_HOST,
    POSTHOG_API_KEY: app.environment.POSTHOG_API_KEY,
    PHX_SIM_URL: tests.environment.PHX_SIM_URL,
  });
  const log = readFileSync(join(folder, "sim.log"), "utf8");
  expect(log).toContain("is ready at http://sim:7490");
  expect(log).not.toContain(token);
});

describe("a token of one's own", () => {
  test.each([
    ["variable", [], { PHX_SIM_TOKEN: token }],
    ["flag", ["--token", token], {}],
  ])("by %s is required, in run.json only, and not printed", async (_, args, env) => {
    const cwd = newFolder();
    const { sim, ready } = await startReady(["--verbose", ...args], { cwd, env });
    expect(ready).not.toHaveProperty("control_token");
    expect(ready.inspector_url).toBe(`${ready.url}/__sim/`);
    const bare = await fetch(`${ready.url}/__sim/info`);
    expect([bare.status, await bare.json()]).toMatchObject([401, { code: "control_token_required" }]);
    const status = await runHere(["status", "--url", ready.url, "--token", token], { cwd });
    const byLocator = await runHere(["status"], { cwd });
    const wrong = await runHere(["status", "--url", ready.url, "--token", `${token}=`], { cwd });
    expect([status.code, byLocator.code, wrong.code]).toEqual([0, 0, 5]);
    const { stdout, stderr } = await sim.signal("SIGTERM");
    expect(stdout + stderr + status.stdout + wrong.stderr).not.toContain("one-token");
  });

  test("is kept where only its owner can read it", async ({ folder: cwd }) => {
    await startReady(["--token", token], { cwd });
    const file = join(cwd, ".phx-sim/run.json");
    expect(JSON.parse(readFileSync(file, "utf8")).control_token).toBe(token);
    expect(statSync(file).mode & 0o077).toBe(0);
  });

  test.each(["short", "fifteen-letters", "has a space in it, too", "ümlaut-ümlaut-ümlaut", "x".repeat(513)])(
    "%j is refused by start and clients, and is not repeated",
    async (bad) => {
      const cwd = newFolder();
      writeFileSync(join(cwd, "phx-sim.config.json"), "{}");
      for (const [args, env] of [
        [["start", "--token", bad], {}],
        [["start"], { PHX_SIM_TOKEN: bad }],
        [["status", "--token", bad], {}],
      ] as const) {
        const { code, stdout, stderr } = await phxSim(args, { cwd, env }).ended;
        expect([code, stdout]).toEqual([2, ""]);
        expect(stderr).toMatch(/^phx-sim: (?:--token|PHX_SIM_TOKEN) must be 16 to 512 characters of /);
        expect(stderr).not.toContain(bad);
      }
      writeFileSync(join(cwd, "phx-sim.config.json"), JSON.stringify({ token: bad }));
      const { code, stderr } = await phxSim(["start"], { cwd }).ended;
      expect([code, stderr.includes(bad)]).toEqual([2, false]);
      await expect(startSim({ token: bad })).rejects.toMatchObject({
        code: "option",
        message: "the token cannot be used",
      });
      await expect(connectSim("http://127.0.0.1:1", { token: bad })).rejects.toMatchObject({ code: "bad_token" });
    },
  );
});

describe("a public address", () => {
  const at = "http://sim.test:8080";

  test("is printed everywhere, and commands on this machine do not need it", async ({ folder: cwd }) => {
    const { ready } = await startReady(["--public-url", `${at}/`, "--token", token], { cwd });
    expect(ready.url).toBe(at);
    expect(ready.inspector_url).toBe(`${at}/__sim/`);
    const run = JSON.parse(readFileSync(join(cwd, ".phx-sim/run.json"), "utf8"));
    expect(run).toMatchObject({ url: at, local_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/) });
    const env = await runHere(["env"], { cwd });
    expect(env.stdout).toContain(`POSTHOG_HOST=${at}\n`);
    expect(env.stdout).toContain(`PHX_SIM_URL=${at}\n`);
  });

  test("opens the sim to the network unless it is loopback", async () => {
    await using open = await startSim({ publicUrl: at });
    await using local = await startSim({ publicUrl: "http://localhost:8080" });
    expect(open.controlToken).toMatch(/^[0-9a-f]{32}$/);
    expect(open.personalApiKey).not.toBe(local.personalApiKey);
    expect(local.controlToken).toBeNull();
  });

  test("is in links of answers, and its host and its page are served", async () => {
    await using sim = await startSim({ publicUrl: at, token, scenario: "flags-gallery" });
    const get = (path: string, headers: Record<string, string>) =>
      new Promise<{ status: number | undefined; body: string }>((resolve, reject) => {
        request(`${sim.url}${path}`, { headers }, (res) => {
          let body = "";
          res.setEncoding("utf8").on("data", (text) => {
            body += text;
          });
          res.on("end", () => resolve({ status: res.statusCode, body }));
        })
          .on("error", reject)
          .end();
      });
    const authorization = `Bearer ${sim.personalApiKey}`;
    const list = await get("/api/projects/1/feature_flags/?limit=1", { authorization });
    expect(JSON.parse(list.body).next).toContain(`${at}/api/projects/1/`);
    const info = await get("/__sim/info", {
      host: "proxied:80",
      origin: at,
      "sec-fetch-site": "same-origin",
      authorization: `Bearer ${token}`,
    });
    expect([info.status, JSON.parse(info.body)]).toMatchObject([200, { url: at, local_url: sim.url }]);
    expect((await get("/__sim/", { host: "sim.test:8080" })).status).toBe(200);
    expect((await get("/__sim/info", { origin: "http://sim.test", authorization: `Bearer ${token}` })).status).toBe(
      403,
    );
  });

  test.each(["sim:7490", "ftp://sim", "http://sim/path", "http://a:b@sim", "http://sim?x", "http://sim/#x", "http://"])(
    "%s is refused",
    async (bad) => {
      const { code, stderr } = await runHere(["start", "--public-url", bad], { cwd: newFolder() });
      expect([code, stderr]).toEqual([
        2,
        expect.stringContaining("--public-url must be an http address without a path"),
      ]);
    },
  );
});
