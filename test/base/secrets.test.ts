import { describe, expect, test } from "vitest";
import { maskKeys, maskSecretFields } from "../../src/base/secrets.ts";

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
  ])("%s", (text, expected) => expect(maskKeys(text)).toBe(expected));
});
