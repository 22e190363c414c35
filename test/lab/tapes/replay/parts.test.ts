import { describe, expect, test } from "vitest";
import { rulesOf } from "../../../../src/lab/tapes/replay/load-replay.ts";
import { delayOf, headersToSend, missLines, readTiming } from "../../../../src/lab/tapes/replay/replay.ts";

describe("timing", () => {
  test.each<[string, number, number]>([
    ["none", 500, 0],
    ["recorded", 500, 500],
    ["recorded", 500_000, 60_000],
    ["recorded", -3, 0],
    ["scale:0.5", 500, 250],
    ["scale:2", 500, 1000],
    ["scale:0", 500, 0],
    ["scale:9999999", 500, 60_000],
    ["max:2000", 500, 500],
    ["max:200", 500, 200],
    ["max:0", 500, 0],
    ["max:9999999", 500_000, 60_000],
  ])("%s of %i ms is %i ms", (text, ttfb, expected) => {
    const timing = readTiming(text);
    expect(timing && delayOf(timing, ttfb)).toBe(expected);
  });

  test.each(["", "fast", "scale", "scale:", "scale:-1", "scale:x", "max:1e3", "max:1:2", "constructor", "__proto__:1"])(
    "%j is none",
    (text) => {
      expect(readTiming(text)).toBeUndefined();
    },
  );
});

describe("rules", () => {
  test.each([
    [{}, false, { mode: "replay", onMiss: "fail", timingText: "none" }],
    [{ isNew: true }, true, { mode: "new", onMiss: "upstream" }],
    [{ isNew: true }, false, { key: "upstream", message: "the mode new needs an upstream" }],
    [{ isNew: true, onMiss: "fail" }, true, { key: "onMiss", message: expect.stringContaining("with the mode new") }],
    [{ onMiss: "emulate" }, false, { mode: "replay", onMiss: "emulate" }],
    [{ onMiss: "upstream" }, true, { onMiss: "upstream" }],
    [{ onMiss: "upstream" }, false, { key: "onMiss", message: 'onMiss must be fail or emulate, not "upstream"' }],
    [{ onMiss: "emulat" }, false, { key: "onMiss", message: expect.stringContaining("did you mean") }],
    [{ onMiss: "constructor" }, false, { key: "onMiss" }],
    [{ timing: "slow" }, false, { key: "timing", message: expect.stringContaining("max:N (ms)") }],
  ])("%j", (request, hasUpstream, expected) => {
    const rules = () => rulesOf(request, hasUpstream);
    if (!("key" in expected)) expect(rules()).toMatchObject(expected);
    else expect(rules).toThrow(expect.objectContaining(expected));
  });
});

describe("headers of a tape that anyone may have written", () => {
  test.each<[string, string]>([
    ["X-A", "a\r\nSet-Cookie: evil=1"],
    ["X A", "1"],
    ["", "1"],
    ["X-\u0000", "1"],
    ["X-A", "snow ☃"],
    [":status", "200"],
    ["CONTENT-LENGTH", "5"],
    ["Access-Control-Anything", "*"],
  ])("%j: %j is not sent", (name, value) => {
    expect(
      headersToSend([
        ["X-Kept", "1"],
        [name, value],
      ]),
    ).toEqual(["X-Kept", "1"]);
  });
});

describe("what is said of a miss", () => {
  const differing = (n: number) =>
    Array.from({ length: n }, (_, i) => ({ path: `req.body.k${i}`, recorded: "1", asked: "2" }));
  const url = "https://eu.posthog.com/api/a/";

  test.each([
    [[], ["the tape t has no response for GET /x (route GET /x); nothing on it is like it"]],
    [
      [{ i: 3, method: "GET", url, differing: [] }],
      ["the tape t has no response for GET /x (route GET /x); nearest:", "  #3 GET /api/a/"],
    ],
    [
      [{ i: 3, method: "GET", url, differing: differing(7) }],
      [
        "the tape t has no response for GET /x (route GET /x); nearest:",
        `  #3 GET /api/a/: ${differing(5)
          .map(({ path }) => `${path} is 1 on the tape, 2 here`)
          .join("; ")}; … and 2 more`,
      ],
    ],
  ])("%#", (nearest, expected) => {
    expect(missLines("t", { method: "GET", target: "/x" }, { route: "GET /x", nearest })).toEqual(expected);
  });

  test("is short, whatever was sent", () => {
    const long = "x".repeat(100_000);
    const nearest = [
      { i: 1, method: "GET", url: `${url}${long}`, differing: [{ path: "p", recorded: long, asked: long }] },
    ];
    const lines = missLines("t", { method: "GET", target: `/${long}` }, { route: `GET /${long}`, nearest });
    expect(lines.join("").length).toBeLessThan(1_000);
  });
});
