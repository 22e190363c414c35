import { spawn } from "node:child_process";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { type Sim, startSim } from "../../src/index.ts";
import { closing } from "../../src/state/journal/feed/frames.ts";
import { blocksOf, readDoc } from "../support/docs.ts";
import { type Program, programs, testWith } from "../support/programs.ts";
import { inShell } from "./live/shell.ts";

type Started = readonly [program: string, args: readonly string[], options: { env: NodeJS.ProcessEnv }];

/** Starts a program that ends with the test, with all that it starts; returns what it has said so far. */
function started([program, args, options]: Started): () => string {
  const child = spawn(program, args, { ...options, detached: true, stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      said += text;
    });
  const ended = new Promise((resolve) => child.once("close", resolve));
  onTestFinished(async () => {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, "SIGKILL");
    await ended;
  });
  return () => said;
}

const capture = (sim: Sim) => {
  const batch = [
    { event: "signed_up", distinct_id: "anna", properties: { amount: 49 } },
    { event: "signed_out", distinct_id: "bert", properties: { amount: 49 } },
  ];
  return fetch(`${sim.url}/batch/`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ api_key: sim.apiKey, batch }),
  });
};

const [tail = "", curl = ""] = ["events tail --filter", "curl -N"].map(
  (it) => blocksOf("docs/events.md", "sh", it)[0],
);
const file = (path: string) => join(import.meta.dirname, path);
const env = (url: string) => ({ env: { ...process.env, PHX_SIM_URL: url } });

const node: Program = { needs: "Node", commands: [process.execPath], check: ["--version"] };

const followers: [
  name: string,
  program: Program,
  start: (url: string, command: string) => Started,
  says: RegExp,
][] = [
  ["the command line", node, (url) => inShell(tail, url), /signed_up/],
  [
    "curl",
    programs.curl,
    (url) => inShell(curl, url),
    /^id: \d+\nevent: event\ndata: \{.*"distinct_id":"anna"/m,
  ],
  ["JavaScript", node, (url, command) => [command, [file("live/follow.js")], env(url)], /^anna$/m],
  ["Python", programs.python, (url, command) => [command, [file("python/follow.py")], env(url)], /^anna$/m],
];

describe("the examples follow events", () => {
  for (const [name, program, start, says] of followers) {
    const follow = async (command: string): Promise<void> => {
      await using sim = await startSim();
      // what answers is loaded when it is first asked for, and the command line does not wait long for it
      await fetch(`${sim.url}/__sim/info`);
      const said = started(start(sim.url, command));
      // an example begins with what comes after it has begun
      await vi.waitFor(
        async () => {
          await capture(sim);
          expect(said()).toMatch(says);
        },
        { timeout: 120_000, interval: 100 },
      );
      expect(said()).not.toMatch(/signed_out|bert/);
    };
    testWith(program, `with ${name}`, follow);
  }
});

test.each(Object.entries(closing))("the documentation has the feed's code for %s", (_, code) => {
  expect(/^\| `bye` .*$/m.exec(readDoc("docs/events.md"))?.[0]).toContain(` ${code} `);
});
