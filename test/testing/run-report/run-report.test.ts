import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { jsonSchemaOf } from "../../../src/kernel/http/row.ts";
import { RunVerdict } from "../../../src/testing/run-report/shapes.ts";
import type { CountedRequest } from "../../../src/testing/run-report/tally.ts";
import { drop, tallyOf, verdict } from "./facts.ts";

test("the published schema is that of the shape", () => {
  const file = join(import.meta.dirname, "../../../docs/reference/verdict.schema.json");
  const schema = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    ...jsonSchemaOf(RunVerdict, "output"),
    description: "The result of a run: phx-sim exec --json, and summary.json of its report",
  };
  const text = `${JSON.stringify(schema, null, 2)}\n`;
  if (process.env.UPDATE_DOCS) writeFileSync(file, text);
  expect(readFileSync(file, "utf8")).toBe(text);
});

describe("the tally", () => {
  const rejected = { reason: "invalid_api_key", detail: "bad key" };
  const rows: [string, Partial<CountedRequest>, object][] = [
    ["kept and dropped", { kept: ["a", "b"], dropped: [drop("a")] }, { kept: 2, dropped: 1, requests: 1 }],
    ["rejected", { rejected }, { rejected: 1, unmatched: 0 }],
    ["unmatched", { rejected, unmatched: true }, { rejected: 0, unmatched: 1 }],
    ["by a fault", { rejected, fault: "capture-503" }, { rejected: 0, requests: 1 }],
    ["by a script", { rejected, scripted: true }, { rejected: 0 }],
    ["drops of a fault", { dropped: [drop("a")], fault: "quota-exhausted" }, { kept: 0, dropped: 0 }],
    ["flags", { target: "/flags/?v=2" }, { flags: 1 }],
    ["decide", { target: "/decide?v=3" }, { flags: 1 }],
    ["local evaluation", { target: "/api/feature_flag/local_evaluation?token=x" }, { flags: 1 }],
    ["not flags", { target: "/flagship" }, { flags: 0 }],
  ];
  test.each(rows)("%s", (_, given, counts) => expect(tallyOf(given).counts).toMatchObject(counts));

  test("alike mishaps are one; names of properties are names like others", () => {
    const traffic = tallyOf(...["__proto__", "a", "a", "constructor"].map((event) => ({ dropped: [drop(event)] })));
    const { dropped, events } = verdict({ traffic });
    expect(dropped.items.map(({ what, count }) => [what, count])).toEqual([
      ["__proto__", 1],
      ["a", 2],
      ["constructor", 1],
    ]);
    expect(events.names.items.map(({ event }) => event)).toEqual(["a", "__proto__", "constructor"]);
  });

  test("no number of different mishaps or names fills the memory or the verdict", () => {
    const traffic = tallyOf(...Array.from({ length: 1500 }, (_, i) => ({ kept: [`k${i}`], dropped: [drop(`e${i}`)] })));
    const { dropped, events } = verdict({ traffic });
    expect(dropped).toMatchObject({ total: 1500, left_out: 900 });
    expect(dropped.items).toHaveLength(100);
    expect(events.names.items).toHaveLength(200);
    expect(events.names.left_out).toBe(2800);
  });
});

describe("the verdict", () => {
  const first = Date.UTC(2026, 0, 1, 12);
  const traffic = tallyOf(
    { at: first, projectName: "buys", kept: ["bought", "$pageview"] },
    { at: first + 1000, project: 2, projectName: "loses", dropped: [drop("bought")] },
    { at: first + 2000, project: 2, projectName: "loses", target: "/flags/?v=2" },
    {
      at: first + 3000,
      target: "/batch/?x=1",
      rejected: { reason: "invalid_api_key", detail: "no project has this key", hint: "use phc_x" },
    },
  );
  const flags = [
    { project: 1, key: "beta", served: 2, called: 1, differs: 0, values: [{ value: true, served: 2, called: 1 }] },
    { project: 2, key: "beta", served: 1, called: 0, differs: 0, values: [{ value: false, served: 1, called: 0 }] },
  ];

  test("is what its shape describes", () => {
    const blocked = [{ call: "POST https://us.i.posthog.com/batch/", count: 2 }];
    const run = verdict({ traffic, flags, blocked, failOn: ["dropped", "egress", "plan"] });
    expect(RunVerdict.parse(run)).toEqual(run);
    expect(run).toMatchObject({
      schema_version: 1,
      verdict: "failed",
      exit_code: 1,
      failures: [
        { code: "dropped", text: "1 event dropped", count: 1 },
        { code: "egress", text: "2 calls to the real service blocked", count: 2 },
      ],
      events: { kept: 2, dropped: 1 },
      requests: { total: 4, flags: 1, rejected: 1, unmatched: 0 },
    });
    expect(run.events.names.items[0]).toEqual({
      event: "bought",
      kept: 1,
      dropped: 1,
      first_at: "2026-01-01T12:00:00.000Z",
      last_at: "2026-01-01T12:00:01.000Z",
    });
    expect(run.tests.items.map(({ name, requests }) => [name, requests])).toEqual([
      ["loses", 2],
      ["buys", 1],
    ]);
    expect(run.dropped.items[0]?.tests).toEqual({ items: [{ project: 2, name: "loses", count: 1 }], left_out: 0 });
    expect(run.rejected.items[0]).toMatchObject({ what: "POST /batch/", code: "invalid_api_key", fix: "use phc_x" });
    expect(run.flags.items).toEqual([
      {
        ...{ key: "beta", served: 3, called: 1 },
        values: [
          { value: true, served: 2, called: 1 },
          { value: false, served: 1, called: 0 },
        ],
        tests: {
          items: [
            { project: 1, name: "buys", count: 2 },
            { project: 2, name: "loses", count: 1 },
          ],
          left_out: 0,
        },
      },
    ]);
  });

  test("the next steps name what to fix, then where to look", () => {
    const run = verdict({ traffic, failOn: ["dropped"], files: ["out/report.html"] });
    expect(run.next_steps.map(({ code, text }) => [code, text])).toEqual([
      ["missing_distinct_id", "fix dropped bought: send one"],
      ["invalid_api_key", "fix rejected POST /batch/: use phc_x"],
      ["report", "open out/report.html: each test with its events and requests"],
    ]);
    expect(verdict().next_steps.map(({ code }) => code)).toEqual(["nothing_arrived"]);
  });

  const codes: [string, Parameters<typeof verdict>[0], number, string[]][] = [
    ["a passed run", {}, 0, []],
    ["a failed command", { command: { program: "x", exit_code: 7 } }, 7, ["command_failed"]],
    [
      "a failed command and a rule",
      { command: { program: "x", exit_code: 7 }, traffic, failOn: ["dropped"] },
      7,
      ["command_failed", "dropped"],
    ],
    [
      "a command that does not exist",
      {
        command: { program: "x", exit_code: 127 },
        problems: [{ code: "command_not_run", text: "there is no such program", count: 1 }],
      },
      127,
      ["command_not_run"],
    ],
    ["an unwritten report", { problems: [{ code: "not_written", text: "disk full", count: 1 }] }, 1, ["not_written"]],
  ];
  test.each(codes)("%s", (_, given, exit, failures) => {
    const run = verdict(given);
    expect(run.exit_code).toBe(exit);
    expect(run.failures.map(({ code }) => code)).toEqual(failures);
    expect(run.verdict).toBe(failures.length === 0 ? "passed" : "failed");
  });
});
