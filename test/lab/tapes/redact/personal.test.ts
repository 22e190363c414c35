import { describe, expect, test } from "vitest";
import type { Json } from "../../../../src/kernel/base/json.ts";
import { createPersonal } from "../../../../src/lab/tapes/redact/personal.ts";
import { createRedactor } from "../../../../src/lab/tapes/redact/redactor.ts";
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
  ["names of people", { first_name: "Jane", lastName: "Doe" }, { first_name: "Person 1", lastName: "Person 2" }],
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
    expect(safe.redacted).toEqual(["req.headers.x-forwarded-for", "req.query.email", "req.query.data.distinct_id"]);
  });

  test("a parameter counts by its name; a header or parameter called name is no person's", () => {
    const exchange = exchangeWith({ url: "https://x.test/?phone=123&name=Jane", headers: [["Name", "Jane"]] });
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

describe("a field is personal by its name", () => {
  const words = (text: string): string[] => text.trim().split(/\s+/);
  const standIn = (name: string, value: string | number, around: string[] = []): unknown =>
    createPersonal(() => {}).value(value, { path: "", name, around }, "");

  const kinds: [given: string, made: string, names: string[], near: string[]][] = [
    [
      "jane@acme.com",
      "user1@example.test",
      words("email mail e_mail work_email emailAddress mail_address $initial_email"),
      words("gmail emails email_count address_mail_2"),
    ],
    [
      "8.8.8.8",
      "198.18.0.1",
      words(`ip ip_address remote_addr X-Forwarded-For x_real_ip client_ip cf_connecting_ip true_client_ip
        $initial_ip`),
      words("my_ip ips ip_2 real_ip client_ip_2"),
    ],
    [
      "+49 30",
      "+15550100001",
      words("phone mobile telephone work_phone phone_number mobileNumber"),
      words("iphone phones phone_count number"),
    ],
    [
      "Jane",
      "Person 1",
      words(`first_name lastName fullname given_name family_name middle_name display_name username surname
        initial_surname`),
      words("name my_first_name first_names nick_name surname_2 my_surname first_initial_name"),
    ],
    ["Berlin", "Place 1", words("$geoip_city_name geoip_x"), words("my_geoip_city geoip")],
    [
      "Main St. 5",
      "Personal 1",
      words(`postal_code postcode zip zip_code street street_address address birthday birth_date date_of_birth
        ssn`),
      words("my_zip zips postal street_2 my_address ssn_2 birth"),
    ],
  ];
  test.each(kinds)("%s becomes %s", (given, made, names, near) => {
    expect(names.map((name) => [name, standIn(name, given)])).toEqual(names.map((name) => [name, made]));
    expect(near.map((name) => [name, standIn(name, given)])).toEqual(near.map((name) => [name, undefined]));
  });

  test.each(["$set", "$set_once", "person_properties", "$person_properties"])("name, in %s", (around) => {
    expect(standIn("name", "Jane", ["a", around, "b"])).toBe("Person 1");
    expect(standIn("name", "Jane", ["a"])).toBeUndefined();
  });

  test.each<[name: string, value: string | number, made: unknown]>([
    ["phone", "", undefined],
    ["phone", "0", undefined],
    ["phone", "1", undefined],
    ["phone", "2", "+15550100001"],
    ["email", "none", undefined],
    ["ip", "8", undefined],
    ["ip", "::2", "2001:db8::1"],
    ["ip", "8.8.8.8,, ::2", "198.18.0.1,, 2001:db8::1"],
    ["phone", 5, 0],
    ["geoip_x", 5.5, 0],
    ["zip", 5, 0],
    ["zip", 0, undefined],
    ["geoip_x", -0, undefined],
    ["email", 5, undefined],
    ["ip", 5, undefined],
    ["surname", 5, undefined],
    ["count", 5, undefined],
  ])("%s: %j becomes %j", (name, value, made) => {
    expect(standIn(name, value)).toBe(made);
  });

  test("each change is noted, and equal values of one kind are one", () => {
    const noted: string[] = [];
    const personal = createPersonal((path) => noted.push(path));
    const at = (name: string, value: string | number, path: string) =>
      personal.value(value, { path, name, around: [] }, path);
    expect([at("phone", "5", "a"), at("phone", "5", "b"), at("zip", "5", "c"), at("phone", "6", "d")]).toEqual([
      "+15550100001",
      "+15550100001",
      "Personal 1",
      "+15550100002",
    ]);
    expect([at("phone", 5, "e"), at("phone", "+15550100009", "f"), at("colour", "x", "g")]).toEqual([
      0,
      "+15550100009",
      undefined,
    ]);
    expect(noted).toEqual(["a", "b", "c", "d", "e"]);
  });

  test.each([
    ["a@b.de", "user1@example.test"],
    ["a.b%c+d-e@b-1.c.de!", "user1@example.test!"],
    ["a@b", "a@b"],
    ["a@b.d", "a@b.d"],
    ["a@b.d1", "a@b.d1"],
    ["@b.de", "@b.de"],
    ["a@.de", "a@.de"],
    [`${"a".repeat(64)}@b.de`, "user1@example.test"],
    [`${"a".repeat(65)}@b.de`, "auser1@example.test"],
    [`a@${"b".repeat(63)}.de`, "user1@example.test"],
    [`a@${"b".repeat(64)}.de`, `a@${"b".repeat(64)}.de`],
    [`a@${"b.".repeat(8)}de`, "user1@example.test"],
    [`a@${"b.".repeat(9)}de1`, `a@${"b.".repeat(9)}de1`],
    [`a@b.${"c".repeat(25)}`, "user1@example.testc"],
  ])("the text %s becomes %s", (text, after) => {
    expect(createPersonal(() => {}).text(text, "")).toBe(after);
  });

  test.each([
    ["user9@example.test", "email", "a@b.de", "user10@example.test"],
    ["198.19.2.3", "ip", "8.8.8.8", "198.19.2.4"],
    ["198.18.255.255", "ip", "8.8.8.8", "198.19.0.0"],
    ["2001:db8::ff", "ip", "::2", "2001:db8::100"],
    ["+15550100041", "phone", "5", "+15550100042"],
    ["Person 7, Person 6", "surname", "Doe", "Person 8"],
    ["Place 7", "geoip_x", "y", "Place 8"],
    ["Personal 7", "zip", "y", "Personal 8"],
    ["nothing", "email", "a@b.de", "user1@example.test"],
    ["user9@examplextest", "email", "a@b.de", "user1@example.test"],
    ["1198.18.0.5", "ip", "8.8.8.8", "198.18.0.1"],
    ["198.18..5", "ip", "8.8.8.8", "198.18.0.1"],
    ["198.18.5.", "ip", "8.8.8.8", "198.18.0.1"],
    ["198.18.1000.5", "ip", "8.8.8.8", "198.18.0.1"],
    ["198.18.0.1001", "ip", "8.8.8.8", "198.18.0.101"],
    ["12001:db8::ff", "ip", "::2", "2001:db8::1"],
    ["2001:db8:: ", "ip", "::2", "2001:db8::1"],
    ["2001:db8::10", "ip", "::2", "2001:db8::11"],
    ["2001:db8::1000001", "ip", "::2", "2001:db8::100001"],
    ["+155501000419", "phone", "5", "+15550100001"],
  ])("after %s", (reserved, name, value, made) => {
    const personal = createPersonal(() => {});
    personal.reserve(reserved);
    personal.reserve("nothing");
    expect(personal.value(value, { path: "", name, around: [] }, "")).toBe(made);
  });
});
