import { expect, test } from "vitest";
import { adBlockTest } from "../../../src/testing/playwright/ad-block.ts";

test.each([
  ["https://us.i.posthog.com/e/?ip=0", true],
  ["https://eu-assets.i.posthog.com/static/array.js", true],
  ["https://i.posthog.com/flags/?v=2", true],
  ["https://app.posthog.com/e/?compression=gzip-js", true],
  ["https://app.posthog.com/decide/?v=3", false],
  ["https://us.posthog.com/x/?retry_count=1", true],
  ["https://us.posthog.com/login", false],
  ["https://posthog.com/docs", false],
  ["https://noti.posthog.com.example.test/e/", false],
  ["https://notposthog.com/static/array.js", false],
  ["https://shop.test/i.posthog.com/e/", false],
  ["https://shop.test/ingest/e/?ip=0", false],
])("the common rules and %s: %s", (url, blocks) => {
  expect(adBlockTest(true)(new URL(url))).toBe(blocks);
});

test.each([
  ["||e.example.com^", "https://e.example.com/", true],
  ["||e.example.com^", "https://a.e.example.com:8443/x", true],
  ["||e.example.com^", "https://e.example.community/", false],
  ["/INGEST/*/?ver=", "https://shop.test/ingest/e/?ver=1", true],
  ["/ingest.js", "https://shop.test/ingestxjs", false],
])("the rule %s and %s: %s", (rule, url, blocks) => {
  expect(adBlockTest([rule])(new URL(url))).toBe(blocks);
});

test.each([[undefined], [false], [[]]])("%j blocks nothing", (given) => {
  expect(adBlockTest(given)(new URL("https://us.i.posthog.com/e/"))).toBe(false);
});
