import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { commands } from "../../src/cli/commands.ts";
import type { Sim } from "../../src/index.ts";
import { startSim } from "../../src/index.ts";
import { readArgs } from "../../src/kernel/command/read-args.ts";
import { element, opening, sendPart, session } from "../lab/sessions/recorded.ts";
import { endAll, newFolder, phxSim, post, runHere } from "../support/phx-sim.ts";

/** A sim with an event, a group, a recording, a request, a fault and a snapshot; made anew for each test. */
let sim: Sim;
let cwd: string;
/** Files that commands read: made once by commands, copied for each test. */
let files: string;

const capture = (to: Sim, event: object) => post(`${to.url}/capture/`, { api_key: to.apiKey, ...event });

async function openSim(): Promise<Sim> {
  const opened: Sim = await startSim({ onStop: () => void opened.close() });
  await capture(opened, { event: "signup", distinct_id: "u1", properties: { plan: "pro" } });
  const properties = { $group_type: "company", $group_key: "acme", $group_set: { name: "Acme" } };
  await capture(opened, { event: "$groupidentify", distinct_id: "u1", properties });
  await sendPart(opened, opening(element("body", {}, "Pay")));
  await opened.faults.apply("capture-503", { times: 1 });
  await opened.snapshot("before");
  return opened;
}

const options = () => ({
  cwd,
  env: { PHX_SIM_URL: sim.url, PHX_SIM_CA_DIR: join(cwd, "ca"), LIVE_KEY: sim.personalApiKey },
});
const run = (...args: string[]) => runHere(args, options());

beforeAll(async () => {
  files = newFolder();
  cwd = files;
  writeFileSync(join(files, "app.ts"), 'posthog.capture("signup");');
  sim = await openSim();
  await fetch(`${sim.url}/decide?v=3`, {
    method: "POST",
    body: JSON.stringify({ token: sim.apiKey, distinct_id: "u1" }),
  });
  const baseline = '{"phx_sim_baseline":1}\n{"test":"","event":"signup","count":1}\n';
  writeFileSync(join(files, "analytics.baseline.ndjson"), baseline);
  for (const args of [
    ["requests", "har", "--out", "traffic.har"],
    ["tape", "import", "traffic.har", "--tape", "one", "--all"],
    ["tape", "import", "traffic.har", "--tape", "two", "--all"],
    ["plan", "infer", "--out", "events.plan.json"],
    ["scenario", "init", "world.yaml"],
    ["state", "export", "state.json"],
  ])
    expect(await run(...args), args.join(" ")).toMatchObject({ code: 0 });
  await sim.close();
});
beforeEach(async () => {
  cwd = newFolder();
  cpSync(files, cwd, { recursive: true });
  sim = await openSim();
});
afterEach(async () => {
  await endAll();
  await sim.close();
});

interface Row {
  /** What follows the command's name. */
  readonly args?: readonly string[] | (() => readonly string[]);
  /** It goes on until a signal comes. */
  readonly serves?: true;
  /** It takes over signals, or what it starts does. */
  readonly isProcess?: true;
  /** Why it has no --json. */
  readonly noJson?: string;
  /** What it prints though it is quiet: its result. */
  readonly isResult?: true;
  /** Its exit code where that is not 0. */
  readonly code?: number;
}

const result = { isResult: true } as const;
/** A program that sends events without a mistake. */
const soundApp = join(import.meta.dirname, "../tools/check/apps/sound-node.mjs");
const anyPort = ["--port", "0"];

