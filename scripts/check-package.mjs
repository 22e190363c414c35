// Packs the package, installs it into an empty project as users do, and uses it there on every Node version that it
// supports. Run by `npm run check:package [-- MAJOR…]`.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { nodeOf, root } from "./nodes.mjs";

const mostBytes = 12_000_000;
const folder = mkdtempSync(join(tmpdir(), "phx-package-"));

let failures = 0;
function check(what, holds, details = "") {
  if (!holds) failures += 1;
  console.log(`${holds ? "ok  " : "FAIL"} ${what}${holds || details === "" ? "" : `\n${details}`}`);
}

const sizeOf = (path) =>
  statSync(path).isDirectory()
    ? readdirSync(path).reduce((sum, it) => sum + sizeOf(join(path, it)), 0)
    : statSync(path).size;

const [{ filename }] = JSON.parse(
  execFileSync("npm", ["pack", "--json", "--ignore-scripts", "--pack-destination", folder], {
    cwd: root,
    encoding: "utf8",
  }),
);

/** A sim of the package, started by its command; its address. */
async function started(run, project) {
  const child = run(["start", "--port", "0"], project);
  for await (const text of child.stdout.setEncoding("utf8")) {
    const [url] = /http:\/\/127\.0\.0\.1:\d+/.exec(text) ?? [];
    if (url) return { child, url };
  }
  throw new Error("phx-sim start ended before it was ready");
}

const library = `
import { startSim } from "phx-sim";
const sim = await startSim();
const body = JSON.stringify({ api_key: "phc_sim_default", event: "signup", distinct_id: "u1" });
await fetch(sim.url + "/capture/", { method: "POST", headers: { "content-type": "application/json" }, body });
const event = await sim.events.waitFor("signup");
if (event.distinct_id !== "u1") throw new Error(JSON.stringify(event));
await sim.close();
`;

const types = `
import { connectSim, type Sim, type StoredEvent, startSim } from "phx-sim";
import { definePlan } from "phx-sim/plan";
const sim: Sim = await startSim({ port: 0 });
const event: StoredEvent = await sim.events.waitFor("signup", { amount: 3 });
const dropped: "kept" | "dropped" = event.outcome;
const other = await connectSim(sim.url);
export { dropped, definePlan, other };
// @ts-expect-error the name of an option that does not exist
startSim({ prt: 1 });
`;

for (const major of process.argv.length > 2 ? process.argv.slice(2) : [20, 22, 24, 26]) {
  const node = nodeOf(major);
  const project = join(folder, `on-${major}`);
  mkdirSync(project);
  writeFileSync(join(project, "package.json"), '{ "private": true, "type": "module" }');
  writeFileSync(join(project, ".npmrc"), "engine-strict=true\n");
  // npm's own file, run by the Node in question
  const env = { ...process.env, PATH: `${dirname(node)}:${process.env.PATH}` };
  for (const key of Object.keys(env)) if (key.startsWith("npm_")) delete env[key];
  const npm = spawnSync("npm", ["install", "--no-audit", "--no-fund", "-D", join(folder, filename)], {
    cwd: project,
    env,
    encoding: "utf8",
  });
  const warnings = npm.stderr.split("\n").filter((it) => it !== "" && !it.includes("Unknown user config"));
  check(`Node ${major}: installs without a word`, npm.status === 0 && warnings.length === 0, npm.stderr);
  const installed = readdirSync(join(project, "node_modules")).filter((it) => !it.startsWith("."));
  check(`Node ${major}: one package`, installed.length === 1, installed.join(" "));
  const bytes = sizeOf(join(project, "node_modules/phx-sim"));
  check(`Node ${major}: ${(bytes / 1e6).toFixed(1)} MB, at most ${mostBytes / 1e6}`, bytes <= mostBytes);

  const bin = join(project, "node_modules/phx-sim/bin/phx-sim.js");
  const run = (args) => spawn(node, [bin, ...args], { cwd: project, env, stdio: ["ignore", "pipe", "inherit"] });
  const ended = (args) => spawnSync(node, [bin, ...args], { cwd: project, env, encoding: "utf8" });
  const { child, url } = await started(run, project);
  const capture = await fetch(`${url}/capture/`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ api_key: "phc_sim_default", event: "signup", distinct_id: "u1" }),
  });
  check(`Node ${major}: start takes an event`, capture.status === 200);
  check(`Node ${major}: the page is there`, (await (await fetch(`${url}/__sim/`)).text()).includes("<script"));
  const list = ended(["events", "list", "--url", url]);
  check(`Node ${major}: events list shows it`, list.stdout.includes("signup"), list.stdout + list.stderr);
  const boards = await fetch(`${url}/api/projects/1/dashboards/`, {
    headers: { authorization: "Bearer phx_sim_default" },
  });
  check(`Node ${major}: the management API answers`, boards.status === 200);
  const flags = await fetch(`${url}/flags/?v=2`, {
    method: "POST",
    body: JSON.stringify({ api_key: "phc_sim_default", distinct_id: "u1" }),
  });
  check(`Node ${major}: flags are decided`, flags.status === 200);
  child.kill();
  for (const args of [["--help"], ["doctor"], ["scenario", "list"]]) {
    const { status, stderr } = ended(args);
    check(`Node ${major}: ${args.join(" ")}`, status === 0 || args[0] === "doctor", stderr);
  }
  const exec = ended(["exec", "--", node, "-e", "fetch(process.env.POSTHOG_HOST)"]);
  check(`Node ${major}: exec runs a command`, exec.status === 0, exec.stderr);
  writeFileSync(join(project, "library.mjs"), library);
  const used = spawnSync(node, ["library.mjs"], { cwd: project, env, encoding: "utf8" });
  check(`Node ${major}: startSim() in a program`, used.status === 0, used.stderr);
}

const project = join(
  folder,
  readdirSync(folder).find((it) => it.startsWith("on-")),
);
writeFileSync(join(project, "types.ts"), types);
const flags = "--noEmit --strict --target es2023 --lib es2023,dom,esnext.disposable --module nodenext --types".split(
  " ",
);
const compiled = spawnSync(
  process.execPath,
  [join(root, "node_modules/typescript/bin/tsc"), ...flags, "", "types.ts"],
  { cwd: project, encoding: "utf8" },
);
check("types need no other package", compiled.status === 0, compiled.stdout);

rmSync(folder, { recursive: true, force: true });
process.exitCode = failures === 0 ? 0 : 1;
