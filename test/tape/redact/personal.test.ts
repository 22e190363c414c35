import { describe, expect, test } from "vitest";
import type { Json } from "../../../src/kernel/json.ts";
import { createRedactor } from "../../../src/tape/redact/redactor.ts";
import { exchangeWith, leaks } from "./exchanges.ts";

const rows: [what: string, before: Json, after: Json][] = [
  ["an email", { email: "jane@acme.com" }, { email: "user1@example.test" }],
  [
    "the same twice",
    ["jane@acme.com", "joe@acme.com", "jane@acme.com"],
    ["user1@example.test", "user2@example.test", "user1@example.test"],
  ],
  ["a distinct id", { distinct_id: "jane@acme.com" }, { distinct_id: "user1@example.test" }],
  ["one in prose", { note: "mail jane@acme.com now" }, { note: "mail user1@example.test now" }],
  ["addresses", { $ip: "8.8.8.8", ip: "2606:4700::1" }, { $ip: "198.18.0.1", ip: "2001:db8::1" }],
  ["no address", { ip: "0", $ip: "" }, { ip: "0", $ip: "" }],
  ["a phone", { phone: "+49 30 123", phoneNumber: 4930123 }, { phone: "+15550100001", phoneNumber: 0 }],
  ["a person's name", { $set: { name: "Jane", plan: "pro" } }, { $set: { name: "Person 1", plan: "pro" } }],
  ["a thing's name", { name: "My dashboard" }, { name: "My dashboard" }],
  [
    "names of people",
    { first_name: "Jane", lastName: "Doe" },
    { first_name: "Person 1", lastName: "Person 2" },
  ],
  [
    "places",
    { $geoip_city_name: "Berlin", $geoip_latitude: 52.5, $initial_geoip_city_name: "Berlin" },
    { $geoip_city_name: "Place 1", $geoip_latitude: 0, $initial_geoip_city_name: "Place 1" },
  ],
  [
    "what stands in for them already",
    { email: "user7@example.test", $ip: "198.18.0.9" },
    { email: "user7@example.test", $ip: "198.18.0.9" },
  ],
];

describe("the privacy profile", () => {
  test.each(rows)("%s", (_, before, after) => {
    const exchange = exchangeWith({ body: { json: before } });
    expect(createRedactor({ profile: "pii" }).redact(exchange).req.body).toEqual({ json: after });
    expect(createRedactor().redact(exchange)).toEqual(exchange);
  });

  test("headers, parameters and what is encoded in them", () => {
    const exchange = exchangeWith({
      url: `https://x.test/?email=jane%40acme.com&data=${encodeURIComponent(Buffer.from('{"distinct_id":"jane@acme.com"}').toString("base64"))}`,
      headers: [["X-Forwarded-For", "8.8.8.8, 9.9.9.9"]],
    });
    const safe = createRedactor({ profile: "pii" }).redact(exchange);
    expect(safe.req.headers).toEqual([["X-Forwarded-For", "198.18.0.1, 198.18.0.2"]]);
    expect(safe.req.url).toContain("email=user1%40example.test");
    expect(leaks(safe, "jane@acme.com")).toBe(false);
    expect(safe.redacted).toEqual([
      "req.headers.x-forwarded-for",
      "req.query.email",
      "req.query.data.distinct_id",
    ]);
  });

  test("a parameter counts by its name; a header or parameter called name is no person's", () => {
    const exchange = exchangeWith({
      url: "https://x.test/?phone=123&name=Jane",
      headers: [["Name", "Jane"]],
    });
    const { req } = createRedactor({ profile: "pii" }).redact(exchange);
    expect(req.url).toBe("https://x.test/?phone=%2B15550100001&name=Jane");
    expect(req.headers).toEqual([["Name", "Jane"]]);
  });

  test("stand-ins on the tape already are not given again", () => {
    const redactor = createRedactor({ profile: "pii" });
    redactor.reserve('"user3@example.test 198.18.1.0 2001:db8::f +15550100009 Person 2 Place 5"');
    const json = { email: "a@b.de", $ip: "8.8.8.8", ip: "::1", phone: "12", last_name: "D", $geoip_x: "y" };
    expect(redactor.redact(exchangeWith({ body: { json } })).req.body).toEqual({
      json: {
        email: "user4@example.test",
        $ip: "198.18.1.1",
        ip: "2001:db8::10",
        phone: "+15550100010",
        last_name: "Person 3",
        $geoip_x: "Place 6",
      },
    });
  });

  test("secrets go as well", () => {
    const exchange = exchangeWith({ body: { json: { api_key: "phc_abcdef" } } });
    const redactor = createRedactor({ profile: "pii" });
    expect(redactor.profile).toBe("pii");
    expect(redactor.redact(exchange).req.body).toEqual({ json: { api_key: "{{secret:project_key#1}}" } });
  });
});
