import { spawn } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { newFolder } from "../support/folder.ts";

const root = resolve(import.meta.dirname, "../..");

interface Step {
  id?: string;
  if?: string;
  uses?: string;
  run?: string;
  "working-directory"?: string;
  env?: Record<string, string>;
}
interface Action {
  inputs: Record<string, { default?: string; required?: boolean }>;
  outputs: Record<string, { value: string }>;
  runs: { steps: Step[] };
}
const action: Action = parse(readFileSync(join(root, "action.yml"), "utf8"));

/** The part of GitHub's API for comments of a pull request. */
interface Hub {
  comments: { id: number; body: string }[];
  /** Set: every change is refused with this status. */
  refusal?: number;
  readonly seen: string[];
  readonly server: Server;
  url: string;
}

async function openHub(): Promise<Hub> {
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const part of request) text += part;
    const { pathname, searchParams } = new URL(request.url ?? "", "http://hub");
    hub.seen.push(`${request.method} ${pathname} ${request.headers.authorization}`);
    const reply = (status: number, body: unknown) => {
      response.writeHead(status, { "content-type": "application/json" });
      response.end(JSON.stringify(body));
    };
    const page = Number(searchParams.get("page"));
    const size = Number(searchParams.get("per_page"));
    if (request.method === "GET") return reply(200, hub.comments.slice((page - 1) * size, page * size));
    if (hub.refusal !== undefined) return reply(hub.refusal, {});
    const { body } = JSON.parse(text);
    const id = Number(/comments\/(\d+)$/.exec(pathname)?.[1] ?? hub.comments.length + 1);
    const known = hub.comments.find((it) => it.id === id);
    if (known) known.body = body;
    else hub.comments.push({ id, body });
    return reply(200, {});
  });
  const hub: Hub = { comments: [], seen: [], server, url: "" };
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  hub.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return hub;
}

let hub: Hub;
let folder: string;
beforeAll(async () => {
  hub = await openHub();
});
afterAll(() => void hub.server.close());
beforeEach(() => {
  hub.comments = [];
  hub.seen.length = 0;
  delete hub.refusal;
  folder = newFolder();
  // the project's own phx-sim, as npm installs it
  mkdirSync(join(folder, "node_modules/.bin"), { recursive: true });
  const bin = join(folder, "node_modules/.bin/phx-sim");
  writeFileSync(bin, `#!/bin/sh\nexec ${process.execPath} ${join(root, "bin/phx-sim.js")} "$@"\n`);
  chmodSync(bin, 0o755);
  writeFileSync(join(folder, "package.json"), "{}");
});

/** The value of an expression of the action: a reference, or `a && b` of comparisons with ''. */
function filled(text: string, facts: Record<string, string>): string {
  return text.replaceAll(/\$\{\{ ([\w.-]+) \}\}/g, (_, name) => facts[name] ?? "");
}
const holds = (text: string | undefined, facts: Record<string, string>): boolean =>
  (text ?? "")
    .replace(/^\$\{\{|\}\}$/g, "")
    .split("&&")
    .map((it) => /([\w.-]+) != '(.*)'/.exec(it))
    .every((it) => it === null || (facts[it[1] ?? ""] ?? "") !== it[2]);

interface Ended {
  code: number;
  outputs: Record<string, string>;
  log: string;
  summary: string;
  uploaded: string[];
}

/** Runs the action's steps as GitHub does. */
async function run(inputs: Record<string, string>, event: object = { pull_request: { number: 7 } }): Promise<Ended> {
  const file = (name: string) => join(folder, name);
  writeFileSync(file("event.json"), JSON.stringify(event));
  const facts: Record<string, string> = { "github.token": "the-token" };
  for (const [name, { default: value = "" }] of Object.entries(action.inputs))
    facts[`inputs.${name}`] = inputs[name] ?? filled(value, facts);
  const ended: Ended = { code: 0, outputs: {}, log: "", summary: "", uploaded: [] };
  for (const step of action.runs.steps) {
    const always = step.if?.includes("always()") ?? false;
    if ((ended.code !== 0 && !always) || !holds(step.if, facts)) continue;
    if (step.uses) ended.uploaded.push(facts["steps.run.outputs.report"] ?? "");
    if (!step.run) continue;
    writeFileSync(file("output"), "");
    const env = {
      ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(GITHUB_|npm_)/.test(name))),
      GITHUB_ACTION_PATH: root,
      GITHUB_API_URL: hub.url,
      GITHUB_EVENT_PATH: file("event.json"),
      GITHUB_JOB: "test",
      GITHUB_OUTPUT: file("output"),
      GITHUB_REPOSITORY: "acme/shop",
      GITHUB_RUN_ID: "42",
      GITHUB_SERVER_URL: "https://github.example",
      GITHUB_STEP_SUMMARY: file("step-summary.md"),
      ...Object.fromEntries(Object.entries(step.env ?? {}).map(([name, text]) => [name, filled(text, facts)])),
    };
    const child = spawn("bash", ["-eo", "pipefail", "-c", step.run], { cwd: folder, env });
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (part) => (ended.log += part));
    const code = await new Promise<number>((done) => child.once("close", (it) => done(it ?? 1)));
    ended.code ||= code;
    for (const line of readFileSync(file("output"), "utf8").split("\n").filter(Boolean)) {
      const [name = "", ...value] = line.split("=");
      facts[`steps.${step.id}.outputs.${name}`] = value.join("=");
    }
  }
  for (const [name, { value }] of Object.entries(action.outputs)) ended.outputs[name] = filled(value, facts);
  if (existsSync(file("step-summary.md"))) ended.summary = readFileSync(file("step-summary.md"), "utf8");
  return ended;
}

