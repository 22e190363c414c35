import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect } from "vitest";
import { createLintWatch } from "../../../src/cli/lint-watch.ts";
import type { LintFinding, LintPage } from "../../../src/index.ts";
import { plain } from "../../../src/kernel/command/style.ts";
import { lintLine } from "../../../src/lab/lint/lint-line.ts";
import { endAll, phxSim, post, runHere, startReady } from "../../support/phx-sim.ts";
import { test } from "../../support/sim.ts";
import { verdict } from "../../testing/run-report/facts.ts";

const finding = (over: Partial<LintFinding> = {}): LintFinding => ({
  code: "property_type_flip",
  severity: "warning",
  sentence: "it flips",
  fix: "send one type",
  project: 1,
  event: "a",
  detail: "properties.x",
  first_seq: 5,
  last_seq: 5,
  count: 1,
  n: 2,
  ...over,
});

const page = (findings: LintFinding[], behind = 0): LintPage => ({
  findings,
  looked: 5,
  skipped: 0,
  behind,
  cursor: 5,
});

describe("a line", () => {
  test.each<[Partial<LintFinding>, string]>([
    [{}, 'lint "a" property_type_flip: it flips (properties.x) → send one type'],
    [{ count: 3 }, 'lint "a" ×3 property_type_flip: it flips (properties.x) → send one type'],
    [
      { severity: "hint", event: null, code: "large_body" },
      "hint request 2 large_body: it flips (properties.x) → send one type",
    ],
    [
      { event: "\u001b[31m\n", detail: "\u202e" },
      'lint "\\x1b[31m\\x0a" property_type_flip: it flips (\\u202e) → send one type',
    ],
  ])("%j", (over, line) => expect(lintLine(finding(over), plain)).toBe(line));
});

describe("--fail-on lint", () => {
  test.each([
    ["warnings", [finding(), finding({ severity: "hint" })], ["1 warning of the linter"]],
    ["hints", [finding({ severity: "hint" })], []],
    ["nothing", [], []],
  ])("%s", (_, lint, failures) =>
    expect(verdict({ lint, failOn: ["lint"] }).failures.map(({ text }) => text)).toEqual(failures),
  );
});

describe("the watch", () => {
  /** A watch whose timers are rung by hand. */
  function watching(pages: (LintPage | Error)[], since = 0) {
    const lines: string[] = [];
    const timers: { ms: number; act: () => void; isEnded: boolean }[] = [];
    let asked = 0;
    const watch = createLintWatch(
      {
        lint: async () => {
          const next = pages[asked++] ?? page([]);
          if (next instanceof Error) throw next;
          return next;
        },
      },
      {
        say: (...more) => lines.push(...more),
        style: plain,
        since,
        later(ms, act) {
          const timer = { ms, act, isEnded: false };
          timers.push(timer);
          return () => {
            timer.isEnded = true;
          };
        },
      },
    );
    /** Rings the last timer, and waits for what it does. */
    const ring = async (meanwhile = () => {}) => {
      const timer = timers.at(-1);
      if (timer && !timer.isEnded) timer.act();
      meanwhile();
      await new Promise(setImmediate);
    };
    return { watch, lines, timers, ring, asked: () => asked };
  }

  test("asks once, a second after the traffic, however much there was", async () => {
    const { watch, timers, ring, asked, lines } = watching([page([finding()])]);
    for (let i = 0; i < 100; i++) watch.note();
    expect(timers.map(({ ms }) => ms)).toEqual([1000]);
    expect(asked()).toBe(0);
    await ring();
    expect(asked()).toBe(1);
    expect(lines).toEqual(['  lint "a" property_type_flip: it flips (properties.x) → send one type']);
    expect(timers).toHaveLength(1);
  });

  test("reports each finding once", async () => {
    const again = finding({ count: 9, last_seq: 9 });
    const other = finding({ event: "b" });
    const { watch, ring, lines } = watching([page([finding()]), page([again]), page([again, other])]);
    for (let i = 0; i < 3; i++) {
      watch.note();
      await ring();
    }
    expect(lines).toHaveLength(2);
  });

  test("does not tell what was there before it started", async () => {
    const { watch, ring, lines } = watching([page([finding(), finding({ event: "b", last_seq: 8 })])], 5);
    watch.note();
    await ring();
    expect(lines.map((it) => it.slice(0, 10))).toEqual(['  lint "b"']);
  });

  test("reports a few, and how many more there are", async () => {
    const many = Array.from({ length: 14 }, (_, i) => finding({ event: `e${i}` }));
    const { watch, ring, lines } = watching([page(many)]);
    watch.note();
    await ring();
    expect(lines).toHaveLength(11);
    expect(lines.at(-1)).toBe("  … and 4 more: phx-sim lint");
  });

  test("makes up what is behind while it is quiet, and leaves the traffic alone otherwise", async () => {
    const { watch, ring, timers } = watching([page([], 900), page([], 500), page([])]);
    watch.note();
    await ring();
    expect(timers.map(({ ms }) => ms)).toEqual([1000, 50]);
    await ring(watch.note);
    expect(timers.map(({ ms }) => ms)).toEqual([1000, 50, 1000]);
    await ring();
    expect(timers).toHaveLength(3);
  });

  test("says nothing when the sim does not answer, and goes on", async () => {
    const { watch, ring, lines } = watching([new Error("closing"), page([finding()])]);
    watch.note();
    await ring();
    expect(lines).toEqual([]);
    watch.note();
    await ring();
    expect(lines).toHaveLength(1);
  });

  test("prints nothing after it was closed", async () => {
    const { watch, ring, lines, timers } = watching([page([finding()])]);
    watch.note();
    watch.close();
    watch.note();
    await ring();
    expect([timers.map(({ isEnded }) => isEnded), lines]).toEqual([[true], []]);
  });
});

