import { expect, test } from "vitest";
import type { Column, NameColumn } from "../../src/query/table.ts";
import { createJournal } from "./journal.ts";

/** The values of a column by row. */
const rows = (column: Column | NameColumn, length: number) =>
  Array.from({ length }, (_, row) => column.values[column.codes[row] ?? 0]);

test("columns grow with the journal", async () => {
  const { tables, capture } = createJournal();
  const needs = { properties: ["plan"] };
  await capture([
    { event: "a", id: "u1", properties: { plan: "x" } },
    { event: "b", id: "u2" },
  ]);
  const first = await tables.tableFor(1, needs);
  expect(first.length).toBe(2);
  expect(rows(first.names, 2)).toEqual(["a", "b"]);
  expect(rows(first.distinctIds, 2)).toEqual(["u1", "u2"]);
  expect(rows(first.property("plan"), 2)).toEqual(["x", undefined]);
  await capture([{ event: "a", id: "u1", properties: { plan: { x: 1 } } }]);
  const second = await tables.tableFor(1, needs);
  expect(rows(second.property("plan"), 3)).toEqual(["x", undefined, { x: 1 }]);
  expect(first.length).toBe(2);
  expect(second.event(2)?.properties.plan).toEqual({ x: 1 });
});
