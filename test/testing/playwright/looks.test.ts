import { describe, expect, test } from "vitest";
import { EscapeError, looksLikeSdk, verifyEscapes } from "../../../src/lab/egress/browser-traffic.ts";

const key = "phc_TheKeyOfAProject0123456789";

describe("requests that look like an SDK's", () => {
  test.each<[method: string, url: string, body: string, looks: boolean]>([
    ["POST", "https://t.shop.test/e/?ip=0&_=1&ver=1.449.2&compression=gzip-js", "", true],
    ["POST", "https://shop.test/ingest/e/?compression=gzip-js", "", true],
    ["POST", "https://shop.test/i/v0/e/", `{"api_key":"${key}"}`, true],
    ["POST", "https://shop.test/batch", `{"api_key":"${key}"}`, true],
    ["POST", "https://shop.test/x/y/flags/?v=2&ver=1", "", true],
    ["POST", "https://shop.test/decide/?v=3", `data={"token":"${key}"}`, true],
    ["POST", "https://shop.test/s/?ver=1", "", true],
    ["GET", `https://shop.test/e/?api_key=${key}`, "", true],
    ["POST", "https://shop.test/i/v1/analytics/events", `{"api_key":"${key}"}`, true],
    ["GET", `https://shop.test/array/${key}/config.js`, "", true],
    ["GET", `https://shop.test/ph/array/${key}/config?x=1`, "", true],
    ["GET", "https://shop.test/static/array.js", "", true],
    ["GET", "https://shop.test/static/array.full.no-external.js", "", true],
    ["GET", `https://shop.test/api/surveys/?token=${key}`, "", true],
    ["POST", "https://shop.test/e/", "{}", false],
    ["POST", "https://shop.test/s/", "q=shoes", false],
    ["GET", "https://shop.test/flags/de.svg", "", false],
    ["GET", "https://shop.test/flags/", "", false],
    ["POST", "https://shop.test/batch/", '{"ids":[1]}', false],
    ["POST", "https://shop.test/the/", `{"api_key":"${key}"}`, false],
    ["OPTIONS", "https://shop.test/e/?ver=1", "", false],
    ["GET", "https://shop.test/static/arrays.js", "", false],
    ["GET", "https://shop.test/api/surveys/", "", false],
    ["DELETE", `https://shop.test/array/${key}/config`, "", false],
  ])("%s %s %s: %s", (method, url, body, looks) => {
    expect(looksLikeSdk({ method, url: new URL(url), body: () => body })).toBe(looks);
  });

  test("a body is read only where the path is one of theirs", () => {
    const body = () => {
      throw new Error("was read");
    };
    expect(looksLikeSdk({ method: "POST", url: new URL("https://shop.test/upload"), body })).toBe(false);
  });
});

const escaped = (url: string, page = "https://shop.test/") => ({ method: "POST", url, page });

describe("what is reported of them", () => {
  test("nothing, without any", () => {
    expect(() => verifyEscapes([])).not.toThrow();
  });

  test("each once, with how often, and without frames", () => {
    const same = escaped("https://shop.test/ingest/e/?ver=1");
    const escapes = [same, same, escaped("https://shop.test/ingest/flags/", "")];
    let thrown: unknown;
    try {
      verifyEscapes(escapes);
    } catch (error) {
      thrown = error;
    }
    const message = `3 requests look like PostHog's, but bypassed the sim:
  POST https://shop.test/ingest/e/?ver=1 (from https://shop.test/) ×2
  POST https://shop.test/ingest/flags/
Reroute them with { hosts: ["shop.test/ingest"] }, or allow them with { allowEscapes: true }.`;
    expect(thrown).toBeInstanceOf(EscapeError);
    expect(thrown).toMatchObject({ message, escapes, stack: `EscapeError: ${message}` });
  });

  test("no more than twenty lines", () => {
    const many = Array.from({ length: 25 }, (_, i) => escaped(`https://e${i}.shop.test/e/`));
    expect(() => verifyEscapes(many)).toThrow(/e19\.shop\.test.*\n {2}… and 5 more\nReroute/);
  });

  test.each([
    ["https://e.shop.test/e/?ver=1", "e.shop.test"],
    ["https://shop.test:8443/ph/flags/", "shop.test:8443/ph"],
    ["https://shop.test/i/v0/e/", "shop.test"],
    ["https://shop.test/array/phc_x/config.js", "shop.test"],
  ])("for %s it suggests %s", (url, host) => {
    expect(new EscapeError([escaped(url)]).message).toContain(`hosts: ["${host}"]`);
  });
});
