import { describe, expect, expectTypeOf, test } from "vitest";
import type * as told from "../../../src/control/exports/answers.ts";
import { runStatuses } from "../../../src/model/run-statuses.ts";
import type { Run, RunWithLogs, ShownExport } from "../../../ui/views/exports/answers.ts";
import { ends, statusRow } from "../../../ui/views/exports/statuses.ts";
import { happenedText } from "../../../ui/views/exports/words.ts";

test("the page knows what the control API says", () => {
  expectTypeOf<told.ShownExportRun>().toExtend<Run>();
  expectTypeOf<told.ShownExportRunWithLogs>().toExtend<RunWithLogs>();
  expectTypeOf<told.ShownExport>().toExtend<ShownExport>();
});

describe("statuses", () => {
  test.each(runStatuses)("%s has a tone and a mark of its own", (status) => {
    const others = runStatuses.filter((it) => it !== status).map((it) => statusRow(it).mark);
    expect(others).not.toContain(statusRow(status).mark);
    expect(statusRow(status).mark).not.toBe("?");
  });

  test.each(["", "Odd", "__proto__", "constructor"])("%j is not known", (status) => {
    expect(statusRow(status)).toEqual({ tone: "plain", mark: "?" });
  });

  test("a run ends in all but two of them", () => {
    expect([...ends].sort()).toEqual(
      runStatuses.filter((it) => it !== "Starting" && it !== "Running").sort(),
    );
  });
});

test.each([
  ["run_completed", "a run completed"],
  ["batch_export_paused", "an export was paused"],
  ["something_new", "something new"],
  ["constructor", "constructor"],
])("%s: %s", (kind, text) => {
  expect(happenedText(kind)).toBe(text);
});
