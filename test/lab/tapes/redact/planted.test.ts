import { deflateSync, gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import type { Json } from "../../../../src/kernel/base/json.ts";
import { createRedactor } from "../../../../src/lab/tapes/redact/redactor.ts";
import { scanExchange } from "../../../../src/lab/tapes/redact/scan.ts";
import { fc } from "../../../support/chance.ts";
import { exchangeWith, leaks } from "./exchanges.ts";

const wraps: Record<string, (text: string) => string> = {
  plain: (text) => text,
  json: (text) => JSON.stringify({ a: [text] }),
  jsonText: (text) => JSON.stringify(text),
  base64: (text) => Buffer.from(text).toString("base64"),
  base64url: (text) => Buffer.from(text).toString("base64url"),
  gzip: (text) => gzipSync(text).toString("base64"),
  deflate: (text) => deflateSync(text).toString("base64"),
  hex: (text) => Buffer.from(text).toString("hex"),
  percent: (text) => encodeURIComponent(text),
  form: (text) => `a=1&data=${encodeURIComponent(text)}&b=2`,
  prose: (text) => `well, ${text} - that is it`,
  unicode: (text) => text.replace(/[a-z]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`),
};

const alphanumeric = [..."abcdefghijkmnopqrstuvwxyzABCDEFGHIJKLMNPQRSTUVWXYZ23456789"];
const secret = fc
  .tuple(
    fc.constantFrom("phx_", "phs_", "pha_"),
    fc.array(fc.constantFrom(...alphanumeric), { minLength: 24, maxLength: 43 }),
  )
  .map(([lead, chars]) => lead + chars.join(""));

/** A document with the text instead of one of its leaves. */
function plant(document: Json, text: string, path: readonly number[]): Json {
  const [at, ...rest] = path;
  if (at === undefined || typeof document !== "object" || document === null) return text;
  const entries = Object.entries(document);
  if (entries.length === 0) return text;
  const [key = "", value = null] = entries[at % entries.length] ?? [];
  const planted = plant(value, text, rest);
  if (Array.isArray(document)) return document.map((it, i) => (String(i) === key ? planted : it));
  return Object.fromEntries(entries.map(([name, it]) => [name, name === key ? planted : it]));
}

describe("planted keys", () => {
  test("none survives, wherever it is and whatever it is wrapped in", () => {
    fc.assert(
      fc.property(
        fc.jsonValue({ maxDepth: 4 }),
        secret,
        fc.uniqueArray(fc.constantFrom(...Object.keys(wraps)), { maxLength: 3 }),
        fc.array(fc.nat(20), { maxLength: 5 }),
        fc.boolean(),
        (document, key, layers, path, asText) => {
          const hidden = layers.reduce((text, layer) => wraps[layer]?.(text) ?? text, key);
          const planted = plant(JSON.parse(JSON.stringify(document)), hidden, path);
          const body = asText ? { text: JSON.stringify(planted) } : { json: planted };
          const exchange = exchangeWith({ body, res: { body } });
          const safe = createRedactor().redact(exchange);
          expect(leaks(safe, key)).toBe(false);
          expect(safe.redacted.length).toBeGreaterThan(0);
          expect(scanExchange(exchange)).not.toEqual([]);
          expect(scanExchange(safe)).toEqual([]);
        },
      ),
      { numRuns: 300 },
    );
  });

  test("a document without secrets stays as it is", () => {
    const word = fc.constantFrom("event", "properties", "$lib", "id", "results", "__proto__", "constructor", "count");
    const leaf = fc.oneof(fc.uuid(), fc.double({ noNaN: true }), fc.integer(), fc.boolean(), fc.lorem(), fc.webUrl());
    const { document } = fc.letrec<{ document: unknown }>((tie) => ({
      document: fc.oneof(
        { depthSize: "small" },
        leaf,
        fc.array(tie("document"), { maxLength: 4 }),
        fc.array(fc.tuple(word, tie("document")), { maxLength: 4 }).map((it) => Object.fromEntries(it)),
      ),
    }));
    fc.assert(
      fc.property(document, (value) => {
        const exchange = exchangeWith({ body: { json: JSON.parse(JSON.stringify(value)) } });
        expect(JSON.stringify(createRedactor().redact(exchange))).toBe(JSON.stringify(exchange));
      }),
      { numRuns: 200 },
    );
  });

  test("any bytes get an answer", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.string({ maxLength: 80 }), (bytes, type) => {
        const b64 = Buffer.from(bytes).toString("base64");
        const exchange = exchangeWith({ headers: [["content-type", type]], body: { b64 } });
        const { body } = createRedactor().redact(exchange).req;
        expect([b64, undefined]).toContain(body && "b64" in body ? body.b64 : undefined);
      }),
      { numRuns: 200 },
    );
  });
});
