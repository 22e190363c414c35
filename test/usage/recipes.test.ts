import { execFile, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { transform } from "esbuild";
import { createServer } from "vite";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { startSim } from "../../src/index.ts";
import { newFolder } from "../support/folder.ts";
import { programs, testWith } from "../support/programs.ts";
import { phxTasks } from "./recipes/cypress/phx-sim.ts";

const recipes = join(import.meta.dirname, "recipes");
const folder = newFolder();

/** The paths that posthog-js requests of its host. */
const sdkPaths = (apiKey: string): string[] => [
  "/e/?ip=0&ver=1.449.2&compression=base64",
  "/flags/?v=2&config=true",
  `/array/${apiKey}/config`,
  `/array/${apiKey}/config.js`,
  "/static/array.js",
];

/** What posthog-js sends to a path: a body where there is one. */
const bodyFor = (path: string, apiKey: string): RequestInit => {
  if (path.startsWith("/array") || path.startsWith("/static")) return {};
  const event = { event: "signed_up", distinct_id: "anna", properties: { token: apiKey } };
  const body = path.startsWith("/e/") ? event : { token: apiKey, distinct_id: "anna" };
  return { method: "POST", body: JSON.stringify(body) };
};

/** Where Next.js sends a path, by the first rewrite whose source matches. */
function rewritten(path: string, rewrites: readonly { source: string; destination: string }[]): string {
  const [pathname = "", query] = path.split("?");
  for (const { source, destination } of rewrites) {
    const start = source.replace(":path*", "");
    if (pathname.startsWith(start))
      return destination.replace(":path*", pathname.slice(start.length)) + (query ? `?${query}` : "");
  }
  return path;
}

test("the rewrites for Next.js send every path of posthog-js to the sim", async () => {
  await using sim = await startSim();
  vi.stubEnv("POSTHOG_HOST", sim.url);
  onTestFinished(() => void vi.unstubAllEnvs());
  const { default: config } = await import("./recipes/next/next.config.ts");
  const rewrites = await config.rewrites();
  for (const path of sdkPaths(sim.apiKey)) {
    const { status } = await fetch(rewritten(`/ingest${path}`, rewrites), bodyFor(path, sim.apiKey));
    expect([path, status]).toEqual([path, 200]);
  }
  await sim.events.waitFor("signed_up");
  expect(await sim.requests.unmatched()).toEqual([]);
});

test("the proxy of Vite's dev server sends every path of posthog-js to the sim", async () => {
  await using sim = await startSim();
  vi.stubEnv("POSTHOG_HOST", sim.url);
  onTestFinished(() => void vi.unstubAllEnvs());
  const server = await createServer({
    configFile: join(recipes, "vite/vite.config.ts"),
    root: folder,
    logLevel: "silent",
    server: { port: 0, host: "127.0.0.1", ws: false, watch: null },
  });
  onTestFinished(() => server.close());
  await server.listen();
  const [address = ""] = server.resolvedUrls?.local ?? [];
  for (const path of sdkPaths(sim.apiKey)) {
    const { status } = await fetch(new URL(`/ingest${path}`, address), bodyFor(path, sim.apiKey));
    expect([path, status]).toEqual([path, 200]);
  }
  await sim.events.waitFor("signed_up");
});

test("the tasks for Cypress", async () => {
  await using sim = await startSim();
  vi.stubEnv("PHX_SIM_URL", sim.url);
  onTestFinished(() => void vi.unstubAllEnvs());
  const tasks = phxTasks();
  const { id } = await tasks.phxProject({ name: "tracks a purchase" });
  const headers = { "x-phx-project": String(id), "content-type": "application/json" };
  const event = { event: "checkout_completed", distinct_id: "anna", properties: { amount: 49 } };
  const body = JSON.stringify({ api_key: sim.apiKey, ...event });
  await fetch(`${sim.url}/capture/`, { method: "POST", headers, body });

  const found = await tasks.phxWaitFor({ project: id, event: event.event, properties: { amount: 49 } });
  expect(JSON.parse(JSON.stringify(found))).toMatchObject(event);
  expect(await tasks.phxExpectNone({ project: id, event: "signed_up" })).toBeNull();
  await expect(tasks.phxExpectNone({ project: id, event: event.event })).rejects.toThrow(
    "checkout_completed",
  );
  expect(await tasks.phxDispose(id)).toBeNull();
});

const django = ["-c", "import django, posthog, sys; sys.exit(sys.version_info < (3, 11))"];
const python = [process.env.DJANGO_PYTHON, "python3"].find((it) => it && spawnSync(it, django).status === 0);

/** What the recipe uses of Django and posthog, where these are not installed. */
const standIns = {
  "django/__init__.py": "",
  "django/test.py": "from unittest import TestCase as SimpleTestCase\n",
  "posthog.py": `import json, urllib.request
def capture(event, distinct_id, properties):
    body = {"api_key": api_key, "event": event, "distinct_id": distinct_id, "properties": properties}
    request = urllib.request.Request(host + "/i/v0/e/", json.dumps(body).encode(), {"content-type": "application/json"})
    urllib.request.urlopen(request).close()
def flush():
    pass
`,
};

testWith(programs.python, "the recipe for Django", async (command) => {
  await using sim = await startSim();
  const place = join(folder, "django");
  cpSync(join(recipes, "django"), place, { recursive: true });
  const client = join(import.meta.dirname, "../../clients/python/src/phx_sim");
  cpSync(client, join(place, "phx_sim"), { recursive: true });
  if (python === undefined)
    for (const [path, text] of Object.entries(standIns)) {
      mkdirSync(dirname(join(place, path)), { recursive: true });
      writeFileSync(join(place, path), text);
    }
  const env = {
    ...process.env,
    DJANGO_SETTINGS_MODULE: "settings",
    PHX_SIM_URL: sim.url,
    POSTHOG_HOST: sim.url,
    POSTHOG_API_KEY: sim.apiKey,
  };
  const args = python === undefined ? ["unittest", "shop.tests"] : ["django", "test"];
  const stderr = await new Promise((resolve) => {
    execFile(python ?? command, ["-m", ...args], { cwd: place, env }, (_error, _stdout, text) =>
      resolve(text),
    );
  });
  expect(stderr).toMatch(/Ran 1 test in .*\n\nOK\n/);
});

describe("what cannot be run here is in order as a program", () => {
  const files = readdirSync(recipes, { recursive: true, encoding: "utf8" });
  test.each(files.filter((it) => /\.tsx?$/.test(it)))("%s", async (file) => {
    const code = readFileSync(join(recipes, file), "utf8");
    const { warnings } = await transform(code, { loader: file.endsWith("x") ? "tsx" : "ts" });
    expect(warnings).toEqual([]);
  });

  for (const file of files.filter((it) => it.endsWith(".rb")))
    testWith(programs.ruby, file, async (ruby) => {
      expect(spawnSync(ruby, ["-c", join(recipes, file)]).status).toBe(0);
    });

  for (const file of files.filter((it) => it.endsWith(".py")))
    testWith(programs.python, file, async (command) => {
      const check = "import ast, sys; ast.parse(open(sys.argv[1]).read())";
      expect(spawnSync(command, ["-c", check, join(recipes, file)]).status).toBe(0);
    });
});
