import { describe, expect, test } from "vitest";
import { runStatuses } from "../../../src/state/documents/run-statuses.ts";
import { dueText, ends, happenedText, statusRow } from "../../../ui/views/exports/run-texts.ts";

describe("statuses", () => {
  test.each(runStatuses)("%s has a tone and a mark of its own", (status) => {
    const others = runStatuses.filter((it) => it !== status).map((it) => statusRow(it).mark);
    expect(others).not.toContain(statusRow(status).mark);
    expect(statusRow(status).mark).not.toBe("alert");
  });

  test.each(["", "Odd", "__proto__", "constructor"])("%j is not known", (status) => {
    expect(statusRow(status)).toEqual({ tone: "plain", mark: "alert" });
  });

  test("a run ends in all but two of them", () => {
    expect([...ends].sort()).toEqual(runStatuses.filter((it) => it !== "Starting" && it !== "Running").sort());
  });
});

const at = "2026-03-01T11:00:00Z";
const due = (...names: string[]) => names.map((name) => ({ name, next_run: at }));

test.each([
  [[], ""],
  [
    [
      { name: "Later", next_run: "2026-03-01T12:00:00Z" },
      { name: "Paused", next_run: null },
    ],
    "",
  ],
  [due("A", ""), "A, (no name)"],
  [[...due("A", "B\u202e", "C", "D", "E"), { name: "Paused", next_run: null }], "A, B\\u202e, C and 2 more"],
])("what is due of %j: %s", (exports, text) => {
  expect(dueText(exports, "2026-03-01T11:00:00.000Z")).toBe(text);
});

test.each([
  ["run_completed", "a run completed"],
  ["batch_export_paused", "an export was paused"],
  ["something_new", "something new"],
  ["constructor", "constructor"],
])("%s: %s", (kind, text) => {
  expect(happenedText(kind)).toBe(text);
});
