import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import type { Exchange } from "../../../../src/lab/tapes/format/exchange.ts";
import { createRedactor } from "../../../../src/lab/tapes/redact/redactor.ts";
import { scanExchange } from "../../../../src/lab/tapes/redact/scan.ts";
import { exchangeWith, leaks } from "./exchanges.ts";

const key = "phx_Zk3vQ7pL0aB9cD2eF4gH6iJ8";
const plain = "correct-horse-7";
const json = (value: unknown): string => JSON.stringify(value);
const base64 = (text: string | Buffer): string => Buffer.from(text).toString("base64");
const escapedKey = key.replace("p", "\\u0070");
const percentKey = key.replace("p", "%70").replace("_", "%5F");
const jwt = `eyJhbGciOiJIUzI1NiJ9.${Buffer.from('{"sub":"1234567890"}').toString("base64url")}.c2lnbmF0dXJl`;
const pem =
  "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\nBKcwggSjAgEAAoIBAQC7\n-----END PRIVATE KEY-----";
const pemBytes = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC";
const aws = "AKIAIOSFODNN7EXAMPLE";
const multipart = (type: string, ...parts: [head: string, content: string][]): string =>
  `${parts.map(([head, content]) => `--xyz\r\nContent-Disposition: form-data; ${head}\r\n${type}\r\n${content}\r\n`).join("")}--xyz--\r\n`;
const multipartType = [["Content-Type", "multipart/form-data; boundary=xyz"]] as const;
const form = [["content-type", "application/x-www-form-urlencoded"]] as const;
const inBody = (value: unknown): Exchange => exchangeWith({ body: { json: JSON.parse(json(value)) } });
const inText = (text: string): Exchange => exchangeWith({ body: { text } });
const inHeader = (name: string, value: string): Exchange => exchangeWith({ headers: [[name, value]] });
const cut = (bytes: Buffer): Buffer => bytes.subarray(0, bytes.length - 12);

