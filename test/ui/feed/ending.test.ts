import { describe, expect, test } from "vitest";
import { closing } from "../../../src/state/journal/feed/frames.ts";
import { delayBefore, endingOf } from "../../../ui/feed/reconnect.ts";

describe("the end of a connection", () => {
  test.each([
    ["a token", closing.token_required, "never", false],
    ["stalled", closing.stalled, "immediately", false],
    ["too many pages", closing.too_many_pages, "late", true],
    ["too many messages", closing.too_many_messages, "late", true],
    ["not understood", closing.bad_frame, "late", true],
    ["going away", 1001, "soon", true],
    ["lost", 1006, "soon", false],
    ["unknown", 4999, "soon", false],
  ] as const)("%s", (_, code, again, isTold) => {
    expect(endingOf(code).again).toBe(again);
    expect(endingOf(code).why !== null).toBe(isTold);
  });

  test.each([
    ["immediately", 0, 0, 0],
    ["immediately", 1, 0.5, 500],
    ["soon", 0, 0.5, 250],
    ["soon", 0, 0, 188],
    ["soon", 0, 1, 313],
    ["soon", 3, 0.5, 2_000],
    ["soon", 99, 0.5, 5_000],
    ["late", 0, 0.5, 5_000],
  ] as const)("%s, tried %i times: chance %f waits %i ms", (again, tried, chance, ms) => {
    expect(delayBefore(again, tried, chance)).toBe(ms);
  });
});
