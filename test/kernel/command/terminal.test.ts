import { describe, expect, test } from "vitest";
import { nearest } from "../../../src/kernel/base/nearest.ts";
import { clean, cleanLines } from "../../../src/kernel/command/clean-text.ts";
import { createLines } from "../../../src/kernel/command/output.ts";
import { type Signal, untilSignal } from "../../../src/kernel/command/signals.ts";
import { wantsStyle } from "../../../src/kernel/command/style.ts";

describe("emphasis", () => {
  test.each([
    [{}, true, true],
    [{}, false, false],
    [{ NO_COLOR: "1" }, true, false],
    [{ NO_COLOR: "" }, true, true],
    [{ TERM: "dumb" }, true, false],
    [{ CI: "true" }, true, false],
    [{ CI: "false" }, true, true],
    [{ FORCE_COLOR: "1" }, false, true],
    [{ FORCE_COLOR: "" }, false, true],
    [{ FORCE_COLOR: "0" }, true, false],
    [{ FORCE_COLOR: "1", NO_COLOR: "1", CI: "1" }, false, true],
  ])("%j, terminal %j: %j", (env, isTerminal, wanted) => {
    expect(wantsStyle(env, isTerminal)).toBe(wanted);
  });
});

describe("hostile text", () => {
  test.each([
    ["plain ünïcode ✓ 日本", "plain ünïcode ✓ 日本"],
    ["a\nb\r\tc", "a\\x0ab\\x0d\\x09c"],
    ["\u001b[2J\u001b]0;x\u0007", "\\x1b[2J\\x1b]0;x\\x07"],
    ["\u009b31m\u007f\0", "\\x9b31m\\x7f\\x00"],
    ["\u202egnp.exe", "\\u202egnp.exe"],
    ["a\u2028b\u200b", "a\\u2028b\\u200b"],
    ["\ud800", "\\ud800"],
    ["\u{e0041}", "\\u{e0041}"],
  ])("%j is shown as %j", (text, shown) => {
    expect(clean(text)).toBe(shown);
  });

  test("what stands on lines stays on lines", () => {
    expect(cleanLines("is not valid:\n  world.yaml:1:2: \u001b[2J")).toEqual([
      "is not valid:",
      "  world.yaml:1:2: \\x1b[2J",
    ]);
  });

  test("long text is cut", () => {
    expect(clean("x".repeat(50), 10)).toBe(`${"x".repeat(10)}…`);
  });
});

describe("the nearest known word", () => {
  const known = ["port", "host", "memory", "adopt-tokens"];
  test.each([
    ["prot", "port"],
    ["PORT", "port"],
    ["memroy", "memory"],
    ["adopt-token", "adopt-tokens"],
    ["xyz", undefined],
    ["", undefined],
    ["p".repeat(10_000), undefined],
  ])("%.20j: %j", (word, found) => {
    expect(nearest(word, known)).toBe(found);
  });
});

function sink(writableLength = 0) {
  const written: string[] = [];
  return { written, writableLength, write: (text: string) => written.push(text) > 0, on: () => {} };
}

describe("lines", () => {
  test("said in one turn are one write", async () => {
    const stream = sink();
    const lines = createLines(stream);
    lines.say("a", "b");
    lines.say("c");
    expect(stream.written).toEqual([]);
    await new Promise(setImmediate);
    expect(stream.written).toEqual(["a\nb\nc\n"]);
  });

  test("flush writes at once, and nothing twice", async () => {
    const stream = sink();
    const lines = createLines(stream);
    lines.say("a");
    lines.flush();
    await new Promise(setImmediate);
    expect(stream.written).toEqual(["a\n"]);
  });

  test("are counted, not kept, while the reader does not read", () => {
    const stream = sink(2 * 1024 * 1024);
    const lines = createLines(stream);
    lines.say("a", "b");
    lines.flush();
    expect(stream.written).toEqual([]);
    stream.writableLength = 0;
    lines.say("c");
    lines.flush();
    expect(stream.written).toEqual(["… 2 lines left out: they were not read in time\nc\n"]);
  });
});

describe("signals", () => {
  test("the first one ends, repeats within a second are ignored, a later one forces", async () => {
    const listeners = new Map<Signal, () => void>();
    const forced: Signal[] = [];
    let now = 5000;
    const first = untilSignal(
      { on: (signal, listener) => listeners.set(signal, listener) },
      (signal) => forced.push(signal),
      () => now,
    );
    listeners.get("SIGINT")?.();
    expect(await first).toBe("SIGINT");
    now += 999;
    listeners.get("SIGTERM")?.();
    expect(forced).toEqual([]);
    now += 1;
    listeners.get("SIGTERM")?.();
    expect(forced).toEqual(["SIGTERM"]);
  });
});