const rows: Readonly<Record<string, Row>> = {
  start: { serves: true, args: [...anyPort, "--memory"], ...result },
  replay: { serves: true, args: ["one", ...anyPort, "--memory"], ...result },
  record: { serves: true, args: () => [...anyPort, "--upstream", sim.url], ...result },
  stop: {},
  status: {},
  init: {},
  env: result,
  doctor: {},
  check: { args: ["--start", `node "${soundApp}"`], ...result },
  "baseline update": { args: ["--from", "analytics.baseline.ndjson"] },
  "baseline diff": { args: ["analytics.baseline.ndjson"], ...result },
  "baseline show": result,
  exec: { isProcess: true, args: ["--", process.execPath, "-e", ""] },
  verify: { args: ["one"] },
  send: { isProcess: true, args: () => ["one", "--to", sim.url, "--token", sim.apiKey, "--ignore-status"] },
  "events list": result,
  "events show": { args: ["1"], ...result },
  "events tail": { serves: true, args: ["--since", "0"], ...result },
  "events wait": { args: ["--event", "signup"] },
  "events clear": {},
  "recordings list": result,
  "recordings show": { args: [session], ...result },
  "recordings search": { args: ["jane@acme.test"], ...result },
  "requests list": result,
  "requests show": { args: ["1"], ...result },
  "requests har": { args: ["--out", "new.har"] },
  query: { args: ["SELECT count() FROM events"], ...result },
  generate: { args: ["--users", "2", "--days", "2", "--out", "new.ndjson"] },
  lint: {},
  coverage: { args: ["app.ts"] },
  "persons list": result,
  "persons show": { args: ["u1"], ...result },
  "groups list": result,
  "groups show": { args: ["company", "acme"], ...result },
  "flags list": result,
  "flags set": { args: ["new-checkout", "test"] },
  "flags unset": { args: ["new-checkout"] },
  "flags explain": { args: ["new-checkout", "--distinct-id", "u1"], ...result },
  "flags decisions": result,
  "flags simulate": { args: ["new-checkout"], ...result },
  "faults list": result,
  "faults presets": result,
  "faults apply": { args: ["flags-down"] },
  "faults clear": {},
  "clock now": result,
  "clock set": { args: ["2030-01-01"] },
  "clock advance": { args: ["1h"] },
  "clock freeze": {},
  "clock resume": {},
  "exports list": result,
  "exports runs": result,
  "exports show": { args: () => [openRun], ...result },
  "exports tick": {},
  "exports script": { args: () => [openRun] },
  "state reset": {},
  "state snapshot": { args: ["after"] },
  "state restore": { args: ["before"] },
  "state list": result,
  "state delete": { args: ["before"] },
  "state export": { args: ["new.json"] },
  "state import": { args: ["state.json"] },
  "scenario init": { args: ["new.yaml"] },
  "scenario check": { args: ["world.yaml"] },
  "scenario schema": result,
  "scenario list": result,
  pull: { args: () => ["--upstream", sim.url, "--project", String(sim.projectId), "--key-env", "LIVE_KEY"] },
  impact: { args: ["analytics.baseline.ndjson", "--from", "world.yaml"], ...result },
  "plan infer": result,
  "plan check": {},
  "plan types": result,
  "plan schema": result,
  "tape list": result,
  "tape show": { args: ["one"], ...result },
  "tape import": { args: ["traffic.har", "--tape", "new", "--all"] },
  "tape export": { args: ["one"] },
  "tape check": { args: ["one"] },
  "tape diff": { args: ["one", "two"] },
  "ca show": result,
  "ca export": result,
  "ca trust": result,
  mcp: { isProcess: true, noJson: "it speaks a protocol" },
  completion: { args: ["bash"], noJson: "it prints a script", ...result },
};

/** An export's run that has not ended. */
let openRun = "";

const argsOf = ({ args = [] }: Row): readonly string[] => (typeof args === "function" ? args() : args);

/** One document, or one on each line. */
function parsed(text: string): unknown[] {
  try {
    return [JSON.parse(text)];
  } catch {
    return text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
  }
}

/** What takes over the signals or the streams of its process has one of its own. */
async function ended(name: string, row: Row, option: string) {
  const args = [...name.split(" "), ...withOption(argsOf(row), option)];
  if (option === "--quiet" && !row.serves && !row.isProcess) return runHere(args, options());
  const process = phxSim(args, row.isProcess ? { ...options(), isOwn: true } : options());
  if (!row.serves) return process.ended;
  await process.says("stdout", /\n/);
  return process.signal("SIGTERM");
}