/** Sends one event, without a distinct id if `lost`. */
const capture = (lost: boolean) =>
  `node -e 'fetch(process.env.POSTHOG_HOST + "/batch/", { method: "POST", body: JSON.stringify({
    api_key: process.env.POSTHOG_API_KEY, batch: [{ event: "signed_up"${lost ? "" : ', distinct_id: "u1"'} }] }) })'`;

describe("the action", () => {
  test("comments what is lost, and updates the comment once it is fixed", async () => {
    const failed = await run({ run: capture(true), "fail-on": "dropped" });
    expect(failed.code, failed.log).toBe(1);
    expect(failed.outputs).toEqual({ verdict: "failed", "exit-code": "1", report: join(folder, "phx-report") });
    expect(failed.uploaded).toEqual([join(folder, "phx-report")]);
    expect(failed.summary).toContain("signed&#95;up");
    expect(hub.comments).toHaveLength(1);
    expect(hub.comments[0]?.body).toMatch(
      /^<!-- phx-sim: test -->\n[\s\S]*missing&#95;distinct&#95;id[\s\S]*actions\/runs\/42/,
    );
    expect(hub.seen.at(-1)).toBe("POST /repos/acme/shop/issues/7/comments Bearer the-token");

    const fixed = await run({ run: capture(false), "fail-on": "dropped" });
    expect(fixed.code, fixed.log).toBe(0);
    expect(fixed.outputs.verdict).toBe("passed");
    expect(hub.comments).toHaveLength(1);
    expect(hub.comments[0]?.body).not.toContain("distinct&#95;id");
    expect(hub.seen.at(-1)).toBe("PATCH /repos/acme/shop/issues/comments/1 Bearer the-token");
  });

  test("does not comment on a run without findings, unless asked to", async () => {
    hub.comments = Array.from({ length: 100 }, (_, i) => ({ id: i + 1, body: "LGTM" }));
    expect((await run({ run: "true" })).code).toBe(0);
    expect(hub.comments).toHaveLength(100);
    expect((await run({ run: "true", comment: "always", artifact: "" })).uploaded).toEqual([]);
    expect(hub.comments).toHaveLength(101);
    expect((await run({ run: "true", comment: "always" })).code).toBe(0);
    expect(hub.comments).toHaveLength(101);
  });

  test("a push has no pull request; a fork's token may not comment", async () => {
    expect((await run({ run: "true", comment: "always" }, {})).code).toBe(0);
    expect(hub.seen).toEqual([]);
    hub.refusal = 403;
    const { code, log } = await run({ run: "true", comment: "always" });
    expect(code).toBe(0);
    expect(log).toMatch(/::warning title=phx-sim::.*pull-requests: write/);
  });

  test("the command's own exit code, quotes and all", async () => {
    const { code, outputs } = await run({
      run: `test "$(echo "it's" '"quoted"')" = "it's \\"quoted\\"" && exit 7`,
      comment: "never",
    });
    expect([code, outputs["exit-code"], outputs.verdict]).toEqual([7, "7", "failed"]);
    expect(hub.seen).toEqual([]);
  });

  test("a mistake in the options fails with phx-sim's message", async () => {
    const { code, log, uploaded } = await run({ run: "true", "fail-on": "droped" });
    expect(code).toBe(2);
    expect(log).toContain("droped");
    expect([uploaded, hub.seen]).toEqual([[], []]);
  });
});
