import { EventEmitter } from "node:events";
import { describe, expect, test } from "vitest";
import { plain } from "../../../src/kernel/command/style.ts";
import { relaySignals } from "../../../src/tools/exec/child-process.ts";
import { junitOf } from "../../../src/tools/exec/report-files.ts";
import { summaryLines, summaryMarkdown } from "../../../src/tools/exec/summary-text.ts";
import { drop, tallyOf, verdict } from "../../testing/run-report/facts.ts";

test("the projects of alike mishaps are counted, and a few of them are named", () => {
  const traffic = tallyOf(
    ...[1, 2, 3, 4, 5, 6, 7, 1].map((n) => ({ dropped: [drop("a")], project: n, projectName: `test ${n}` })),
  );
  expect(summaryLines(verdict({ traffic }), plain)[1]).toBe(
    '  ✕ dropped "a" ×8 missing_distinct_id: it has none → send one\n' +
      '    in project 1 "test 1" ×2, project 2 "test 2", project 3 "test 3", project 4 "test 4", project 5 "test 5", and 2 more',
  );
});

test("a section of a further option is shown as it is", () => {
  const item = { code: "type_changed", what: "signup", sentence: "plan string → number", fix: "", count: 1 };
  const section = {
    ...{
      name: "baseline",
      title: "Analytics diff",
      failed: true,
      summary: "1 change",
      total: 1,
      left_out: 0,
      text: null,
    },
    items: [{ ...item, tests: { items: [], left_out: 0 } }],
  };
  const run = verdict({ sections: [section] });
  expect(run).toMatchObject({ exit_code: 1, failures: [{ code: "baseline", text: "1 change", count: 1 }] });
  expect(summaryLines(run, plain).slice(-2)).toEqual([
    "phx-sim: Analytics diff: 1 change",
    "  baseline signup type_changed: plan string → number",
  ]);
  expect(summaryMarkdown(run)).toContain("| baseline | signup | 1 |  | type&#95;changed | plan string → number |  |");
  expect(junitOf(run)).toContain('<testcase classname="phx-sim exec" name="rule baseline"><failure type="baseline"');
});

describe("captured text stays on its line", () => {
  const run = verdict({ traffic: tallyOf({ dropped: [drop("\u001b[31m<b>|a`*\n")] }) });

  test("on a terminal", () => {
    const [, line] = summaryLines(run, plain);
    expect(line).toBe('  ✕ dropped "\\x1b[31m<b>|a`*\\x0a" missing_distinct_id: it has none → send one');
  });

  test("in Markdown", () => {
    const line = summaryMarkdown(run)
      .split("\n")
      .find((it) => it.startsWith("| dropped"));
    expect(line).toBe(
      "| dropped | &#92;x1b&#91;31m&#60;b&#62;&#124;a&#96;&#42;&#92;x0a | 1 |  | missing&#95;distinct&#95;id | it has none | send one |",
    );
  });
});

describe("captured text mentions no users and no issues", () => {
  const event = "@octocat/team ask@x #12 a/b#3 GH-7 https://github.com/a/b/issues/1 # @";
  const tests = { items: [], left_out: 0 };
  const items = [{ code: "c", what: event, sentence: event, fix: event, count: 1, tests }];
  const section = { name: "s", title: event, summary: event, total: 1, left_out: 0, failed: false };

  test("in tables and paragraphs", () => {
    const run = verdict({
      traffic: tallyOf({ dropped: [drop(event)] }),
      sections: [{ ...section, text: null, items }],
    });
    const text = summaryMarkdown(run).replaceAll(/&#\d+;/g, (it) => String.fromCodePoint(Number(it.slice(2, -1))));
    expect(text).toContain("@\u200boctocat");
    expect(text).not.toMatch(/@\w|#\d|GH-\d|:\/\/github/);
  });

  test("in a block of code, which no text ends", () => {
    const block = ["a", "```", "@octocat", "`````"].join("\n");
    const lines = summaryMarkdown(verdict({ sections: [{ ...section, text: block, items: [] }] })).split("\n");
    const start = lines.indexOf("``````diff");
    expect(lines.slice(start, start + 6)).toEqual(["``````diff", "a", "```", "@octocat", "`````", "``````"]);
  });
});

describe("the verdict as JUnit XML", () => {
  const traffic = tallyOf(
    { projectName: "shop › buys", kept: ["bought"] },
    { project: 2, projectName: "shop › <loses>", dropped: [drop("bought")] },
  );

  test("a case for the command, each rule and each test", () => {
    const xml = junitOf(verdict({ traffic, failOn: ["dropped", "rejected"] }));
    expect(xml).toContain('<testsuites name="phx-sim exec" tests="5" failures="2" skipped="0" errors="0">');
    expect(xml).toContain('<testcase classname="phx-sim exec" name="command"/>');
    expect(xml).toContain('name="rule dropped"><failure type="dropped" message="1 event dropped">');
    expect(xml).toContain('<testcase classname="phx-sim exec" name="rule rejected"/>');
    expect(xml).toContain('<testcase classname="phx-sim exec" name="shop › buys"/>');
    expect(xml).toContain(
      'name="shop › &lt;loses&gt;"><failure type="dropped" message="1 event dropped">✕ dropped bought missing_distinct_id',
    );
  });

  test("mishaps that fail nothing are output", () => {
    const xml = junitOf(verdict({ traffic, command: { program: "npm", exit_code: 3 } }));
    expect(xml).toContain('name="command"><failure type="command_failed"');
    expect(xml).toContain('name="shop › &lt;loses&gt;"><system-out>✕ dropped bought');
  });
});

describe("which signals are passed on", () => {
  const rows: [onTerminal: boolean, sent: [NodeJS.Signals, at: number][], passed: string[]][] = [
    [false, [["SIGINT", 0]], ["SIGINT"]],
    [true, [["SIGINT", 0]], []],
    [true, [["SIGHUP", 0]], []],
    [true, [["SIGTERM", 0]], ["SIGTERM"]],
    [
      false,
      [
        ["SIGTERM", 0],
        ["SIGTERM", 500],
      ],
      ["SIGTERM"],
    ],
    [
      false,
      [
        ["SIGTERM", 0],
        ["SIGTERM", 1500],
      ],
      ["SIGTERM", "SIGTERM"],
    ],
    [
      false,
      [
        ["SIGINT", 0],
        ["SIGTERM", 10],
      ],
      ["SIGINT", "SIGTERM"],
    ],
  ];
  test.each(rows)("terminal %s, sent %j", (onTerminal, sent, passed) => {
    const source = new EventEmitter();
    let now = 0;
    const relay = relaySignals(source, onTerminal, () => now);
    const got: unknown[] = [];
    relay.passTo({ kill: (signal) => got.push(signal) > 0 });
    for (const [signal, at] of sent) {
      now = at;
      source.emit(signal);
    }
    expect(got).toEqual(passed);
    expect(relay.first).toBe(sent[0]?.[0]);
  });

  test("one that comes before the command is kept for the end", () => {
    const source = new EventEmitter();
    const relay = relaySignals(source, false);
    source.emit("SIGTERM");
    expect(relay.first).toBe("SIGTERM");
  });
});