describe("the commands", () => {
  afterEach(endAll);

  const flip = [1, "1"].map((x) => ({ event: "a", distinct_id: "u", properties: { x } }));
  const grouped = [{ event: "g", distinct_id: "u", properties: { $groups: { company: "acme" } } }];

  test("start reports what is odd; lint lists it and fails", async ({ folder: cwd }) => {
    const { sim, ready } = await startReady(["--memory"], { cwd });
    const { url, project_api_key: api_key } = ready;
    const send = (batch: object[]) => post(`${url}/batch/`, { api_key, batch });
    const lint = (...args: string[]) => runHere(["lint", "--url", url, ...args], { cwd });

    await send(grouped);
    // The first answer loads the control API; a command waits five seconds for one.
    expect((await fetch(`${url}/__sim/info`)).status).toBe(200);
    expect(await lint()).toMatchObject({ code: 0, stderr: "phx-sim: 0 warnings, 1 hint in 1 event\n" });
    expect((await lint("--strict")).code).toBe(1);

    await send(flip);
    const listed = await lint();
    expect(listed.code).toBe(1);
    expect(listed.stdout).toMatch(/^hint "g" group_without_identify: .*\nlint "a" property_type_flip: .*\n$/);
    const json = (await lint("--json")).stdout.trim().split("\n");
    expect(json.map((it) => JSON.parse(it).code)).toEqual(["group_without_identify", "property_type_flip"]);
    expect(await lint("--project", "99999")).toMatchObject({ code: 0, stdout: "" });
    await sim.says("stderr", /^ {2}lint "a" property_type_flip: .*\n/m);
    const { stderr } = await sim.signal("SIGINT");
    expect(stderr.match(/^ {2}(lint|hint) /gm)).toHaveLength(2);
  });

  test("exec reports, and fails with the option", async ({ folder: cwd }) => {
    const code = `const { POSTHOG_HOST: host, POSTHOG_API_KEY: api_key } = process.env;
      await fetch(host + "/batch/", { method: "POST", body: JSON.stringify({ api_key, batch: ${JSON.stringify(flip)} }) });`;
    const command = ["--", process.execPath, "--input-type=module", "-e", code];
    const reported = await phxSim(["exec", ...command], { cwd }).ended;
    expect(reported.code).toBe(0);
    expect(reported.stderr).toContain('  lint "a" property_type_flip: ');
    const failed = await phxSim(["exec", "--fail-on", "lint", "--report", "out", ...command], { cwd }).ended;
    expect(failed.code).toBe(1);
    expect(failed.stderr).toContain("phx-sim: --fail-on: 1 warning of the linter\n");
    const summary = readFileSync(join(cwd, "out", "summary.md"), "utf8");
    expect(summary).toMatch(/^\| warning \| a \| 1 \| property&#95;type&#95;flip \| /m);
  });
});
