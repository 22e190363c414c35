import { describe, expect, test } from "vitest";
import type { RequestSummary } from "../../../src/index.ts";
import { errorCodes } from "../../../src/kernel/base/errors.ts";
import type { Lines } from "../../../src/kernel/command/output.ts";
import { plain } from "../../../src/kernel/command/style.ts";
import { fixFor } from "../../../src/kernel/http/rejection-fixes.ts";
import { createRequestLog } from "../../../src/sim/command/request-log.ts";
import { requestLines, type Verbosity } from "../../../src/state/journal/commands/request-lines.ts";

const request = (over: Partial<RequestSummary> = {}): RequestSummary => ({
  n: 1,
  at: 0,
  method: "POST",
  target: "/capture/",
  status: 200,
  ms: 1.234,
  project: 1,
  events: 1,
  since: 0,
  names: ["signed_up"],
  warned: 0,
  dropped: [],
  warnings: [],
  ...over,
});

const drop = (event = "bought") => ({
  event,
  reason: "missing_distinct_id",
  sentence: "the event has no distinct_id",
  fix: "send one",
});

const lines = (requests: RequestSummary[], verbosity: Verbosity = "normal") =>
  requestLines(requests, { verbosity, style: plain, projectKey: "phc_known" });

const asset = request({ method: "GET", target: "/static/array.js", events: 0, names: [] });
const rejected = request({
  status: 401,
  events: 0,
  names: [],
  rejected: { reason: "invalid_api_key", detail: "Project API key invalid." },
});

describe("a request", () => {
  test.each<[string, RequestSummary, string[]]>([
    ["kept", request(), ["POST /capture/ 200  1 event kept: signed_up  1.2 ms"]],
    [
      "answered by a script",
      request({
        status: 503,
        events: 0,
        scripted: true,
        rejected: { reason: "script", detail: "a scripted answer was given" },
      }),
      ["POST /capture/ 503  scripted  1.2 ms"],
    ],
    [
      "kept, but answered by a script",
      request({ status: 502, scripted: true }),
      ["POST /capture/ 502  scripted  1 event kept: signed_up  1.2 ms"],
    ],
    [
      "many kept",
      request({ target: "/batch/?compression=gzip-js", events: 7, names: ["a", "b", "c", "d", "e"] }),
      ["POST /batch/?compression=gzip-js 200  7 events kept: a, b, c, d, e, …  1.2 ms"],
    ],
    [
      "partly dropped",
      request({ events: 3, names: ["signed_up"], dropped: [drop(), drop("")] }),
      [
        "POST /capture/ 200  1 of 3 events kept: signed_up  1.2 ms",
        '  ✕ dropped "bought" missing_distinct_id: the event has no distinct_id → send one',
        "  ✕ dropped (no name) missing_distinct_id: the event has no distinct_id → send one",
      ],
    ],
    [
      "drops of one sort",
      request({ events: 3, names: [], dropped: [drop(), drop(), drop()] }),
      [
        "POST /capture/ 200  0 of 3 events kept  1.2 ms",
        '  ✕ dropped "bought" ×3 missing_distinct_id: the event has no distinct_id → send one',
      ],
    ],
    [
      "kept with a warning",
      request({ warnings: [{ ...drop("$identify"), reason: "cannot_merge_already_identified" }] }),
      [
        "POST /capture/ 200  1 event kept: signed_up  1.2 ms",
        '  △ warned "$identify" cannot_merge_already_identified: the event has no distinct_id → send one',
      ],
    ],
    [
      "rejected",
      rejected,
      [
        "POST /capture/ 401  1.2 ms",
        "  ⊖ rejected invalid_api_key: Project API key invalid. → use the project key phc_known (phx-sim env prints it), or start with --adopt-tokens",
      ],
    ],
    [
      "behind a prefix",
      request({
        target: "/ingest/e/",
        status: 404,
        events: 0,
        names: [],
        rejected: { reason: "not_found", detail: "Endpoint not found.", hint: "set the host" },
        unmatched: true,
      }),
      ["POST /ingest/e/ 404  1.2 ms", "  ⊖ rejected not_found: Endpoint not found. → set the host"],
    ],
    ["an asset", asset, []],
    ["not found", request({ ...asset, status: 404 }), ["GET /static/array.js 404  1.2 ms"]],
  ])("%s", (_, summary, reported) => {
    expect(lines([summary])).toEqual(reported);
  });

  test("drops of many sorts are reported in short", () => {
    const dropped = Array.from({ length: 20 }, (_, i) => drop(`event ${i}`));
    const reported = lines([request({ events: 20, names: [], dropped })]);
    expect(reported).toHaveLength(7);
    expect(reported.at(-1)).toBe("  … and 15 other kinds of dropped events (see the inspector)");
  });

  test("verbose reports assets, quiet reports nothing", () => {
    expect(lines([asset], "verbose")).toEqual(["GET /static/array.js 200  1.2 ms"]);
    expect(lines([request(), rejected], "quiet")).toEqual([]);
  });

  test("hostile text is spelled out, on one line", () => {
    const bad = "\u001b[2J\nx\u202e";
    const reported = lines([
      request({ target: `/${bad}`, events: 2, names: [bad], dropped: [drop(bad)] }),
      request({ rejected: { reason: bad, detail: bad } }),
    ]);
    expect(reported).toHaveLength(4);
    expect(reported.join("")).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    expect(reported.join("")).toContain("\\x1b[2J\\x0ax\\u202e");
  });
});

describe("many requests at once", () => {
  const many = [
    ...Array.from({ length: 30 }, (_, i) => request({ target: `/e/?ip=1&_=${i}`, events: 2, ms: i })),
    ...Array.from({ length: 3 }, () => request({ events: 2, dropped: [drop()] })),
    rejected,
    rejected,
  ];

  test("share a line by method, path, status and reason", () => {
    expect(lines(many)).toEqual([
      "POST /e/ 200 ×30  60 events kept  ≤ 29.0 ms",
      "POST /capture/ 200 ×3  3 of 6 events kept  ≤ 1.2 ms",
      '  ✕ dropped "bought" ×3 missing_distinct_id: the event has no distinct_id → send one',
      "POST /capture/ 401 ×2  ≤ 1.2 ms",
      expect.stringContaining("⊖ rejected invalid_api_key"),
    ]);
  });

  test("each have their own in verbose", () => {
    expect(lines(many, "verbose").filter((line) => line.startsWith("POST"))).toHaveLength(35);
  });
});

test("every advice belongs to an error that exists", () => {
  const advised = errorCodes.filter((code) => fixFor(code, "k") !== "");
  expect(advised).toContain("invalid_api_key");
  expect(fixFor("unknown_token", "phc_k")).toContain("phc_k");
  expect(fixFor("constructor", "k")).toBe("");
});

test("the log counts what became of events and requests, printed or not", async () => {
  const said: string[] = [];
  const out: Lines = { say: (...reported) => void said.push(...reported), flush: () => {} };
  const log = createRequestLog(out, { verbosity: "quiet", style: plain, projectKey: "k" });
  for (const it of [request({ events: 3, dropped: [drop()] }), rejected, asset]) log.add(it);
  await log.flush();
  expect(log.total()).toBe("2 events kept, 1 dropped, 1 request rejected");
  expect(said).toEqual([]);
});
