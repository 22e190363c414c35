import { expect, test } from "vitest";
import { sensitiveIn } from "../../../src/lab/lint/personal-data.ts";

const jwt =
  "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U";

test.each([
  ["an e-mail address", "ann@example.com"],
  ["an e-mail address", "write to Ann.Lee+news@mail.example.co.uk, please"],
  ["an e-mail address", "http://app.test/?to=ann%40example.com&x=1"],
  ["a card number", "4111111111111111"],
  ["a card number", "4111 1111 1111 1111"],
  ["a card number", "3782-822463-10005"],
  ["a card number", "5555555555554444"],
  ["an IBAN", "DE89370400440532013000"],
  ["an IBAN", "GB29 NWBK 6016 1331 9268 19"],
  ["a JSON web token", jwt],
  ["a JSON web token", `Bearer ${jwt}`],
])("%s: %s", (what, text) => expect(sensitiveIn(text)).toBe(what));

test.each([
  ["empty", ""],
  ["a handle", "@ann"],
  ["a package", "react@18.2.0"],
  ["a file", "icon@2x.png"],
  ["a repository", "git@github.com:org/repo.git"],
  ["a login in a URL", "https://key@ingest.example.com/1"],
  ["no ending", "ann@localhost"],
  ["a profile's address", "https://social.example/@ann"],
  ["a map's address", "https://maps.example/@48.85,2.35"],
  ["digits that fail the check", "4111111111111112"],
  ["digits of no issuer", "1234567812345670"],
  ["a time", "1780315200000"],
  ["digits in a text", "order 4111111111111111 sent"],
  ["a card with odd groups", "4111-1111 1111-1111"],
  ["an IBAN with a wrong digit", "DE89370400440532013001"],
  ["an article number", "AB12CDEF34567890"],
  ["a hash", "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"],
  ["parts of a token", "eyJhbGciOiJIUzI1NiJ9"],
  ["what looks like a token but is not JSON", `eyJ${"a".repeat(20)}.eyJ${"b".repeat(20)}.${"c".repeat(30)}`],
])("nothing: %s", (_, text) => expect(sensitiveIn(text)).toBeUndefined());

test.each([
  ["@", "@".repeat(200_000)],
  ["a@", "a@".repeat(100_000)],
  ["a.", `${"a.".repeat(100_000)}@${"a.".repeat(100_000)}`],
  ["eyJ", "eyJ".repeat(100_000)],
  ["eyJ with dots", "eyJaaaaaaaaaaa.".repeat(20_000)],
  ["letters", "a".repeat(300_000)],
])("takes a text made to be slow: %s", (_, text) => expect(sensitiveIn(text)).toBeUndefined());
