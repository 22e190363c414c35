import { gunzipSync, inflateSync } from "node:zlib";
import type { Exchange, HeaderPairs, TapeBody } from "../../../../src/lab/tapes/format/exchange.ts";

interface Given {
  url?: string;
  headers?: HeaderPairs;
  body?: TapeBody;
  encodings?: readonly string[];
  res?: { headers?: HeaderPairs; body?: TapeBody; reason?: string; encodings?: readonly string[] };
}

/** An exchange with what a test is about, and nothing else. */
export const exchangeWith = ({
  url = "https://us.i.posthog.com/e/",
  headers = [],
  body,
  encodings = [],
  res = {},
}: Given): Exchange => ({
  i: 1,
  at: "2026-01-01T00:00:00.000Z",
  route: "capture",
  req: { method: "POST", url, http: "1.1", headers, wire: { bytes: 1, encodings }, ...(body && { body }) },
  res: {
    status: 200,
    reason: res.reason ?? "OK",
    http: "1.1",
    headers: res.headers ?? [],
    wire: { bytes: 1, encodings: res.encodings ?? [] },
    ...(res.body && { body: res.body }),
    ttfb: 1,
    total: 1,
  },
  complete: true,
  redacted: [],
});

const unpack = (bytes: Buffer): Buffer => {
  try {
    return bytes[0] === 0x1f ? gunzipSync(bytes) : bytes[0] === 0x78 ? inflateSync(bytes) : bytes;
  } catch {
    return bytes;
  }
};

const strings = (value: unknown): string[] =>
  typeof value === "string"
    ? [value]
    : typeof value === "object" && value !== null
      ? Object.entries(value).flatMap(([key, it]) => [key, ...strings(it)])
      : [];

/** The strings of a value, and whatever base64 or gzip in them comes to, three layers deep: our own way, not the redactor's. */
const opened = (texts: string[], layers = 3): string[] => {
  if (layers === 0) return texts;
  const char = (_: string, digits: string): string => String.fromCharCode(Number.parseInt(digits, 16));
  const inner = texts.flatMap((text) => [
    text.replace(/\\+u00([\da-fA-F]{2})/g, char),
    text.replace(/\\u00([\da-fA-F]{2})/g, char),
    text.replace(/%([\da-fA-F]{2})/g, char),
    unpack(Buffer.from(text, "latin1")).toString("latin1"),
    ...(text.match(/[A-Za-z0-9+/_-]{12,}/g) ?? []).map((it) => unpack(Buffer.from(it, "base64")).toString("latin1")),
    ...(text.match(/[\da-f]{12,}/g) ?? []).map((it) => Buffer.from(it, "hex").toString("latin1")),
  ]);
  return [
    ...texts,
    ...opened(
      inner.filter((it) => !texts.includes(it)),
      layers - 1,
    ),
  ];
};

/** Base64 of a text that stands at 0, 1 or 2 bytes into something: the digits that do not depend on what is around it. */
const base64Forms = (secret: string): string[] =>
  [0, 1, 2].map((at) => {
    const digits = Buffer.concat([Buffer.alloc(at), Buffer.from(secret)]).toString("base64");
    const first = Math.ceil((at * 8) / 6);
    const last = Math.floor(((at + secret.length) * 8) / 6);
    return digits.slice(first, last);
  });

const percent = (text: string): string =>
  [...Buffer.from(text)].map((it) => `%${it.toString(16).padStart(2, "0")}`).join("");
const unicode = (text: string): string =>
  [...text].map((it) => `\\u${it.charCodeAt(0).toString(16).padStart(4, "0")}`).join("");

/** What a grep looks for: the secret as it is, and as it may be written. */
const formsOf = (secret: string): string[] => [
  secret,
  JSON.stringify(secret).slice(1, -1),
  encodeURIComponent(secret),
  ...base64Forms(secret),
  ...base64Forms(secret).map((it) => it.replaceAll("+", "-").replaceAll("/", "_")),
  Buffer.from(secret).toString("hex"),
  percent(secret),
  percent(secret).toUpperCase(),
  unicode(secret),
  unicode(secret.slice(0, 1)) + secret.slice(1),
];

/** A grep in what would be written: does a secret stand anywhere in it? */
export function grep(written: unknown): (secret: string) => boolean {
  const bodies = opened(strings(written));
  const heap = [JSON.stringify(written), ...bodies].join("\n").toLowerCase();
  return (secret) => {
    const utf16 = Buffer.from(secret, "utf16le").toString("latin1").toLowerCase();
    return [...formsOf(secret), utf16].some((form) => heap.includes(form.toLowerCase()));
  };
}

/** Does the secret stand anywhere in what would be written? */
export const leaks = (written: unknown, secret: string): boolean => grep(written)(secret);