/** Before `--`: what follows is another program's. */
const withOption = (args: readonly string[], option: string): string[] =>
  args[0] === "--" ? [option, ...args] : [...args, option].toSorted((a, b) => Number(a === "--") - Number(b === "--"));

const endOf = ({ serves, code = 0 }: Row): number => (serves ? 143 : code);

beforeEach(async ({ task }) => {
  if (!/^exports \w+ prints/.test(task.name)) return;
  await sim.close();
  sim = await startSim({ scenario: "exports" });
  const runs = await sim.exports.runs();
  const open = runs.find(({ status }) => status === "Starting" || status === "Running");
  openRun = (open ?? runs[0])?.id ?? "";
});

test("no command is missing here", () => {
  expect(commands.map(({ name }) => name).sort()).toEqual(Object.keys(rows).sort());
});

describe("--json", () => {
  const withJson = Object.entries(rows).filter(([, { noJson }]) => noJson === undefined);
  test.each(withJson)("%s prints JSON", async (name, row) => {
    const { code, stdout, stderr } = await ended(name, row, "--json");
    expect({ code, stderr: code === endOf(row) ? "" : stderr }).toEqual({ code: endOf(row), stderr: "" });
    const values = stdout === "" ? [] : parsed(stdout);
    for (const value of values) expect(value).toEqual(expect.any(Object));
  });

  test.each(Object.entries(rows).filter(([, { noJson }]) => noJson))("%s has none", (name) => {
    expect(commands.find((it) => it.name === name)?.options).not.toHaveProperty("json");
  });
});

describe("--quiet", () => {
  test.each(Object.entries(rows))("%s prints results only", async (name, row) => {
    const { code, stdout, stderr } = await ended(name, row, "--quiet");
    expect({ code, stderr }).toEqual({ code: endOf(row), stderr: "" });
    if (!row.isResult) expect(stdout).toBe("");
  });

  test("a command that does not end well prints all", async () => {
    await capture(sim, {
      event: "Sign Up",
      distinct_id: "u1",
      properties: { email: "a@example.com", Plan: 1, plan: "x" },
    });
    writeFileSync(join(cwd, "world.yaml"), "projects: 3\n");
    const loud = await run("scenario", "check", "world.yaml");
    expect(loud.code).toBe(1);
    expect(await run("scenario", "check", "world.yaml", "--quiet")).toEqual(loud);
    mkdirSync(join(cwd, "elsewhere"));
    expect(await run("tape", "show", "none", "--quiet")).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^phx-sim: .*none\.tape\.ndjson cannot be read/),
    });
  });
});

/** The words of an example as a shell would read them; what follows a pipe or an arrow is left out. */
function wordsOf(line: string): string[] {
  const [own = ""] = line.replace(/^eval "\$\((.*)\)"$/, "$1").split(/ (?:\||>>?) /);
  return [...own.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(([, a, b, c]) => a ?? b ?? c ?? "").slice(1);
}

describe("help", () => {
  test.each(commands.map((it) => [it.name, it] as const))("%s has examples that can be run", (name, { examples }) => {
    const named = examples.map(([line]) => {
      const reading = readArgs(wordsOf(line), commands);
      expect(reading, line).toHaveProperty("command");
      return "command" in reading ? reading.command.name : "";
    });
    expect(named).toContain(name);
  });

  test.each([
    ["help", "events", "list"],
    ["help", "event", "list"],
    ["tape", "verify", "--help"],
    ["help", "requests"],
  ])("%s %s %s prints help", async (...words) => {
    const { code, stdout, stderr } = await run(...words);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain("Exit codes:");
  });

  test.each([
    ["fault", "faults"],
    ["flag", "flags"],
    ["event", "events"],
    ["people", "persons"],
    ["export", "exports"],
  ])("%s is %s", async (other, noun) => {
    const [one, two] = await Promise.all([run(other, "list", "--json"), run(noun, "list", "--json")]);
    expect(one).toEqual(two);
    expect(one.code).toBe(0);
  });
});
