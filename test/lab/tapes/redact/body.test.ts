import { deflateSync, gunzipSync, gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import type { HeaderPairs, TapeBody } from "../../../../src/lab/tapes/format/exchange.ts";
import { createRedactor } from "../../../../src/lab/tapes/redact/redactor.ts";
import { exchangeWith } from "./exchanges.ts";

const key = "phx_Zk3vQ7pL0aB9cD2eF4gH6iJ8";
const placeholder = "{{secret:personal_api_key#1}}";
const field = '{"password": "correct-horse-7", ';
const safeField = '{"password": "{{secret:password#1}}", ';

const type = (value: string): HeaderPairs => [["Content-Type", value]];
const inBase64 = (...parts: (Buffer | string)[]): TapeBody => ({
  b64: Buffer.concat(parts.map((it) => Buffer.from(it))).toString("base64"),
});
const bytesOf = (body: TapeBody | undefined): Buffer =>
  Buffer.from(body !== undefined && "b64" in body ? body.b64 : "", "base64");

interface Around {
  headers?: HeaderPairs;
  encodings?: string[];
  url?: string;
}
const asked = (body: TapeBody, around: Around = {}): TapeBody | undefined =>
  createRedactor().redact(exchangeWith({ body, ...around })).req.body;
const answered = (body: TapeBody, { url, ...around }: Around = {}): TapeBody | undefined =>
  createRedactor().redact(exchangeWith({ ...(url !== undefined && { url }), res: { body, ...around } })).res?.body;
const omitted = (bytes: number): TapeBody => ({ omitted: "redacted", bytes });

describe("an answer that is code", () => {
  const code =
    "application/javascript text/ecmascript text/css text/html application/xml image/svg+xml application/wasm TEXT/HTML";
  test.each(code.split(" "))("of type %s has no fields, but keys", (it) => {
    for (const value of [it, `${it}; charset=utf-8`]) {
      expect(answered({ text: `${field} ${key}` }, { headers: type(value) })).toEqual({
        text: `${field} ${placeholder}`,
      });
    }
  });

  test.each(["text/plain", "application/json", "text/xmlish", "text/axml", ""])("not one of type %j", (it) => {
    expect(answered({ text: field }, { headers: type(it) })).toEqual({ text: safeField });
    expect(answered({ text: field })).toEqual({ text: safeField });
  });

  test("not a request", () => {
    expect(asked({ text: field }, { headers: type("text/html") })).toEqual({ text: safeField });
  });
});

describe("an answer that is a picture or the like", () => {
  const body = inBase64(Buffer.from([137, 255]), key);
  test.each(["image/png", "font/woff2", "audio/mpeg", "video/mp4", "IMAGE/PNG"])("of type %s stays", (it) => {
    expect(answered(body, { headers: type(it) })).toEqual(body);
    for (const lead of [
      [0x1f, 0xff],
      [0xff, 0x8b],
      [0x8b, 0x1f],
    ]) {
      const bytes = inBase64(Buffer.from(lead), key);
      expect(answered(bytes, { headers: type(it) })).toEqual(bytes);
    }
    expect(asked(body, { headers: type(it) })).toEqual(omitted(30));
  });

  test.each(["image/svg+xml", "x-image/png", "application/octet-stream", "text/image/png"])(
    "not one of type %s",
    (it) => {
      expect(answered(body, { headers: type(it) })).toEqual(omitted(30));
    },
  );

  test("not one that is compressed", () => {
    const safe = answered(inBase64(gzipSync(`the key ${key}`)), { headers: type("image/png") });
    expect(gunzipSync(bytesOf(safe)).toString()).toBe(`the key ${placeholder}`);
  });
});

describe("a body that says it is compressed, and is not unpacked", () => {
  const bytes = inBase64(Buffer.from([200, 201]));
  const text: TapeBody = { text: "words" };
  const encoding = (value: string): HeaderPairs => [["content-Encoding", value]];
  const all = "gzip br deflate zstd compress lz64 lz-string BR LZ64 x-gzip";

  test.each(all.split(" "))("%s", (it) => {
    expect(asked(bytes, { headers: encoding(it) })).toEqual(omitted(1));
    expect(answered(bytes, { headers: encoding(it) })).toEqual(omitted(1));
    expect(asked(bytes, { url: `https://x.test/?a=1&compression=${it}` })).toEqual(omitted(1));
    // The parameter is about the request.
    expect(answered(bytes, { url: `https://x.test/?compression=${it}` })).toEqual(bytes);
    expect(asked(bytes, { headers: encoding(it), encodings: ["form", it] })).toEqual(bytes);
    expect(asked(bytes, { headers: encoding(it), encodings: ["form"] })).toEqual(omitted(1));
  });

  test.each(all.split(" "))("a text is packed by some only: %s", (it) => {
    const after = /lz/i.test(it) ? omitted(1) : text;
    expect(asked(text, { headers: encoding(it) })).toEqual(after);
    expect(asked(text, { url: `https://x.test/?compression=${it}` })).toEqual(after);
  });

  test("another encoding", () => {
    expect(asked(bytes, { headers: encoding("identity") })).toEqual(bytes);
    expect(asked(bytes)).toEqual(bytes);
  });
});

describe("a body in parts", () => {
  const disposition = (it: string): string => `Content-Disposition: form-data; ${it}`;
  const part = (head: string, content: string, end = "\r\n"): string =>
    `${end}${disposition(head)}${end}${end}${content}${end}`;
  const joined = (boundary: string, ...parts: string[]): string =>
    `--${boundary}${parts.join(`--${boundary}`)}--${boundary}--\r\n`;
  const redacted = (text: string, contentType = "multipart/form-data; boundary=xyz") => {
    const { req, redacted: paths } = createRedactor().redact(
      exchangeWith({ headers: type(contentType), body: { text } }),
    );
    return { text: req.body !== undefined && "text" in req.body ? req.body.text : "", paths };
  };
  const secret = part('name="password"', "one--two");
  const safe = part('name="password"', "{{secret:password#1}}");

  test.each<[what: string, head: string, path: string | undefined]>([
    ["a name", 'name="password"', "password"],
    ["a name with a space", 'name="my password"', "my password"],
    ["a name without quotes", "name=password", "password"],
    ["a name without quotes before more", "name=password; a=b", "password"],
    ["a name in capitals", 'NAME="password"', "password"],
    ["a name in capitals without quotes", "NAME=password", "password"],
    ["a file's name", 'filename="password"; name="a"', undefined],
    ["a file's name without quotes", "filename=password; name=a", undefined],
    ["no name", "a", undefined],
  ])("%s", (_, head, path) => {
    for (const end of ["\r\n", "\n"]) {
      const { text, paths } = redacted(joined("xyz", part(head, `horse${end}s`, end), part('name="b"', "1")));
      const content = path === undefined ? `horse${end}s` : `{{secret:${path.replace(" ", "_")}#1}}`;
      expect(text).toBe(joined("xyz", part(head, content, end), part('name="b"', "1")));
      expect(paths).toEqual(path === undefined ? [] : [`req.body.${path}`]);
    }
  });

  test("a name that is a secret is in no place", () => {
    const { text, paths } = redacted(joined("xyz", part(`name="${key}"`, key)));
    expect(JSON.stringify([text, paths])).not.toContain(key);
  });

  test("the place of a part without a name", () => {
    expect(redacted(joined("xyz", part("a", key))).paths).toEqual(["req.body.part"]);
    expect(redacted(joined("xyz", part(`a; x="${key}"`, "1"))).paths).toEqual(["req.body.part"]);
  });

  test.each<[contentType: string, boundary: string]>([
    ["multipart/form-data; boundary=x", "x"],
    ['multipart/mixed;boundary="x y"', "x y"],
    ['multipart/mixed; boundary="x"', "x"],
    ["Multipart/Form-Data; charset=utf-8;  Boundary=xyz; a=b", "xyz"],
    [`multipart/form-data; boundary=${"x".repeat(200)}`, "x".repeat(200)],
    [`multipart/form-data; boundary="${"x".repeat(200)}"`, "x".repeat(200)],
  ])("%s", (contentType, boundary) => {
    for (const more of [part('name="a"', "1"), part('name="a"', "1", "\n")]) {
      for (const lead of ["", "see\r\n"]) {
        const text = lead + joined(boundary, more, secret);
        expect(redacted(text, contentType).text).toBe(lead + joined(boundary, more, safe));
      }
    }
  });

  test.each<[contentType: string, boundary: string]>([
    ["multipart/form-data", "x"],
    ["multipart/form-data", "x y"],
    ["multipart/form-data", "undefined"],
    ["multipart/form-data", "x".repeat(200)],
    ["multipart/form-data; boundary=", "x"],
    ['multipart/mixed; boundary=""', "x"],
    ["multipart/form-data; boundary=other", "xyz"],
    ['multipart/form-data; boundary="other"', "xyz"],
  ])("%s, where the body begins with --%s", (contentType, boundary) => {
    for (const more of [part('name="a"', "1"), part('name="a"', "1", "\n")]) {
      expect(redacted(joined(boundary, more, secret), contentType).text).toBe(joined(boundary, more, safe));
    }
  });

  test.each<[contentType: string, text: string]>([
    ["x-multipart/form-data; boundary=xyz", joined("xyz", secret)],
    ["text/plain; boundary=xyz", joined("xyz", secret)],
    ["multipart/form-data", `see ${joined("xyz", secret)}`],
    ["multipart/form-data", joined("x".repeat(201), secret)],
  ])("none: %s", (contentType, text) => {
    expect(redacted(text, contentType).text).toBe(text);
  });

  test("what stands around the parts, or has no parts at all", () => {
    const parts = joined("xyz", part('name="a"', "1"));
    const { text, paths } = redacted(`see ${key}\r\n${parts}bye ${key}`);
    expect(text).toBe(`see ${placeholder}\r\n${parts}bye ${placeholder}`);
    expect(paths).toEqual(["req.body"]);
    expect(redacted(field).text).toBe(safeField);
    expect(redacted('--\r\n{"password":"one--two"', "multipart/mixed").text).toBe(
      '--\r\n{"password":"{{secret:password#1}}"',
    );
    expect(redacted(`--xyz\r\n${disposition(`filename="${key}`)}`).text).toBe(
      `--xyz\r\n${disposition(`filename="${placeholder}`)}`,
    );
  });

  test("characters of several bytes", () => {
    const { text } = redacted(joined("xyz", part('name="ä"', `ö ${key} ü`), part('name="ß_password"', "ñ")));
    expect(text).toBe(
      joined("xyz", part('name="ä"', `ö ${placeholder} ü`), part('name="ß_password"', "{{secret:password#1}}")),
    );
  });

  const inBytes = (text: string): TapeBody | undefined =>
    asked({ b64: Buffer.from(text, "latin1").toString("base64") }, { headers: type("multipart/mixed; boundary=xyz") });

  test("bytes stay bytes", () => {
    const binary = part('name="a"; filename="\xe4"', "\xff\x00\x01");
    const text = joined("xyz", binary, secret);
    expect(bytesOf(inBytes(text)).toString("latin1")).toBe(joined("xyz", binary, safe));
    expect(bytesOf(inBytes(joined("xyz", binary))).toString("latin1")).toBe(joined("xyz", binary));
  });

  test.each([
    joined("xyz", part('name="a"', "1"), part('name="b"', `\xff ${key}`)),
    joined("xyz", part(`name="a"; filename="\xff${key}"`, "1"), part('name="b"', "1")),
    joined("xyz", part(`name="password"; filename="\xff${key}"`, "1"), part('name="b"', "1")),
    `\xff${key}\r\n${joined("xyz", part('name="a"', "1"))}`,
  ])("bytes that hold a secret, row %$", (text) => {
    expect(inBytes(text)).toEqual(omitted(text.length));
  });

  test("a part that is compressed", () => {
    const packed = gzipSync(`the key ${key}`).toString("latin1");
    const [, content = ""] =
      /\r\n\r\n(.*)\r\n--xyz--\r\n$/s.exec(
        bytesOf(inBytes(joined("xyz", part('name="a"', packed)))).toString("latin1"),
      ) ?? [];
    expect(gunzipSync(Buffer.from(content, "latin1")).toString()).toBe(`the key ${placeholder}`);
  });
});

describe("bytes", () => {
  test("compressed ones are compressed again, if something was found in them", () => {
    const text = "words ".repeat(99);
    for (const bytes of [gzipSync(text, { level: 1 }), deflateSync(text, { level: 1 })]) {
      expect(asked(inBase64(bytes))).toEqual(inBase64(bytes));
    }
    expect(gunzipSync(bytesOf(asked(inBase64(gzipSync(text + key))))).toString()).toBe(text + placeholder);
    expect(asked(inBase64(gzipSync("\x01 words")))).toEqual(inBase64(gzipSync("\x01 words")));
  });

  test("that are a text with control characters", () => {
    expect(asked(inBase64(`\x01 ö ${key}`))).toEqual(inBase64(`\x01 ö ${placeholder}`));
    expect(asked(inBase64("\x01"))).toEqual(inBase64("\x01"));
  });

  test("of UTF-16, in either order", () => {
    const bom = "\ufeff";
    const little = (text: string): Buffer => Buffer.from(text, "utf16le");
    const big = (text: string): Buffer => little(text).swap16();
    for (const order of [little, big]) {
      expect(asked(inBase64(order(`the key ${key}`)))).toEqual(inBase64(order(`the key ${placeholder}`)));
      expect(asked({ text: order(field).toString() })).toEqual({ text: order(safeField).toString() });
      expect(asked({ json: { a: order(key).toString("base64") } })).toEqual({ json: { a: "{{secret:encoded#1}}" } });
      expect(asked(inBase64(order(`${bom}${key}`)))).toEqual(omitted(2 * key.length + 2));
      expect(asked(inBase64(order(`${bom}{"password":"тайна"}`)))).toEqual(omitted(42));
      expect(asked(inBase64(order(`${bom}{"colour":"тайна"}`)))).toEqual(inBase64(order(`${bom}{"colour":"тайна"}`)));
      const packed = bytesOf(asked(inBase64(gzipSync(order(`${bom}the key ${key}`)))));
      expect(gunzipSync(packed)).toEqual(order(`${bom}the key ${placeholder}`));
    }
  });
});

test.each<TapeBody>([
  { file: "a.tape.d/1", bytes: 9 },
  { omitted: "too_large", bytes: 9 },
])("what is not in the tape stays: %j", (body) => {
  expect(asked(body, { headers: [["Content-Encoding", "br"]] })).toEqual(body);
});

test("the client's name and the reason of a response are searched, too", () => {
  const { client, res } = createRedactor().redact({ ...exchangeWith({ res: { reason: `no ${key}` } }), client: key });
  expect([client, res?.reason]).toEqual([placeholder, `no ${placeholder}`]);
});
