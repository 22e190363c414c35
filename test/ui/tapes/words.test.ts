import { describe, expect, test } from "vitest";
import { missText, modeNames, modeNow, modes, pathOf, timingText } from "../../../ui/views/tapes/modes.ts";
import { emptyLoad, emptyRecord, loadOrder, recordOrder } from "../../../ui/views/tapes/order.ts";

test.each([
  [null, "off", null, "emulate"],
  [null, "stopped", "record", "emulate"],
  [{ mode: "replay" }, "off", null, "replay"],
  [{ mode: "new" }, "stopped", "spy", "new"],
  [{ mode: "replay" }, "recording", "spy", "spy"],
  [null, "recording", null, "record"],
] as const)("tape %j, recording %s %s: %s", (tape, state, mode, expected) => {
  expect(modeNow(tape, { state, mode })).toBe(expected);
});

test.each(modeNames)("%s has a sentence and a command", (name) => {
  expect(modes[name].means).toMatch(/^[A-Z].*\.$/);
  expect(modes[name].command).toMatch(/^(phx-sim|startSim)\b/);
});

describe("words", () => {
  test.each([
    ["fail", "fail (599)"],
    ["toString", "toString"],
  ])("miss %s", (policy, text) => {
    expect(missText(policy)).toBe(text);
  });
  test.each([
    ["none", "immediately"],
    ["recorded", "as recorded"],
    ["scale:0.5", "0.5 times as recorded"],
    ["max:2000", "as recorded, at most 2000 ms"],
    ["odd", "odd"],
  ])("timing %s", (timing, text) => {
    expect(timingText(timing)).toBe(text);
  });
  test.each([
    ["https://us.i.posthog.com/flags/?v=2", "/flags/?v=2"],
    ["https://us.i.posthog.com", "/"],
    ["/e/", "/e/"],
    ["https://h/array/%7B%7Bsecret%3Aproject_key%231%7D%7D/config", "/array/{{secret:project_key#1}}/config"],
  ])("path of %s", (url, path) => {
    expect(pathOf(url)).toBe(path);
  });
});

test.each([
  [{}, { tape: "a", on_miss: "fail" }],
  [
    { onMiss: "upstream", timing: " max:10 " },
    { tape: "a", on_miss: "upstream", timing: "max:10" },
  ],
])("the order of a tape: %j", (over, body) => {
  expect(loadOrder({ ...emptyLoad, tape: " a ", ...over })).toEqual(body);
});

test.each([
  [{}, { upstream: "us", mode: "record", redact: "default" }],
  [{ allowWrites: true }, { upstream: "us", mode: "record", redact: "default" }],
  [
    { mode: "spy", allowWrites: true, tape: "t", include: "/a/**, /b", exclude: " " },
    { upstream: "us", mode: "spy", redact: "default", tape: "t", include: ["/a/**", "/b"], allow_writes: true },
  ],
] as const)("the order of a recording: %j", (over, body) => {
  expect(recordOrder({ ...emptyRecord, upstream: "us ", ...over })).toEqual(body);
});