const rows: [where: string, secret: string, exchange: Exchange][] = [
  ["Authorization", key, inHeader("Authorization", `Bearer ${key}`)],
  ["authorization without a scheme", plain, inHeader("authorization", plain)],
  ["AUTHORIZATION, basic", base64(`me:${plain}`), inHeader("AUTHORIZATION", `Basic ${base64(`me:${plain}`)}`)],
  ["Proxy-Authorization", plain, inHeader("Proxy-Authorization", `Digest ${plain}`)],
  ["X-Api-Key", plain, inHeader("X-API-Key", plain)],
  ["X-PostHog-Token", plain, inHeader("X-PostHog-Project-Token", plain)],
  ["X-Csrf-Token", plain, inHeader("x-csrf-token", plain)],
  ["a header of any name", key, inHeader("X-Debug", `key is ${key}.`)],
  ["the name of a header", key, inHeader(key, "1")],
  ["Cookie", plain, inHeader("Cookie", `a=1; sessionid=${plain}; b=2`)],
  ["a cookie without a name", plain, inHeader("Cookie", plain)],
  [
    "the second of two cookies",
    plain,
    exchangeWith({
      headers: [
        ["Cookie", "a=1"],
        ["cookie", `s=${plain}`],
      ],
    }),
  ],
  [
    "Set-Cookie",
    plain,
    exchangeWith({
      res: {
        headers: [
          ["Set-Cookie", "a=b; Path=/"],
          ["Set-Cookie", `s=${plain}; HttpOnly`],
        ],
      },
    }),
  ],
  ["Location", plain, exchangeWith({ res: { headers: [["Location", `https://x.test/a?token=${plain}`]] } })],
  ["Referer", plain, inHeader("Referer", `https://me:${plain}@x.test/a`)],
  ["the reason of an answer", key, exchangeWith({ res: { reason: `No ${key}` } })],
  ["a parameter", plain, exchangeWith({ url: `https://x.test/a?personal_api_key=${plain}&b=1` })],
  [
    "a parameter, percent-encoded",
    "a b&c=d/e77",
    exchangeWith({ url: "https://x.test/?password=a%20b%26c%3Dd%2Fe77" }),
  ],
  ["a parameter's name percent-encoded", plain, exchangeWith({ url: `https://x.test/?%74oken=${plain}` })],
  ["a parameter of any name", key, exchangeWith({ url: `https://x.test/?q=${percentKey}` })],
  ["a parameter without a value", key, exchangeWith({ url: `https://x.test/?${key}` })],
  [
    "base64 in a parameter",
    plain,
    exchangeWith({ url: `https://x.test/e/?data=${encodeURIComponent(base64(json({ token: plain })))}` }),
  ],
  ["the fragment", plain, exchangeWith({ url: `https://x.test/#access_token=${plain}` })],
  ["the path", key, exchangeWith({ url: `https://x.test/array/${key}/config.js` })],
  ["the path, percent-encoded", key, exchangeWith({ url: `https://x.test/array/${percentKey}/config.js` })],
  ["a sharing link", "abcdefghijklmnopqrstuvw", exchangeWith({ url: "https://x.test/shared/abcdefghijklmnopqrstuvw" })],
  ["the login of a URL", plain, exchangeWith({ url: `https://me:${plain}@x.test/` })],
  ...[
    "api_key",
    "token",
    "$token",
    "personal_api_key",
    "secret_token",
    "secret_api_key",
    "access_token",
    "live_events_token",
    "password",
    "private_key",
    "private_key_passphrase",
    "aws_secret_access_key",
    "aws_access_key_id",
    "client_email",
    "secretApiToken",
    "API-KEY",
    "refresh_token",
    "csrfmiddlewaretoken",
    "secret_api_token_backup",
    "sharing_access_token",
  ].map((name): [string, string, Exchange] => [`JSON: ${name}`, plain, inBody({ a: [{ [name]: plain }] })]),
  ["a number", "8675309123", inBody({ password: 8675309123 })],
  ["a list", plain, inBody({ secrets: ["x", [plain]] })],
  ["an object", plain, inBody({ credentials: { user: { login: plain } } })],
  [
    "deep JSON",
    plain,
    inBody(Array.from({ length: 100 }).reduce<unknown>((inner) => ({ a: [inner] }), { token: plain })),
  ],
  [
    "JSON deeper than anyone walks",
    plain,
    inBody(Array.from({ length: 300 }).reduce<unknown>((inner) => ({ a: inner }), { token: plain })),
  ],
  ["a key of JSON", key, inBody({ [key]: 1 })],
  ["a name and a value", plain, inBody({ fields: [{ name: "password", value: plain }] })],
  [
    "a destination's user",
    plain,
    inBody({ destination: { type: "Snowflake", config: { user: plain, account: "a" } } }),
  ],
  ["a service account", pemBytes, inBody({ config: { type: "service_account", private_key: pem } })],
  ["a PEM block in prose", pemBytes, inBody({ note: `see: ${pem} ok` })],
  ["a PEM block cut off", pemBytes, inText(`x ${pem.slice(0, 80)}`)],
  ["prose", key, inBody({ note: `call me with ${key}, please` })],
  ["prose: JWT", jwt, inBody({ note: `jwt=${jwt}` })],
  ["prose: AWS", aws, inBody({ note: `${aws}/x` })],
  ["prose: Bearer", plain, inBody({ note: `curl -H 'Authorization: Bearer ${plain}'` })],
  ["prose: a database", plain, inBody({ note: `postgres://me:${plain}@db.test/x` })],
  [
    "prose: GitHub, Slack, Stripe",
    "xoxb-12345678901-abc",
    inBody({ a: "ghp_abcdefghijklmnopqrstuvwxyz0123456789 xoxb-12345678901-abc" }),
  ],
  ["a URL in a value", plain, inBody({ $current_url: `https://x.test/?a=1&access_token=${plain}` })],
  ["JSON in a string", plain, inBody({ a: json({ b: json({ token: plain }) }) })],
  ["JSON in a string, cut off", plain, inBody({ a: `{"b":1,"token":"${plain}","c":` })],
  ["escaped JSON in broken JSON", plain, inText(`{"a": "{\\"token\\": \\"${plain}\\", \\"b\\": 1}", `)],
  ["a key that comes twice", plain, inText(`{"token":"${plain}","n":12345678901234567890,"token":"x"}`)],
  ["lossy numbers beside it", plain, inText(`{"n":12345678901234567890,"token":"${plain}"}`)],
  ["a line of many", plain, inText(`{"a":1}\n{"token":["${plain}"]}\n`)],
  ["unicode escapes in broken JSON", key, inText(`{"a":"${escapedKey}", `)],
  ["unicode escapes in a string", key, inBody({ a: escapedKey })],
  [
    "unicode escapes of a string in JSON in prose",
    key,
    inText(`well, ${json({ a: [key.replace(/[a-z]/g, (it) => `\\u00${it.charCodeAt(0).toString(16)}`)] })} is it`),
  ],
  ["an escaped name in broken JSON", plain, inText(`{"\\u0074oken":"${plain}",`)],
  ["single quotes", plain, inText(`{'password': '${plain}', 'a': 1}`)],
  ["a header in text", plain, inText(`GET / HTTP/1.1\nX-Api-Key: ${plain}\n`)],
  ["a form", plain, exchangeWith({ headers: form, body: { text: `a=1&password=${encodeURIComponent(plain)}&b=2` } })],
  ["a form with brackets", plain, exchangeWith({ headers: form, body: { text: `config%5Bpassword%5D=${plain}` } })],
  [
    "JSON in a form",
    plain,
    exchangeWith({ headers: form, body: { text: `payload=${encodeURIComponent(json({ token: plain }))}` } }),
  ],
  [
    "base64 in a form",
    plain,
    exchangeWith({ headers: form, body: { text: `data=${encodeURIComponent(base64(json({ token: plain })))}` } }),
  ],
  ["base64", plain, inBody({ a: base64(json({ token: plain })) })],
  ["base64 without padding", plain, inBody({ a: Buffer.from(json({ token: plain })).toString("base64url") })],
  ["base64 of prose", key, inBody({ a: `x ${base64(`my key: ${key}`)} y` })],
  ["base64 behind a path", key, inBody({ a: `/some/path/${base64(`key: ${key}`)}` })],
  ["base64 behind one letter", key, inBody({ a: `x${base64(`key: ${key}`)}` })],
  ["base64 behind two", key, inBody({ a: `xy${base64(`key: ${key}`)}` })],
  [
    "base64 in lines",
    key,
    inText(base64(`${"filler ".repeat(20)}${key}${" filler".repeat(20)}`).replace(/.{76}/g, "$&\r\n")),
  ],
  ["base64 of base64", key, inBody({ a: base64(base64(key)) })],
  ["hex", key, inBody({ a: Buffer.from(key).toString("hex") })],
  ["gzip in base64", plain, inBody({ a: base64(gzipSync(json({ token: plain }))) })],
  ["gzip as characters", plain, inBody({ a: gzipSync(json({ token: plain })).toString("latin1") })],
  ["gzip", plain, exchangeWith({ body: { b64: base64(gzipSync(json({ token: plain }))) } })],
  ["gzip in gzip", plain, exchangeWith({ body: { b64: base64(gzipSync(gzipSync(json({ token: plain })))) } })],
  ["gzip cut off", plain, exchangeWith({ body: { b64: base64(cut(gzipSync(json({ token: plain, filler: "x" })))) } })],
  [
    "bytes around it",
    key,
    exchangeWith({
      body: { b64: base64(Buffer.concat([Buffer.from([0, 255, 254, 1]), Buffer.from(key), Buffer.from([0, 200])])) },
    }),
  ],
  [
    "UTF-16",
    key,
    exchangeWith({ body: { b64: base64(Buffer.concat([Buffer.from([255, 254]), Buffer.from(key, "utf16le")])) } }),
  ],
  [
    "multipart: a field",
    plain,
    exchangeWith({ headers: multipartType, body: { text: multipart("", ['name="password"', plain]) } }),
  ],
  [
    "multipart: JSON",
    plain,
    exchangeWith({
      headers: multipartType,
      body: { text: multipart("Content-Type: application/json\r\n", ['name="event"', json({ token: plain })]) },
    }),
  ],
  [
    "multipart: a file name",
    key,
    exchangeWith({ headers: multipartType, body: { text: multipart("", [`name="a"; filename="${key}"`, "1"]) } }),
  ],
  [
    "multipart: cut off",
    plain,
    exchangeWith({ headers: multipartType, body: { text: multipart("", ['name="token"', plain]).slice(0, -9) } }),
  ],
  [
    "multipart: gzip",
    plain,
    exchangeWith({
      headers: multipartType,
      body: {
        b64: base64(
          Buffer.from(
            multipart("Content-Encoding: gzip\r\n", [
              'name="blob"',
              gzipSync(json({ token: plain })).toString("latin1"),
            ]),
            "latin1",
          ),
        ),
      },
    }),
  ],
  ["an answer's JSON", plain, exchangeWith({ res: { body: { json: { results: [{ live_events_token: plain }] } } } })],
  [
    "an answer's script",
    key,
    exchangeWith({ res: { headers: [["Content-Type", "application/javascript"]], body: { text: `init("${key}")` } } }),
  ],
  [
    "a known secret without a name",
    plain,
    exchangeWith({ headers: [["X-Api-Key", plain]], body: { json: { note: `it is ${plain}!` } } }),
  ],
  [
    "a secret that is named later",
    plain,
    exchangeWith({ url: `https://x.test/${plain}`, res: { body: { json: { token: plain } } } }),
  ],
];

