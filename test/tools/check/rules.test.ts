import { describe, expect, test } from "vitest";
import { addressIn } from "../../../src/tools/check/app/start-app.ts";
import { bodyText, keysIn, sdkPathOf } from "../../../src/tools/check/browser/interception.ts";
import type { SdkInstance } from "../../../src/tools/check/browser/probe.ts";
import { buildReport, checkRules } from "../../../src/tools/check/build-report.ts";
import type { Observations, SdkRequest, Visit } from "../../../src/tools/check/observations.ts";
import { keyKindOf } from "../../../src/tools/check/rules/keys.ts";
import { CheckReport } from "../../../src/tools/check/shapes.ts";
import { planted } from "./planted.ts";

const goodKey = "phc_T3vYpQ9sLm2XkR7wBn4ZcJ8hGd5FaUe6KiOoVtCq1Zx";

const instance: SdkInstance = {
  version: "1.449.2",
  loaded: true,
  copy: 0,
  optedOut: false,
  recording: false,
  distinctId: "d1",
  config: {
    token: goodKey,
    uiHost: null,
    persistence: "localStorage+cookie",
    optOutByDefault: false,
    ignoresBots: true,
    blockedAgents: [],
    beforeSend: false,
    recordingDisabled: true,
    cookieless: null,
  },
};

const visit: Visit = {
  url: "http://localhost:3000/",
  how: "load",
  status: 200,
  title: "Shop",
  failure: null,
  sdk: { instances: [instance], stub: false },
  notes: [{ kind: "call", name: "capture", argument: "$pageview", loaded: true, returned: true, flags: false }],
  console: [],
};

const request: SdkRequest = {
  visit: 0,
  method: "POST",
  url: "https://us.i.posthog.com/e/",
  host: "us.i.posthog.com",
  prefix: "",
  kind: "events",
  place: "service",
  byUs: true,
  keys: [goodKey],
  status: 200,
  contentType: "application/json",
  location: null,
  failure: null,
};

const sound: Observations = {
  app: { command: null, exitCode: null, output: [], libraries: [] },
  visits: [visit],
  requests: [request],
  events: [],
  rejected: [],
  lint: [],
  ownKeys: [],
  missedClicks: [],
  unopened: 0,
};

const codesOf = (change: Partial<Observations>): string[] =>
  buildReport({ ...sound, ...change }, null)
    .findings.filter(({ severity }) => severity !== "info")
    .map(({ code }) => code);

describe("the report", () => {
  test("of a sound app has no errors and no warnings, and its shape", () => {
    const report = CheckReport.parse(buildReport(sound, "Chrome/143"));
    expect(report).toMatchObject({ verdict: "passed", counts: { errors: 0, warnings: 0 } });
  });

  test("a finding that another one explains is not reported", () => {
    const failed = { ...visit, failure: "net::ERR_ABORTED", sdk: { instances: [], stub: false } };
    expect(codesOf({ visits: [failed], requests: [] })).toEqual(["page_failed"]);
  });

  test("--fail-on warning fails with a warning", () => {
    const silent = { ...sound, visits: [{ ...visit, notes: [] }] };
    expect(buildReport(silent, null).verdict).toBe("passed");
    expect(buildReport(silent, null, "warning").verdict).toBe("failed");
  });

  test("what was not contacted is reported as not checked", () => {
    const proxied = { ...request, place: "proxy" as const, host: "localhost:3000", prefix: "/ingest" };
    const { unchecked } = buildReport({ ...sound, requests: [proxied] }, null);
    expect(unchecked.map(({ area }) => area)).toContain("proxy");
  });
});

