import { expect, test } from "vitest";
import { createProgress, sizeText } from "../../../src/kernel/command/progress.ts";

/** A screen that keeps what was written, and a clock that is set by hand. */
function watched(isTTY: boolean, env: Record<string, string> = {}) {
  const written: string[] = [];
  const clock = { now: 0 };
  const screen = { isTTY, write: (text: string) => written.push(text) };
  return { written, clock, progress: createProgress(screen, env, () => clock.now) };
}

test("a terminal sees the newest text, not more often than it can be read, and nothing in the end", () => {
  const { written, clock, progress } = watched(true);
  for (const at of [50, 100, 120, 199, 200]) {
    clock.now = at;
    progress.show(`at ${at}`);
  }
  progress.end();
  progress.end();
  expect(written).toEqual(["\r\u001b[2Kat 100", "\r\u001b[2Kat 200", "\r\u001b[2K"]);
});

test.each<[string, boolean, Record<string, string>]>([
  ["a pipe", false, {}],
  ["a dumb terminal", true, { TERM: "dumb" }],
  ["CI", true, { CI: "true" }],
])("%s sees nothing", (_, isTTY, env) => {
  const { written, clock, progress } = watched(isTTY, env);
  clock.now = 1000;
  progress.show("x");
  progress.end();
  expect(written).toEqual([]);
});

test.each([
  [0, "0 bytes"],
  [1, "1 byte"],
  [1023, "1023 bytes"],
  [1024, "1.0 kB"],
  [5 * 1024 ** 2, "5.0 MB"],
  [1.5 * 1024 ** 3, "1.5 GB"],
])("%d bytes are %s", (bytes, text) => {
  expect(sizeText(bytes)).toBe(text);
});
