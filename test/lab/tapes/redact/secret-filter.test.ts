import { describe, expect, test } from "vitest";
import type { Json } from "../../../../src/kernel/base/json.ts";
import { atOnce } from "../../../../src/kernel/base/work.ts";
import { createPersonal } from "../../../../src/lab/tapes/redact/personal.ts";
import { createSecretRules } from "../../../../src/lab/tapes/redact/rules.ts";
import { SecretFilter } from "../../../../src/lab/tapes/redact/secret-filter.ts";

type Taken = [kind: string, secret: string];

/** A filter, what it took, and the secrets that it knows: more can be added. */
function filterWith(isPersonal = false): { filter: SecretFilter; taken: Taken[]; known: string[] } {
  const taken: Taken[] = [];
  const known: string[] = [];
  const filter = new SecretFilter({
    take: (kind, secret) => {
      taken.push([kind, secret]);
      return "…";
    },
    memory: {
      replaceKnown: (text, take) => known.reduce((rest, it) => rest.replaceAll(it, () => take("known", it)), text),
      get size() {
        return known.length;
      },
    },
    ...(isPersonal && { personal: createPersonal(() => {}) }),
  });
  return { filter, taken, known };
}

const takenFrom = (text: string): Taken[] => {
  const { filter, taken } = filterWith();
  filter.text(text, "");
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
      const { filter, taken } = filterWith();
      expect(filter.named("authorization", `${scheme}  horse`, "")).toBe(`${scheme}  …`);
      expect(taken).toEqual([["authorization", "horse"]]);
    },
  );

  test.each(["Other horse", "x Bearer horse", "Bearerhorse"])("%s has none", (value) => {
    const { filter, taken } = filterWith();
    expect(filter.named("authorization", value, "")).toBe("…");
    expect(taken).toEqual([["authorization", value]]);
  });
});

describe("what is taken from a text", () => {
  test.each<[what: string, text: string, taken: Taken[]]>([
    ["six characters", "otp=12", [["otp", "12"]]],
    ["five characters", "otp=1", []],
    ["six letters", "otp=ab", [["otp", "ab"]]],
    ["eleven letters", "otp=abcdefg", [["otp", "abcdefg"]]],
    ["a login of twelve letters", "Basic YTpiYw", [["authorization", "YTpiYw"]]],
    ...[
      "phx_abcd-abcd-1234-1234-1234567890ab",
      "12345678-phx_-abcd-phx_-1234567890ab",
      "12345678-abcd-abcd-1234-phx_abcdefgh",
      "phx_-01-02T03:04:05Z",
      "2026-01-02T03:04:05.phx_abcdZ",
    ].map((it): [string, string, Taken[]] => [
      `a key in the form of ${it}`,
      it,
      [["personal_api_key", /phx_[\w-]{4,}/.exec(it)?.[0] ?? ""]],
    ]),
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

  test("the same text, each time that it comes", () => {
    const { filter } = filterWith();
    const text = `the key is ${key}`;
    expect([1, 2, 3].map(() => filter.text(text, ""))).toEqual(Array(3).fill("the key is …"));
  });

  test.each<[name: string, value: string, kind: string]>([
    ["password", key, "personal_api_key"],
    ["password", `${key} and more`, "password"],
    ["my_token", `ghp_${"a1B2".repeat(9)}`, "github_token"],
  ])("the kind of a value under %s that is %s", (name, value, kind) => {
    const { filter, taken } = filterWith();
    filter.named(name, value, "");
    expect(taken).toEqual([[kind, value]]);
  });

  test("lines stay lines", () => {
    const { filter } = filterWith();
    expect(filter.text('{"token":["one"]}\n{"b": 1}\n', "")).toBe('{"token":["…"]}\n{"b": 1}\n');
  });

  test("a text that was clean, once it is known to hold a secret", () => {
    const { filter, known } = filterWith();
    expect(filter.text("it is horse", "")).toBe("it is horse");
    known.push("horse");
    expect(filter.text("it is horse", "")).toBe("it is …");
    expect(filter.text("it is battery", "")).toBe("it is battery");
    known.push("battery");
    expect(filter.text("it is battery", "")).toBe("it is …");
  });
});

describe("digits that may be a card's", () => {
  const card = "4111111111111111";
  const takenAt = (json: Json): Taken[] => {
    const { filter, taken } = filterWith();
    atOnce(filter.json(json, "req.body"));
    return taken;
  };
  const ids = "id ids uuid key time timestamp ts at offset hash user_id userId createdAt $time my-hash card.id".split(
    " ",
  );

  test.each(ids)("not where %s says what they are", (name) => {
    for (const json of [{ [name]: card }, { [name]: Number(card) }, { a: [{ [name]: [card] }] }]) {
      expect(takenAt(json)).toEqual([]);
    }
  });

  test.each(["paid", "identity_card", "keys", "chat", "times", "hashed", "a", "id.card", "offset_2"])(
    "but where %s does",
    (name) => {
      for (const json of [{ [name]: card }, { [name]: Number(card) }, { id: [{ [name]: [card] }] }]) {
        expect(takenAt(json)).toEqual([["card_number", card]]);
      }
    },
  );

  test.each([`${card} x`, `x ${card}`, "4111 1111 1111 1111"])("and %s under any name", (id) => {
    expect(takenAt({ id })).toEqual([["card_number", id.replace(/ ?x ?/, "")]]);
  });

  test("a secret that is known is taken from an id, too", () => {
    const { filter, taken, known } = filterWith();
    known.push("1234567890123");
    atOnce(filter.json({ id: "1234567890123" }, ""));
    expect(taken).toEqual([["known", "1234567890123"]]);
  });
});

test("the digits of a fraction are no secret that is known", () => {
  const { filter, taken, known } = filterWith();
  known.push("12345678");
  const json = { a: 0.12345678, b: 12345678.5, c: -0.12345678 };
  expect(atOnce(filter.json(json, ""))).toEqual(json);
  expect(atOnce(filter.json({ a: 12345678, b: -12345678 }, ""))).toEqual({ a: "…", b: "-…" });
  expect(taken).toHaveLength(2);
});

test("what is deeper than 200 levels is not walked", () => {
  const nested = (levels: number): Json => (levels === 0 ? {} : [nested(levels - 1)]);
  const { filter } = filterWith();
  expect(atOnce(filter.json(nested(199), ""))).toEqual(nested(199));
  expect(atOnce(filter.json(nested(200), ""))).toBeUndefined();
});

test("code has neither fields nor persons, only what looks like a secret", () => {
  const { filter } = filterWith(true);
  const code = 'a={"password":"horse"};mail="jane@acme.com";';
  expect(filter.code(`${code}key="${key}"`, "")).toBe(`${code}key="…"`);
  expect(filter.text(`${code}.`, "")).toBe('a={"password":"…"};mail="user1@example.test";.');
  expect(filter.code(times(7, base64, key), "")).not.toBe(times(7, base64, key));
});

test("a short number in JSON is a secret where a pattern of the project says so", () => {
  const taken: Taken[] = [];
  const secretRules = createSecretRules({ rules: [{ name: "pin", pattern: "\\b\\d{6}\\b" }] });
  const take = (kind: string, secret: string): string => {
    taken.push([kind, secret]);
    return "…";
  };
  const filter = new SecretFilter({ take, secretRules });
  expect(atOnce(filter.json({ code: 123456, year: 2026 }, "req.body"))).toEqual({ code: "…", year: 2026 });
  expect(taken).toEqual([["pin", "123456"]]);
});