describe("the rules", () => {
  test.each<[string, Partial<SdkRequest>]>([
    ["host_wrong", { place: "elsewhere", host: "eu.i.postog.com" }],
    ["host_has_path", { prefix: "/capture" }],
    ["key_personal", { keys: ["phx_secretsecretsecretsecret"] }],
    ["key_placeholder", { keys: ["YOUR_API_KEY"] }],
    ["proxy_redirects", { place: "proxy", byUs: false, status: 307, location: "/en/ingest/e/" }],
    ["proxy_fails", { place: "proxy", byUs: false, status: 404 }],
  ])("%s", (code, change) => {
    expect(codesOf({ requests: [{ ...request, ...change }] })).toEqual([code]);
  });

  test("an own domain of the app's is not a mistyped host", () => {
    const own = { ...request, place: "elsewhere" as const, host: "e.shop-example.com" };
    expect(codesOf({ requests: [own] })).toEqual([]);
  });

  test("no secret key is in a report", () => {
    const key = "phx_secretsecretsecretsecret";
    const report = buildReport({ ...sound, requests: [{ ...request, keys: [key] }] }, null);
    expect(JSON.stringify(report)).not.toContain("secretsecret");
  });

  test("each error and warning is planted in an app, or found in the log of the sim", () => {
    const codes = new Set(planted.map(({ code }) => code));
    const unproved = Object.entries(checkRules).filter(
      ([code, { severity }]) => severity !== "info" && !codes.has(code),
    );
    expect(unproved.map(([code]) => code)).toEqual(["nothing_observed", "event_dropped", "request_rejected"]);
  });
});

test.each<[string, string]>([
  [goodKey, "project"],
  ["sTMFPsFhdP1Ssg8N2kQwLmZxVbTyRcJdHfGaUeKiOoW", "project"],
  ["phx_abcdefghijklmnopqrstuvwxyz", "personal"],
  ["phs_abcdefghijklmnopqrstuvwxyz", "secret"],
  ["", "missing"],
  ["undefined", "placeholder"],
  ["<ph_project_api_key>", "placeholder"],
  ["phc_your_project_key_goes_in_this_place", "placeholder"],
  ["phc_short", "placeholder"],
])("the key %j is of the kind %s", (key, kind) => {
  expect(keyKindOf(key)).toBe(kind);
});

test.each<[string, unknown]>([
  ["/e/", { kind: "events", prefix: "" }],
  ["/ingest/i/v0/e/", { kind: "events", prefix: "/ingest" }],
  ["/ingest/flags", { kind: "flags", prefix: "/ingest" }],
  ["/a/b/array/phc_x/config.js", { kind: "config", prefix: "/a/b" }],
  ["/static/1.449.2/lazy-recorder.js", { kind: "script", prefix: "" }],
  ["/shop/cart", undefined],
])("the path %s", (path, found) => {
  expect(sdkPathOf(path)).toEqual(found);
});

test("keys are found in the path, the query and every form of body", () => {
  const inBody = (body: string) =>
    keysIn({ method: "POST", url: new URL("https://h.test/e/?token=a"), body: Buffer.from(body) });
  expect(inBody('{"api_key":"b","batch":[]}')).toEqual(["a", "b"]);
  expect(inBody(`data=${encodeURIComponent(Buffer.from('{"token":"c"}').toString("base64"))}`)).toEqual(["a", "c"]);
  expect(keysIn({ method: "GET", url: new URL("https://h.test/array/d/config"), body: null })).toEqual(["d"]);
  expect(bodyText(Buffer.from([0x1f, 0x8b, 1, 2]))).toBe("");
});

test.each<[string, string | undefined]>([
  ["  ➜  Local:   http://localhost:5173/", "http://localhost:5173/"],
  ["\u001b[36mhttp://localhost:\u001b[1m5173\u001b[22m/\u001b[39m", "http://localhost:5173/"],
  ["- Local:        http://0.0.0.0:3000", "http://127.0.0.1:3000"],
  ["Listening on http://[::]:8080.", "http://127.0.0.1:8080"],
  ["PostHog at http://127.0.0.1:7490", undefined],
  ["see https://nextjs.org/docs", undefined],
])("the address in %j", (line, found) => {
  expect(addressIn(line, "http://127.0.0.1:7490")).toBe(found);
});
