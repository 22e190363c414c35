import { describe, expect, test } from "vitest";
import { FaultOrder } from "../../../src/lab/faults/shapes.ts";
import { readRequestFilter } from "../../../src/state/journal/filter/read.ts";
import {
  emptyForm,
  type FaultForm,
  type FaultKind,
  kinds,
  limitsOf,
  orderOf,
  touchedBy,
} from "../../../ui/views/faults/order.ts";
import { requestOf } from "../../state/journal/filter/subjects.ts";

test.each(["flags-down", 'say "no"', "a\\b", "slow*", "two words"])(
  "the link of the fault %j finds the requests that it touched, and no others",
  (fault) => {
    const reading = readRequestFilter(touchedBy(fault));
    const finds = (name: string) => "filter" in reading && reading.filter.test(requestOf({ fault: name }), 0);
    expect([fault, `late, ${fault}`, `${fault}, late`].map(finds)).toEqual([true, true, true]);
    expect(finds(`${fault}er`)).toBe(false);
  },
);

describe("the order that a form makes", () => {
  const rows: [what: string, form: Partial<FaultForm>, order: object][] = [
    ["as it is at first", {}, { effect: { status: 503 } }],
    ["another status", { value: "429" }, { effect: { status: 429 } }],
    ["late", { kind: "latency", value: " 800ms " }, { effect: { latency: "800ms" } }],
    ["some flags", { kind: "flags", value: "a, b,," }, { effect: { flags: ["a", "b"] } }],
    ["every second flag", { kind: "flags" }, { effect: { flags: "partial" } }],
    [
      "what is no number, as it was written",
      { value: "teapot", limits: { rate: "half", times: "two" } },
      { effect: { status: "teapot" }, rate: "half", times: "two" },
    ],
    ["an answer that is lost", { kind: "lost" }, { effect: { socket: "reset", after: true } }],
    [
      "where, how often, until when",
      {
        kind: "reset",
        match: { route: " /batch/ " },
        project: "3",
        limits: { rate: "25", times: "2", duration: "30s" },
      },
      { effect: { socket: "reset" }, match: { route: "/batch/", project: 3 }, rate: 0.25, times: 2, duration: "30s" },
    ],
  ];
  test.each(rows)("%s", (_what, form, order) => {
    expect(orderOf({ ...emptyForm, ...form })).toEqual(order);
  });

  test.each(Object.keys(kinds) as FaultKind[])("%s with nothing filled in is one that the sim takes", (kind) => {
    expect(FaultOrder.safeParse(orderOf({ ...emptyForm, kind })).error).toBeUndefined();
  });

  test("limits that are not given are left out", () => {
    expect(limitsOf(emptyForm.limits)).toEqual({});
  });
});
