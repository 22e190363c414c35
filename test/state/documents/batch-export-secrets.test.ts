import { expect, test } from "vitest";
import type { JsonObject } from "../../../src/kernel/base/json.ts";
import { isSecretKey, maskSecrets } from "../../../src/state/documents/batch-export-secrets.ts";

test.each<[string, JsonObject, JsonObject]>([
  [
    "S3",
    { bucket_name: "b", aws_access_key_id: "1", aws_secret_access_key: "2", kms_key_id: "k" },
    { bucket_name: "b", aws_access_key_id: "***", aws_secret_access_key: "***", kms_key_id: "k" },
  ],
  [
    "Snowflake",
    { account: "a", user: "u", password: "p", private_key: null, private_key_passphrase: "x" },
    { account: "a", user: "***", password: "***", private_key: null, private_key_passphrase: "***" },
  ],
  ["Postgres", { user: "u", password: "p", port: 5432 }, { user: "***", password: "***", port: 5432 }],
  [
    "Redshift",
    { password: "p", copy_inputs: { bucket: "b", auth: [{ aws_secret_access_key: "s" }] } },
    { password: "***", copy_inputs: { bucket: "b", auth: [{ aws_secret_access_key: "***" }] } },
  ],
  [
    "BigQuery",
    { project_id: "p", private_key: "k", private_key_id: "i", token_uri: "t", client_email: "c" },
    { project_id: "p", private_key: "***", private_key_id: "***", token_uri: "***", client_email: "***" },
  ],
  ["HTTP", { url: "http://x", token: "t" }, { url: "http://x", token: "***" }],
  ["NoOp", { arg: "" }, { arg: "" }],
  [
    "Databricks",
    { host: "h", Access_Token: "t", client_secret: { id: 1 }, user: "u", api_access_key: 5 },
    { host: "h", Access_Token: "***", client_secret: "***", user: "u", api_access_key: "***" },
  ],
  ["constructor", { password: "p", user: "u" }, { password: "***", user: "u" }],
])("%s", (type, config, expected) => {
  const destination = Object.freeze({ type, config });
  expect(maskSecrets(destination)).toEqual({ type, config: expected });
  expect(maskSecrets(maskSecrets(destination))).toEqual(maskSecrets(destination));
});

test("hostile keys stay keys", () => {
  const config = JSON.parse('{"__proto__": {"password": "p"}}');
  const masked = maskSecrets({ type: "?", config }).config;
  expect(JSON.stringify(masked)).toBe('{"__proto__":{"password":"***"}}');
});

test.each([
  ["S3", "prefix", false],
  ["S3", "password", false],
  ["HTTP", "token", true],
  ["Other", "token", true],
  ["Other", "prefix", false],
])("%s %s", (type, key, secret) => {
  expect(isSecretKey(type, key)).toBe(secret);
});
