import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { CheckReport } from "../../../src/tools/check/shapes.ts";
import { chromiumEnv } from "../../support/chromium.ts";
import { endAll, newFolder, phxSim } from "../../support/phx-sim.ts";
import { bundledSdk } from "./serve-app.ts";

const key = "phc_T3vYpQ9sLm2XkR7wBn4ZcJ8hGd5FaUe6KiOoVtCq1Zx";

/** A server with a page, a reverse proxy to the real service, and a variable of the sim's. */
const server = `
  const { createServer } = require("node:http");
  const { readFileSync } = require("node:fs");
  const page = '<title>' + (process.env.POSTHOG_HOST ? "env" : "no env") + '</title><script type="module">' +
    'import posthog from "/posthog.mjs";' +
    'posthog.init("${key}", { api_host: location.origin + "/ingest", ui_host: "https://us.posthog.com", defaults: "2025-05-24" });' +
    '</script>';
  const server = createServer(async (request, response) => {
    if (request.url === "/posthog.mjs") return response.writeHead(200, { "content-type": "text/javascript" }).end(readFileSync("posthog.mjs"));
    if (!request.url.startsWith("/ingest")) return response.writeHead(200, { "content-type": "text/html" }).end(page);
    const { host, connection, ...headers } = request.headers;
    const body = Buffer.concat(await request.toArray());
    const path = request.url.slice("/ingest".length);
    const upstream = /^\\/(static|array)\\//.test(path) ? "https://us-assets.i.posthog.com" : "https://us.i.posthog.com";
    const answer = await fetch(upstream + path, { method: request.method, headers, ...(body.length && { body }) });
    response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "" });
    response.end(Buffer.from(await answer.arrayBuffer()));
  });
  server.listen(0, "127.0.0.1", () => console.log("ready at http://localhost:" + server.address().port));
`;

let cwd: string;
let env: Record<string, string>;

beforeAll(async () => {
  cwd = newFolder();
  env = { ...(await chromiumEnv()), PHX_SIM_CA_DIR: join(cwd, "ca") };
  writeFileSync(join(cwd, "server.cjs"), server);
  writeFileSync(join(cwd, "posthog.mjs"), (await bundledSdk()).module);
  writeFileSync(join(cwd, "package.json"), JSON.stringify({ scripts: { dev: "node server.cjs" } }));
});

afterEach(endAll);

const check = (args: readonly string[], at = cwd) => phxSim(["check", ...args], { isOwn: true, cwd: at, env }).ended;

test("starts the dev script, and reroutes its proxy to the sim", async () => {
  const { code, stdout, stderr } = await check(["--json", "--fail-on", "warning"]);
  const report = CheckReport.parse(JSON.parse(stdout));
  expect(report).toMatchObject({
    verdict: "passed",
    command: "npm run dev",
    pages: [{ how: "load", title: "env" }, { how: "reload" }],
    checked: expect.arrayContaining([{ area: "proxy", what: "the app's reverse proxy", result: "ok" }]),
  });
  expect(report.counts.events).toBeGreaterThan(1);
  expect(code).toBe(0);
  expect(stderr).toContain('no address is given; starting "npm run dev"');
});

test("a script that ends is reported without a browser", async () => {
  const { code, stdout } = await check(["--start", "echo working; exit 4"]);
  expect(stdout).toContain("error   app_failed");
  expect(stdout).toContain("working");
  expect(stdout.trimEnd()).toMatch(/failed: 1 error/);
  expect(code).toBe(1);
});

test("a script that sends nothing is no success", async () => {
  const { code, stdout } = await check(["--start", "node -e 0"]);
  expect(code).toBe(1);
  expect(stdout).toContain("nothing_observed");
});

test("an app that fails is one finding, with its first errors and without escape codes", async () => {
  const at = newFolder();
  writeFileSync(
    join(at, "app.mjs"),
    `console.log("\\x1b[2mstarting\\x1b[22m");
     console.error("\\x1b[41m ERROR \\x1b[49m it \\x1b[31mbroke\\x1b[39m");
     for (let i = 0; i < 100; i++) console.error("    at line " + i);
     throw new TypeError("the port is wrong");`,
  );
  const args = ["--start", "node app.mjs", "--json"];
  const report = CheckReport.parse(JSON.parse((await check(args, at)).stdout));
  const [finding, ...others] = report.findings.filter(({ code }) => code === "app_failed");
  expect(others).toEqual([]);
  expect(finding).toMatchObject({
    count: 1,
    evidence: [{ text: "node app.mjs ended with exit code 1\n ERROR  it broke\nTypeError: the port is wrong" }],
  });
  const { stdout } = await check(args.slice(0, 2), at);
  expect(stdout).toContain("app_failed: the command ended with an error\n");
  expect(stdout).toMatch(/ {8} ?ERROR {2}it broke\n {8}TypeError: the port is wrong\n/);
});

describe("mistakes", () => {
  const empty = () => {
    const folder = join(newFolder(), "empty");
    mkdirSync(folder);
    writeFileSync(join(folder, "package.json"), "{}");
    return folder;
  };

  test.each<[string[], number, RegExp]>([
    [[], 2, /no dev, start, serve or preview script in package\.json.*--start/],
    [["ftp://x"], 2, /URLS must be http addresses .* not "ftp:\/\/x"/],
    [["--pages", "0", "http://localhost:1"], 2, /--pages must be 1 or more/],
    [["http://127.0.0.1:1"], 3, /nothing answers at http:\/\/127\.0\.0\.1:1\/ .*--start/],
  ])("%j: exit code %d", async (args, code, message) => {
    const ended = await check(args, empty());
    expect(ended.stderr).toMatch(message);
    expect(ended.code).toBe(code);
  });
});
