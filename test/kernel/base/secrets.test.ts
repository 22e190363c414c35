import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { maskKeys, maskSecretFields } from "../../../src/kernel/base/secrets.ts";

describe("maskSecretFields", () => {
  test.each([
    ['{"password": "hunter2"}', '{"password": "***"}'],
    ['{"aws_secret_access_key":"abc","region":"eu"}', '{"aws_secret_access_key":"***","region":"eu"}'],
    ['{"private_key": "-----BEGIN \\"x\\" \\n-----", "a": 1}', '{"private_key": "***", "a": 1}'],
    ['{"a": {"Private_Key_Passphrase" : "x"}}', '{"a": {"Private_Key_Passphrase" : "***"}}'],
    ['{"token": "t", "tokens": "u"}', '{"token": "***", "tokens": "***"}'],
    ['{"password": "cut off', '{"password": "***"'],
    ['{"name": "my password is here"}', '{"name": "my password is here"}'],
    ["name=x&destination.config.password=hunter2&b=1", "name=x&destination.config.password=***&b=1"],
    ["aws_access_key_id=A", "aws_access_key_id=***"],
    [
      '--b\r\nContent-Disposition: form-data; name="password"\r\n\r\nhunter2\r\n--b--',
      '--b\r\nContent-Disposition: form-data; name="password"\r\n\r\n***\r\n--b--',
    ],
  ])("%s", (text, expected) => expect(maskSecretFields(text)).toBe(expected));
});

describe("maskKeys", () => {
  test.each([
    ["a phx_abcdef b", "a phx_*** b"],
    ["phs_abcdef", "phs_***"],
    ["phc_public_key", "phc_public_key"],
    ["?next=%2Fx%3Fkey%3Dphx_abcdef", "?next=%2Fx%3Fkey%3Dphx_***"],
    ["/x/phx%5Fabcdef?y=phs%5fab%63def", "/x/phx%5F***?y=phs%5f***"],
    ['"two\\nphx_abcdef"', '"two\\nphx_***"'],
    ['"\\u00e9phx_abcdef"', '"\\u00e9phx_***"'],
    ["alpha_beta graphx_abcdef", "alpha_beta graphx_abcdef"],
    ["php_version php_memory_limit phd_student", "php_version php_memory_limit phd_student"],
    ["my_phx_version", "my_phx_version"],
    ["$set_phx_9aB3dE6fG8hJ2kL5mN7pQ1rS4tU", "$set_phx_***"],
    ["pht_9aB3dE6fG8hJ2kL5mN7pQ1rS4tU", "pht_***"],
  ])("%s", (text, expected) => expect(maskKeys(text)).toBe(expected));
});

describe("keys that are encoded", () => {
  const key = "phx_9aB3dE6fG8hJ2kL5mN7pQ1rS4tU";
  const base64 = (text: string): string => Buffer.from(text).toString("base64");
  const forms: [name: string, write: (text: string) => string][] = [
    ["base64", base64],
    ["base64 without padding", (text) => base64(text).replaceAll("=", "")],
    ["base64url", (text) => Buffer.from(text).toString("base64url")],
    ["base64 with escaped slashes", (text) => base64(text).replaceAll("/", "\\/")],
    ["base64 in an address", (text) => encodeURIComponent(base64(text))],
    ["base64 of JSON", (text) => base64(JSON.stringify({ a: 1, key: text }))],
    ["base64 of base64, from its start", (text) => base64(base64(text))],
    ["base64 of base64 of JSON", (text) => base64(base64(JSON.stringify({ key: text })))],
    ["gzip in base64", (text) => gzipSync(JSON.stringify({ key: text })).toString("base64")],
    ["hex", (text) => Buffer.from(text).toString("hex")],
    ["HEX", (text) => Buffer.from(text).toString("hex").toUpperCase()],
  ];
  const inside = (text: string): string[] => [
    text,
    ...(text.match(/[A-Za-z0-9+/_-]{8,}={0,2}/g) ?? []).flatMap((run) => {
      const bytes = Buffer.from(run, /^[\da-fA-F]+$/.test(run) ? "hex" : "base64");
      return [bytes.toString("latin1"), Buffer.from(bytes.toString("latin1"), "base64").toString("latin1")];
    }),
  ];

  test.each(forms)("%s", (name, write) => {
    // at each place in a group of three bytes, and behind other characters
    for (const lead of name.endsWith("start") ? [""] : ["", "a ", "ab ", "abc ", "ümlaut "]) {
      for (const kind of "abdefghijklmnopqrstuvwxyz") {
        const text = `"x": "${write(`${lead}ph${kind}_${key.slice(4)}`)}"`;
        const after = maskKeys(text);
        expect(after).not.toBe(text);
        expect(inside(after).filter((it) => it.includes(key.slice(4, 16)))).toEqual([]);
        expect(maskKeys(after)).toBe(after);
      }
    }
  });

  test("keep their form where that is possible", () => {
    expect(maskKeys(base64(JSON.stringify({ key, b: "ü" })))).toBe(base64(JSON.stringify({ key: "phx_***", b: "ü" })));
    expect(maskKeys(Buffer.from(key).toString("hex"))).toBe(Buffer.from("phx_***").toString("hex"));
    expect(maskKeys(gzipSync(key).toString("base64"))).toBe("***");
    expect(maskKeys(`/path/x${base64(key)}`)).toBe("***");
  });

  test.each([
    ["a project key", base64("phc_9aB3dE6fG8hJ2kL5mN7pQ1rS4tU")],
    ["a word that ends like one", base64("graphs_created paragraphs_total")],
    ["gzip without a key", gzipSync("nothing").toString("base64")],
    [
      "an image",
      `data:image/png;base64,${Buffer.from(Array.from({ length: 3_000 }, (_, i) => (i * 7919) % 251)).toString("base64")}`,
    ],
    ["what begins like gzip", "H4sIAAAA in a text"],
  ])("%s stays", (_, text) => {
    expect(maskKeys(text)).toBe(text);
  });
});
