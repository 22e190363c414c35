import { spawn, spawnSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { closing } from "../../src/feed/frames.ts";
import { type Sim, startSim } from "../../src/index.ts";
import { blocksOf, readme } from "../support/readme.ts";
import { inShell } from "./live/shell.ts";

type Program = readonly [program: string, args: readonly string[], options: { env: NodeJS.ProcessEnv }];

/** Starts a program that ends with the test, with all that it starts; returns what it has said so far. */
function started([program, args, options]: Program): () => string {
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

const [tail = "", curl = ""] = ["events tail --filter", "curl -N"].map((it) => blocksOf("sh", it)[0]);
const file = (path: string) => join(import.meta.dirname, path);
const env = (url: string) => ({ env: { ...process.env, PHX_SIM_URL: url } });

const programs: [name: string, program: (url: string) => Program, says: RegExp][] = [
  ["the command line", (url) => inShell(tail, url), /signed_up/],
  ["curl", (url) => inShell(curl, url), /^id: \d+\nevent: event\ndata: \{.*"distinct_id":"anna"/m],
  ["JavaScript", (url) => [process.execPath, [file("live/follow.js")], env(url)], /^anna$/m],
  ["Python", (url) => ["python3", [file("python/follow.py")], env(url)], /^anna$/m],
];

const isHere = (name: string): boolean =>
  name !== "Python" ||
  spawnSync("python3", ["-c", "import sys; sys.exit(sys.version_info < (3, 11))"]).status === 0;

describe("the README's examples follow events", () => {
  for (const [name, program, says] of programs)
    test.skipIf(!isHere(name))(`with ${name}`, async () => {
      await using sim = await startSim();
      // what answers is loaded when it is first asked for, and the command line does not wait long for it
      await fetch(`${sim.url}/__sim/info`);
      const said = started(program(sim.url));
      // an example begins with what comes after it has begun
      await vi.waitFor(
        async () => {
          await capture(sim);
          expect(said()).toMatch(says);
        },
        { timeout: 120_000, interval: 100 },
      );
      expect(said()).not.toMatch(/signed_out|bert/);
    });
});

test.each(Object.entries(closing))("the README tells when the feed says %s", (_, code) => {
  expect(/^\| `bye` .*$/m.exec(readme())?.[0]).toContain(` ${code} `);
});
