import { describe, expect, test } from "vitest";
import { createPersonal } from "../../../src/tape/redact/personal.ts";
import { createSieve, type Sieve } from "../../../src/tape/redact/sieve.ts";

type Taken = [kind: string, secret: string];

/** A sieve, what it took, and the secrets that it knows: more can be added. */
function sieveWith(isPersonal = false): { sieve: Sieve; taken: Taken[]; known: string[] } {
  const taken: Taken[] = [];
  const known: string[] = [];
  const sieve = createSieve({
    take: (kind, secret) => {
      taken.push([kind, secret]);
      return "…";
    },
    known: (text, take) => known.reduce((rest, it) => rest.replaceAll(it, () => take("known", it)), text),
    knownCount: () => known.length,
    ...(isPersonal && { personal: createPersonal(() => {}) }),
  });
  return { sieve, taken, known };
}

const takenFrom = (text: string): Taken[] => {
  const { sieve, taken } = sieveWith();
  sieve.text(text, "");
  return taken;
};

const key = "phx_Zk3vQ7pL0aB9cD2eF4gH6iJ8";
const times = (count: number, change: (text: string) => string, text: string): string =>
  count === 0 ? text : times(count - 1, change, change(text));
const base64 = (text: string): string => Buffer.from(text).toString("base64");
const inJson = (text: string): string => JSON.stringify({ a: text });
const pem = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBg\n-----END PRIVATE KEY-----";

describe("a value under a secret name", () => {
  test.each(["Bearer", "basic", "TOKEN", "Digest", "ApiKey", "Negotiate", "AWS4-HMAC-SHA256"])(
    "keeps its scheme: %s",
    (scheme) => {
      const { sieve, taken } = sieveWith();
      expect(sieve.named("authorization", `${scheme}  horse`, "")).toBe(`${scheme}  …`);
      expect(taken).toEqual([["authorization", "horse"]]);
    },
  );

  test.each(["Other horse", "x Bearer horse", "Bearerhorse"])("%s has none", (value) => {
    const { sieve, taken } = sieveWith();
    expect(sieve.named("authorization", value, "")).toBe("…");
    expect(taken).toEqual([["authorization", value]]);
  });
});

describe("what is taken from a text", () => {
  test.each<[what: string, text: string, taken: Taken[]]>([
    ["six characters", "otp=12", [["otp", "12"]]],
    ["five characters", "otp=1", []],
    [
      "lines of JSON",
      '{"token":["one"]}\n{"b":1}\r\n\n{"token":["two"]}',
      [
        ["token", "one"],
        ["token", "two"],
      ],
    ],
    ["lines of JSON, the first empty", '\n{"token":["one"]}\n{"b":1}', [["token", "one"]]],
    ["other lines behind JSON", `{"a":1}\n${pem}`, [["private_key", pem]]],
    ["lines that only begin like objects", "{'token': 'one\n{two'", [["token", "one\n{two"]]],
    ["lines that only end like objects", "{'token': 'one}\ntwo'}", [["token", "one}\ntwo"]]],
    ["one line that is no JSON", `{a: ${key.replace("_", "%5F")}}`, [["personal_api_key", key]]],
    ["seven layers of base64", times(7, base64, key), [["personal_api_key", key]]],
    ["eight layers of base64", times(8, base64, key), []],
    ["JSON in six strings, then base64", times(6, inJson, base64(key)), [["personal_api_key", key]]],
    ["JSON in seven strings, then base64", times(7, inJson, base64(key)), []],
    [
      "a stretch of bytes",
      Buffer.concat([Buffer.from([0, 255]), Buffer.from(key)]).toString("base64"),
      [["encoded", Buffer.concat([Buffer.from([0, 255]), Buffer.from(key)]).toString("base64")]],
    ],
  ])("%s", (_, text, taken) => {
    expect(takenFrom(text)).toEqual(taken);
  });

  test("lines stay lines", () => {
    const { sieve } = sieveWith();
    expect(sieve.text('{"token":["one"]}\n{"b": 1}\n', "")).toBe('{"token":["…"]}\n{"b": 1}\n');
  });

  test("a text that was clean, once it is known to hold a secret", () => {
    const { sieve, known } = sieveWith();
    expect(sieve.text("it is horse", "")).toBe("it is horse");
    known.push("horse");
    expect(sieve.text("it is horse", "")).toBe("it is …");
    expect(sieve.text("it is battery", "")).toBe("it is battery");
    known.push("battery");
    expect(sieve.text("it is battery", "")).toBe("it is …");
  });
});

test("code has neither fields nor persons, only what looks like a secret", () => {
  const { sieve } = sieveWith(true);
  const code = 'a={"password":"horse"};mail="jane@acme.com";';
  expect(sieve.code(`${code}key="${key}"`, "")).toBe(`${code}key="…"`);
  expect(sieve.text(`${code}.`, "")).toBe('a={"password":"…"};mail="user1@example.test";.');
  expect(sieve.code(times(7, base64, key), "")).not.toBe(times(7, base64, key));
});