describe("secrets wherever they hide", () => {
  test.each(rows)("%s", (_, secret, exchange) => {
    expect(leaks(exchange, secret) || JSON.stringify(exchange).includes("b64")).toBe(true);
    const safe = createRedactor().redact(exchange);
    expect(leaks(safe, secret)).toBe(false);
    expect(safe.redacted.length + Number(JSON.stringify(safe).includes('"omitted":"redacted"'))).toBeGreaterThan(0);
    // What the redactor leaves, the detector finds harmless; what it took, the detector would have found.
    expect(scanExchange(safe)).toEqual([]);
    expect(createRedactor().redact(safe).req).toEqual(safe.req);
  });

  test.each(rows.slice(0, -2))("the scan finds: %s", (_, __, exchange) => {
    expect(scanExchange(exchange)).not.toEqual([]);
  });
});

const event = {
  event: "$pageview",
  distinct_id: "0192a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b",
  uuid: "0192a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b",
  properties: {
    $session_id: "0192a1b2c3d47e5f8a9b0c1d2e3f4a5b",
    $lib: "web",
    $lib_rate_limit_remaining_tokens: 99,
    $ai_input_tokens: 1234,
    max_tokens: 100,
    token_type: "bearer",
    $current_url: "https://example.com/docs/authentication/bearer-tokens?page=2#basic",
    $cookieless_mode: false,
    has_password: true,
    password_required: false,
    note: "Basic information about bearer authentication",
    sha: "da39a3ee5e6b4b0d3255bfef95601890afd80709",
    sha256: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    php_version: "8.2",
    phase: "ph_alpha",
    id: "12345678901234567890",
    base64_image: `data:image/png;base64,${Buffer.from(Array.from({ length: 90 }, (_, i) => (i * 37) % 256)).toString("base64")}`,
    $feature_flags: ["new-password-page", "api-key-rotation"],
    "$feature/new-password-page": "variant-long-name",
    featureFlags: { "new-password-page": "variant-long-name", "secret-sale": true },
    flags: { "new-password-page": { key: "new-password-page", enabled: true, variant: "long-name" } },
    featureFlagPayloads: { "api-key-page": '{"a":1}' },
    time: "2026-01-01T00:00:00.000Z",
    ids: [1, 2.5, -0.25, 9007199254740991],
    nothing: null,
    masked: { password: "***", token: "", api_key: null },
    path: "/api/projects/1/dashboards/some-very-long-path-segment-of-words/",
    constructor: 1,
  },
};

