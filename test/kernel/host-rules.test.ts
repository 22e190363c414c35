import { describe, expect, test } from "vitest";
import {
  hostRuleFor,
  isLoopbackHost,
  placeOf,
  readHostRule,
  serviceHosts,
} from "../../src/kernel/host-rules.ts";

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
    ["E.Example.COM.", "https://e.example.com/", true],
  ])("%s at %s: %s", (rule, url, fits) => {
    expect(hostRuleFor([readHostRule(rule)], placeOf(new URL(url))) !== undefined).toBe(fits);
  });

  test("without a path only rules of whole hosts fit", () => {
    const place = { host: "app.example.com", port: "443" };
    expect(hostRuleFor([readHostRule("app.example.com/ingest")], place)).toBeUndefined();
    expect(hostRuleFor([readHostRule("app.example.com")], place)).toBeDefined();
  });
});

test.each([
  "",
  " ",
  "https://",
  "*.",
  ":80",
  "a b.com",
  "ftp://x.com",
  "*foo.com",
  "a*b.com",
  "x.com?y",
  "x:99999999",
])("%j is not a host", (text) => {
  expect(() => readHostRule(text)).toThrow(/is not a host: write e\.example\.com/);
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
  ["localhost.example.com", false],
  ["posthog.com", false],
])("%s is this machine: %s", (host, isOurs) => {
  expect(isLoopbackHost(host)).toBe(isOurs);
});
