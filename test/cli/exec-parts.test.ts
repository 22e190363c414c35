import { EventEmitter } from "node:events";
import { describe, expect, test } from "vitest";
import { relaySignals } from "../../src/cli/exec/child-process.ts";
import { createTally } from "../../src/cli/exec/run-findings.ts";
import { summaryLines, summaryMarkdown } from "../../src/cli/exec/run-report.ts";
import { plain } from "../../src/cli/style.ts";
import type { RequestSummary } from "../../src/index.ts";

const request = (given: Partial<RequestSummary>): RequestSummary => ({
  n: 1,
  method: "POST",
  target: "/capture/",
  status: 200,
  ms: 1,
  project: 1,
  events: 0,
  since: 0,
  names: [],
  dropped: [],
  warnings: [],
  ...given,
});

const drop = (event: string) => ({
  event,
  reason: "missing_distinct_id",
  sentence: "it has none",
  fix: "send one",
});

describe("the tally", () => {
  const rejected = { reason: "invalid_api_key", detail: "bad key" };
  const rows: [string, Partial<RequestSummary>, object][] = [
    ["kept and dropped", { events: 3, dropped: [drop("a")] }, { kept: 2, dropped: 1, requests: 1 }],
    ["rejected", { rejected }, { rejected: 1, unmatched: 0 }],
    ["unmatched", { rejected, unmatched: true }, { rejected: 0, unmatched: 1 }],
    ["by a fault", { rejected, fault: "capture-503" }, { rejected: 0, requests: 1 }],
    ["by a script", { rejected, scripted: true }, { rejected: 0 }],
    [
      "drops of a fault",
      { events: 1, dropped: [drop("a")], fault: "quota-exhausted" },
      { kept: 0, dropped: 0 },
    ],
    ["flags", { target: "/flags/?v=2" }, { flags: 1 }],
    ["decide", { target: "/decide?v=3" }, { flags: 1 }],
    ["local evaluation", { target: "/api/feature_flag/local_evaluation?token=x" }, { flags: 1 }],
    ["not flags", { target: "/flagship" }, { flags: 0 }],
  ];
  test.each(rows)("%s", (_, given, counts) => {
    const tally = createTally("phc_x");
    tally.add(request(given));
    expect(tally.counts).toMatchObject(counts);
  });

  test("alike mishaps are one; names of properties are names like others", () => {
    const tally = createTally("phc_x");
    for (const event of ["__proto__", "a", "a", "constructor"])
      tally.add(request({ events: 1, dropped: [drop(event)] }));
    expect(tally.mishaps().map(({ what, count }) => [what, count])).toEqual([
      ["__proto__", 1],
      ["a", 2],
      ["constructor", 1],
    ]);
  });

  test("the projects of alike mishaps are counted, and a few of them are named", () => {
    const tally = createTally("phc_x");
    for (const n of [1, 2, 3, 4, 5, 6, 7, 1])
      tally.add(request({ events: 1, dropped: [drop("a")], project: n, project_name: `test ${n}` }));
    const run = { tally, blocked: [], plan: null, lint: [], code: 0, failures: [] };
    expect(summaryLines(run, plain)[1]).toBe(
      '  ✕ dropped "a" ×8 missing_distinct_id: it has none → send one\n' +
        '    in project 1 "test 1" ×2, project 2 "test 2", project 3 "test 3", project 4 "test 4", project 5 "test 5", and 2 more',
    );
  });

  test("no number of different mishaps fills the memory", () => {
    const tally = createTally("phc_x");
    for (let i = 0; i < 1500; i++) tally.add(request({ events: 1, dropped: [drop(`e${i}`)] }));
    expect(tally.counts.dropped).toBe(1500);
    expect(tally.mishaps()).toHaveLength(1000);
  });
});

describe("captured text stays on its line", () => {
  const tally = createTally("phc_x");
  tally.add(request({ events: 1, dropped: [drop("\u001b[31m<b>|a`*\n")] }));
  const run = { tally, blocked: [], plan: null, lint: [], code: 0, failures: [] };

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
