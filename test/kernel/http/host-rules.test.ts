import { describe, expect, test } from "vitest";
import {
  hostRuleFor,
  isLoopbackHost,
  placeOf,
  plainHost,
  readHostRule,
  serviceHosts,
} from "../../../src/kernel/http/host-rules.ts";

describe("the service's hosts", () => {
  const rules = serviceHosts.map(readHostRule);
  test.each<[url: string, isService: boolean]>([
    ["https://us.i.posthog.com/e/", true],
    ["https://eu.i.posthog.com/batch/", true],
    ["https://us-assets.i.posthog.com/static/array.js", true],
    ["https://internal-j.posthog.com", true],
    ["https://app.posthog.com/decide/?v=3", true],
    ["https://US.I.POSTHOG.COM./flags/", true],
    ["http://posthog.com:8080/", true],
    ["https://notposthog.com/", false],
    ["https://posthog.com.example.com/", false],
    ["https://example.com/posthog.com/", false],
    ["http://127.0.0.1:7490/e/", false],
  ])("%s: %s", (url, isService) => {
    expect(hostRuleFor(rules, placeOf(new URL(url))) !== undefined).toBe(isService);
  });
});

describe("a rule fits", () => {
  test.each<[rule: string, url: string, fits: boolean]>([
    ["e.example.com", "https://e.example.com/x", true],
    ["e.example.com", "https://f.e.example.com/x", false],
    ["*.example.com", "https://f.e.example.com/x", true],
    ["*.example.com", "https://example.com/x", false],
    ["https://e.example.com", "http://e.example.com/", true],
    ["e.example.com:8443", "https://e.example.com:8443/", true],
    ["e.example.com:443", "https://e.example.com/", true],
    ["e.example.com:8443", "https://e.example.com/", false],
    ["app.example.com/ingest", "https://app.example.com/ingest", true],
    ["app.example.com/ingest/", "https://app.example.com/ingest/e/", true],
    ["app.example.com/ingest", "https://app.example.com/ingestion/e/", false],
    ["app.example.com/ingest", "https://app.example.com/", false],
    ["/ingest", "http://localhost:3000/ingest/flags/?v=2", true],
    ["/ingest", "http://localhost:3000/api/ingest/", false],
    ["*", "https://anything.test/", true],
    ["*/ingest", "https://anything.test/ingest", true],
    ["[::1]:8000", "http://[::1]:8000/", true],
    ["[::A]", "http://[::a]/", true],
    ["E.Example.COM.", "https://e.example.com/", true],
    ["HTTPS://e.example.com", "https://e.example.com/", true],
    [" e.example.com\n", "https://e.example.com/", true],
    ["e.example.com:8", "http://e.example.com:8/", true],
    ["e.example.com:12345", "http://e.example.com:12345/", true],
    ["e.example.com:80", "http://e.example.com/", true],
    ["e.example.com:80", "ws://e.example.com/", true],
    ["e.example.com:443", "wss://e.example.com/", true],
    ["e.example.com:443", "ws://e.example.com/", false],
    ["e.example.com:80", "ftp://e.example.com/", false],
    ["app.example.com/ingest//", "https://app.example.com/ingest", true],
    ["app.example.com/", "https://app.example.com/ingest", true],
  ])("%s at %s: %s", (rule, url, fits) => {
    expect(hostRuleFor([readHostRule(rule)], placeOf(new URL(url))) !== undefined).toBe(fits);
  });

  test("without a path only rules of whole hosts fit", () => {
    const place = { host: "app.example.com", port: "443" };
    expect(hostRuleFor([readHostRule("app.example.com/ingest")], place)).toBeUndefined();
    expect(hostRuleFor([readHostRule("app.example.com")], place)).toBeDefined();
  });

  test.each(["/ingest?a=1", "/ingest#a", "/ingest/"])("a path with what follows it: %s", (path) => {
    const place = { host: "app.example.com", port: "443", path };
    expect(hostRuleFor([readHostRule("app.example.com/ingest")], place)).toBeDefined();
  });

  test("the first rule that fits is the one that counts", () => {
    const rules = ["f.example.com", "*.example.com", "e.example.com"].map(readHostRule);
    expect(hostRuleFor(rules, { host: "e.example.com", port: "" })).toBe(rules[1]);
  });
});

test.each([
  "",
  " ",
  "https://",
  "*.",
  "*./ingest",
  ":80",
  ":80/ingest",
  "*:80",
  "*x",
  "a b.com",
  "ftp://x.com",
  "*foo.com",
  "a*b.com",
  "x.com?y",
  "x.com/y?z",
  "x.com/y z",
  "[x]",
  "x:",
  "x:a",
  "x:123456",
  "x:99999999",
])("%j is not a host", (text) => {
  expect(() => readHostRule(text)).toThrow(/is not a host: write e\.example\.com/);
});

test.each([
  ["[::1]", "::1"],
  ["E.Example.COM.", "e.example.com"],
  ["e[x", "e[x"],
  ["e]x", "e]x"],
  ["e.x", "e.x"],
])("the host %s is plainly %s", (host, plain) => {
  expect(plainHost(host)).toBe(plain);
});

test("a protocol without a port of its own", () => {
  expect(placeOf(new URL("other://e.example.com/a"))).toEqual({ host: "e.example.com", port: "", path: "/a" });
});

test.each<[string, boolean]>([
  ["localhost", true],
  ["app.localhost", true],
  ["127.0.0.1", true],
  ["127.9.9.9", true],
  ["[::1]", true],
  ["::ffff:127.0.0.1", true],
  ["0.0.0.0", true],
  ["::", true],
  ["10.0.0.1", false],
  ["::2", false],
  ["1::1", false],
  ["0.0.0.1", false],
  ["LOCALHOST.", true],
  ["localhost.app", false],
  ["notlocalhost", false],
  ["localhost.example.com", false],
  ["posthog.com", false],
])("%s is this machine: %s", (host, isOurs) => {
  expect(isLoopbackHost(host)).toBe(isOurs);
});
