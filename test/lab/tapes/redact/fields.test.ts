import { describe, expect, test } from "vitest";
import { decodedPart, replaceFields } from "../../../../src/lab/tapes/redact/fields.ts";

const replaced = (text: string): string => replaceFields(text, (name, value) => `<${name}:${value}>`);

const spaces = (count: number): string => " ".repeat(count);
const slashes = (count: number): string => "\\".repeat(count);
const nameOf = (length: number): string => `${"x".repeat(length - 9)}_password`;
const quotedBy = (lead: string): string => `${lead}"password${lead}":${lead}"a${lead}"`;

/** Each text, and what it becomes; undefined: it stays. */
const rows: [text: string, after?: string][] = [
  // Quoted fields.
  ['{"password": "a", "b": "c"}', '{"password": "<password:a>", "b": "c"}'],
  ["{'password' = 'a'}", "{'password' = '<password:a>'}"],
  ["\"password\": 'a'"],
  ["\"password': 'a'"],
  ['"my.pass$ -token": "a"', '"my.pass$ -token": "<my.pass$ -token:a>"'],
  ['"pass/token": "a"'],
  ...[1, 3, 15].map((count): [string, string] => [
    quotedBy(slashes(count)),
    quotedBy(slashes(count)).replace(`"a`, `"<password:a>`),
  ]),
  [quotedBy(slashes(16))],
  [`"${nameOf(80)}": "a"`, `"${nameOf(80)}": "<${nameOf(80)}:a>"`],
  [`"${nameOf(81)}": "a"`],
  [`"password"${spaces(20)}:${spaces(20)}"a"`, `"password"${spaces(20)}:${spaces(20)}"<password:a>"`],
  [`"password"${spaces(21)}: "a"`],
  [`"password": ${spaces(20)}"a"`],
  ['"password": "abc', '"password": "<password:abc>'],
  ['"password": "", "token": "b"', '"password": "<password:>", "token": "<token:b>"'],
  ['"password": "a\\"b", "c": "d"', '"password": "<password:a"b>", "c": "d"'],
  ['"password": "a\\u0062\\qc"', '"password": "<password:a\\u0062\\qc>"'],
  ['"password": "a\\"", "b": "c"', '"password": "<password:a">", "b": "c"'],
  ['"password": "a\\u0062"', '"password": "<password:ab>"'],
  ["\"password\": \"a 'token': 'b'\"", "\"password\": \"<password:a 'token': 'b'>\""],
  ['"password": "a \'token\': \'"', '"password": "<password:a \'token\': \'>"'],
  // Numbers.
  ['{"password": 5, "b": 6}', '{"password": "<password:5>", "b": 6}'],
  ["'password':-1.5e+3,", "'password':\"<password:-1.5e+3>\","],
  ['"token": 5'],
  ['"$password": 5', '"$password": "<$password:5>"'],
  ['"password": x5'],
  [`"${nameOf(80)}": 5`, `"${nameOf(80)}": "<${nameOf(80)}:5>"`],
  [`"${nameOf(81)}": 5`],
  [`"password"${spaces(20)}:${spaces(20)}5`, `"password"${spaces(20)}:${spaces(20)}"<password:5>"`],
  [`"password"${spaces(21)}:5`],
  [`"password":${spaces(21)}5`],
  // Forms and query strings.
  ...["", "?", "&", ";", ",", " ", '"', "'", "(", "{"].map((lead): [string, string] => [
    `x${lead}token=a`.slice(lead === "" ? 1 : 0),
    `x${lead}token=%3Ctoken%3Aa%3E`.slice(lead === "" ? 1 : 0),
  ]),
  ["/token=a"],
  ...["&", " ", '"', "'", "<", ">", ";", ",", ")"].map((end): [string, string] => [
    `token=a${end}b`,
    `token=%3Ctoken%3Aa%3E${end}b`,
  ]),
  ["colour=a&token=b%20c+d", "colour=a&token=%3Ctoken%3Ab%20c%20d%3E"],
  ["%74oken=a", "%74oken=%3Ctoken%3Aa%3E"],
  ["config[password]=a", "config[password]=%3Cconfig%5Bpassword%5D%3Aa%3E"],
  ["$my.x-token=a", "$my.x-token=%3C%24my.x-token%3Aa%3E"],
  [`${nameOf(80)}=a`, `${nameOf(80)}=%3C${nameOf(80)}%3Aa%3E`],
  [`${nameOf(81)}=a`],
  ["token="],
  // Lines like headers.
  ["a\nX-Token: abcdef\nb", "a\nX-Token: <X-Token:abcdef>\nb"],
  ["token : Bearer abcdef", "token : <token:Bearer abcdef>"],
  ["token:\tabcdef \t", "token:\t<token:abcdef>"],
  ["token: abcde"],
  ["token: abcdef more"],
  ["$token: abcdef", "$token: <$token:abcdef>"],
  ["token:abcdef"],
  ["a: b\ntoken:abcdef"],
  ["token: two more words"],
  ["token: a1 abcdef"],
  ["colour: abcdef"],
  ["the token: abcdef"],
  [`${spaces(20)}token:${spaces(20)}abcdef`, `${spaces(20)}token:${spaces(20)}<token:abcdef>`],
  [`${spaces(21)}token: abcdef`],
  [`token:${spaces(21)}abcdef`],
  ["token  : abcdef"],
  [`${nameOf(80)}: abcdef`, `${nameOf(80)}: <${nameOf(80)}:abcdef>`],
  [`${nameOf(81)}: abcdef`],
];

describe("fields in a text that is no JSON", () => {
  test.each(rows)("%s", (text, after = text) => {
    expect(replaced(text)).toBe(after);
  });

  test("a value that stays is written as it was", () => {
    expect(replaceFields("token=a%2db&password=c", (_, value) => value)).toBe("token=a%2db&password=c");
  });
});

test.each([
  ["a+b%20c", "a b c"],
  ["%zz%20+", "%zz +"],
  ["%e4%20", "\ufffd "],
  ["%C3%A4%20%zz", "ä %zz"],
])("%s decodes to %j", (text, plain) => {
  expect(decodedPart(text)).toBe(plain);
});