const harmless: [what: string, exchange: Exchange][] = [
  ["an event", inBody(event)],
  ["an event in a string", inBody({ data: json(event) })],
  ["an event in base64", inBody({ data: base64(json(event)) })],
  ["events as text with odd spaces", inText(` {"a" : 1.0, "n": 12345678901234567890}\n`)],
  [
    "ordinary headers",
    exchangeWith({
      headers: [
        ["Host", "us.i.posthog.com"],
        ["Access-Control-Allow-Credentials", "true"],
        ["Access-Control-Allow-Headers", "authorization, x-csrf-token"],
        ["User-Agent", "posthog-node/5.70.0"],
        ["ETag", 'W/"68b329da9893e34099c7d8ad5cb9c940"'],
        ["Vary", "Cookie, Authorization"],
        ["Date", "Thu, 01 Jan 2026 00:00:00 GMT"],
        ["Set-Cookie", "a=; Max-Age=0"],
      ],
    }),
  ],
  [
    "an ordinary URL",
    exchangeWith({
      url: "https://us.i.posthog.com/i/v0/e/?ip=1&_=1767225600000&ver=1.449.2&compression=gzip-js&q=a%20b+c&x",
    }),
  ],
  [
    "a script with fields",
    exchangeWith({
      res: {
        headers: [["content-type", "text/javascript"]],
        body: { text: 'var a={token:"",password:"x"};b.token="config";c="%41%42"' },
      },
    }),
  ],
  [
    "a picture",
    exchangeWith({
      res: {
        headers: [["content-type", "image/png"]],
        body: { b64: base64(Buffer.from([137, 80, 78, 71, 13, 10, 26, 10])) },
      },
    }),
  ],
  [
    "bytes",
    exchangeWith({
      body: { b64: base64(Buffer.from(Array.from({ length: 999 }, (_, i) => (i * 73 + (i >> 3)) % 256))) },
    }),
  ],
  ["gzip without secrets", exchangeWith({ body: { b64: base64(gzipSync(json(event))) } })],
  ["a body that was left out", exchangeWith({ body: { omitted: "too_large", bytes: 9 } })],
];

describe("no false alarms", () => {
  test.each(harmless)("%s", (_, exchange) => {
    expect(createRedactor().redact(exchange)).toEqual(exchange);
    expect(scanExchange(exchange)).toEqual([]);
  });
});
