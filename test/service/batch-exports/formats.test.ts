import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { parquetMetadata, parquetReadObjects } from "hyparquet";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/kernel/base/json.ts";
import type { StoredEvent } from "../../../src/state/journal/event.ts";
import { uuidFor } from "../../support/documents.ts";
import { anEvent, anS3, aPerson, first, hour, linesIn, minute, stage, start } from "./stage.ts";

type Config = Parameters<typeof anS3>[0];

/** Runs one interval; returns its only file, or all of them. */
async function exported(config: Config, events: readonly StoredEvent[], schema: JsonObject | null = null) {
  const setting = await stage({ events, persons: [aPerson()], batchExport: { destination: anS3(config), schema } });
  await setting.advance(hour);
  const run = first(setting.runs());
  const keys = await setting.keysOf(run.id);
  const contents = await Promise.all(keys.map((key) => setting.contentOf(run.id, key)));
  return { run, keys, contents };
}

const compressors = {
  GZIP: (bytes: Uint8Array) => gunzipSync(bytes),
  BROTLI: (bytes: Uint8Array) => brotliDecompressSync(bytes),
};

const bufferOf = (content: Buffer): ArrayBuffer => new Uint8Array(content).buffer;

const rowsIn = (content: Buffer): Promise<Record<string, unknown>[]> =>
  parquetReadObjects({ file: bufferOf(content), compressors });

const many = (count: number, text = ""): StoredEvent[] =>
  Array.from({ length: count }, (_, i) => anEvent(i + 1, start + i, { properties: { i, text } }));

/** Text that does not compress well, another for each seed. */
function noise(length: number, seed: number): string {
  let state = seed;
  return Array.from({ length }, () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return String.fromCharCode(48 + ((state >>> 16) % 64));
  }).join("");
}

describe("JSON lines", () => {
  test("have the service's columns for a bucket", async () => {
    const event = anEvent(1, start, {
      timestamp: "2026-03-04T09:29:59.123Z",
      properties: { $elements_chain: "a.b", $ip: "192.0.2.1", n: 1 },
    });
    const { contents } = await exported({}, [event]);
    const text = first(contents).toString("utf8");
    expect(text.endsWith("}\n")).toBe(true);
    expect(JSON.parse(text)).toEqual({
      uuid: uuidFor(1, "e"),
      timestamp: "2026-03-04T09:29:59.123000+00:00",
      _inserted_at: "2026-03-04T09:30:00+00:00",
      created_at: "2026-03-04T09:30:00+00:00",
      event: "signed_up",
      properties: { $ip: "192.0.2.1", n: 1 },
      distinct_id: "ann",
      elements_chain: "a.b",
      person_properties: { email: "ann@example.com" },
      person_id: uuidFor(1, "f"),
    });
  });

  test.each([
    ["Postgres", "set", "site_url"],
    ["Snowflake", "people_set", "site_url"],
    ["HTTP", "elements_chain", "elements_chain"],
  ])("for %s have its columns", async (type, known, last) => {
    const setting = await stage({
      events: [anEvent(1, start, { properties: { $set: { a: 1 } } })],
      batchExport: { destination: { type, config: {} } },
    });
    await setting.advance(hour);
    const { id } = first(setting.runs());
    const record = first(linesIn(await setting.contentOf(id, first(await setting.keysOf(id)))));
    const names = Object.keys(record ?? {});
    expect(names).toContain(known);
    expect(names.at(-1)).toBe(last);
    expect(names).not.toContain("_inserted_at");
  });

  test("keep hostile keys and text as data", async () => {
    const properties = JSON.parse('{"__proto__": {"a": 1}, "constructor": 2, "text": "\\ud83d \\u2028 \\n"}');
    const { contents } = await exported({}, [anEvent(1, start, { properties })], {
      fields: [
        { expression: "properties", alias: "__proto__" },
        { expression: "properties.constructor", alias: "constructor" },
      ],
    });
    const text = first(contents).toString("utf8");
    expect(text.split("\n")).toHaveLength(2);
    expect(text).toMatch(/^\{"__proto__":\{"__proto__":\{"a":1\},[\s\S]*"constructor":"2",/);
  });

  test.each([
    ["gzip", ".jsonl.gz", (it: Buffer) => gunzipSync(it)],
    ["brotli", ".jsonl.br", (it: Buffer) => brotliDecompressSync(it)],
    [null, ".jsonl", (it: Buffer) => it],
    ["", ".jsonl", (it: Buffer) => it],
  ])("compressed by %s: %s", async (compression, extension, decompress) => {
    const { keys, contents, run } = await exported({ compression }, many(3_000, "x".repeat(200)));
    expect(first(keys).endsWith(extension)).toBe(true);
    const content = first(contents);
    expect(run.bytes_exported).toBe(content.length);
    expect(linesIn(decompress(content))).toHaveLength(3_000);
    expect(linesIn(decompress(content)).at(-1)).toMatchObject({ properties: { i: 2_999 } });
  });
});

describe("Parquet", () => {
  test.each([
    [null, ".parquet", "UNCOMPRESSED"],
    ["snappy", ".parquet.sz", "SNAPPY"],
    ["gzip", ".parquet.gz", "GZIP"],
    ["brotli", ".parquet.br", "BROTLI"],
  ])("compressed by %s: %s", async (compression, extension, codec) => {
    const events = many(12_000, "größer");
    const { keys, contents, run } = await exported({ file_format: "Parquet", compression }, events);
    const content = first(contents);
    expect(first(keys).endsWith(extension)).toBe(true);
    expect(run).toMatchObject({ records_completed: 12_000, bytes_exported: content.length });
    const metadata = parquetMetadata(bufferOf(content));
    expect(metadata.row_groups.length).toBeGreaterThan(1);
    expect(metadata.row_groups[0]?.columns[0]?.meta_data?.codec).toBe(codec);
    const rows = await rowsIn(content);
    expect(rows).toHaveLength(12_000);
    expect(rows[11_999]).toEqual({
      uuid: uuidFor(12_000, "e"),
      timestamp: new Date(start + 11_999),
      _inserted_at: new Date(start + 11_999),
      created_at: new Date(start + 11_999),
      event: "signed_up",
      properties: JSON.stringify({ i: 11_999, text: "größer" }),
      distinct_id: "ann",
      elements_chain: "",
      person_properties: JSON.stringify({ email: "ann@example.com" }),
      person_id: uuidFor(1, "f"),
    });
  });

  test("holds nulls, numbers and booleans of persons, and microseconds", async () => {
    const setting = await stage({
      persons: [aPerson()],
      batchExport: { model: "persons", destination: anS3({ file_format: "Parquet" }) },
    });
    await setting.advance(hour);
    const { id } = first(setting.runs());
    const content = await setting.contentOf(id, first(await setting.keysOf(id)));
    expect(await rowsIn(content)).toMatchObject([
      { team_id: 1n, person_version: 3n, is_deleted: false, created_at: new Date(start - hour) },
      { distinct_id: "ann-phone" },
    ]);
    const { schema } = parquetMetadata(bufferOf(content));
    expect(schema.find((it) => it.name === "created_at")?.converted_type).toBe("TIMESTAMP_MICROS");
  });

  test("holds a null where there is no value, and one column of a name", async () => {
    const { contents } = await exported({ file_format: "Parquet" }, [anEvent(1, start, { person_id: null })], {
      fields: [
        { expression: "person_id", alias: "who" },
        { expression: "properties.plan", alias: "plan" },
        { expression: "event", alias: "plan" },
      ],
    });
    expect(await rowsIn(first(contents))).toEqual([{ who: null, plan: "pro", _inserted_at: new Date(start) }]);
  });
});

describe("a limit on the size of files", () => {
  const big = many(4_000).map((it, i) => ({ ...it, properties: { text: noise(1_000, i + 1) } }));

  test.each<[Config, (content: Buffer) => Promise<unknown[]>]>([
    [{}, async (it) => linesIn(it)],
    [{ compression: "gzip" }, async (it) => linesIn(gunzipSync(it))],
    [{ file_format: "Parquet", compression: "snappy" }, rowsIn],
  ])("%o: splits, numbers the files and lists them", async (config, read) => {
    const { keys, contents, run } = await exported({ ...config, max_file_size_mb: 1 }, big);
    const files = keys.filter((key) => !key.endsWith("_manifest.json"));
    expect(files.length).toBeGreaterThan(1);
    expect(files.map((key) => /-(\d+)\.(jsonl|parquet)/.exec(key)?.[1])).toEqual(files.map((_, i) => String(i)));
    const manifest = contents[keys.findIndex((key) => key.endsWith("_manifest.json"))];
    expect(JSON.parse(String(manifest))).toEqual({ files });
    const dataOf = files.map((key) => contents[keys.indexOf(key)] ?? Buffer.alloc(0));
    const records = await Promise.all(dataOf.map((it) => read(it)));
    expect(records.flat()).toHaveLength(4_000);
    expect(run.bytes_exported).toBe(dataOf.reduce((sum, it) => sum + it.length, 0));
  });

  test("one file has its number, too", async () => {
    const { keys } = await exported({ max_file_size_mb: 100 }, many(1));
    expect(keys).toEqual([
      "2026-03-04T09:00:00+00:00-2026-03-04T10:00:00+00:00-0.jsonl",
      "2026-03-04T09:00:00+00:00-2026-03-04T10:00:00+00:00_manifest.json",
    ]);
  });
});

test("a day of hourly exports adds up exactly to its events, in both formats", async () => {
  const events = Array.from({ length: 4_800 }, (_, i) => anEvent(i + 1, start + 30 * minute + i * 18_000));
  for (const file_format of ["JSONLines", "Parquet"]) {
    const setting = await stage({ events, batchExport: { destination: anS3({ file_format }) } });
    await setting.advance(25 * hour);
    const ids: unknown[] = [];
    for (const run of setting.runs()) {
      const keys = await setting.keysOf(run.id);
      const records = await Promise.all(
        keys.map(async (key) => {
          const content = await setting.contentOf(run.id, key);
          return file_format === "Parquet" ? rowsIn(content) : linesIn(content);
        }),
      );
      expect(records.flat()).toHaveLength(run.records_completed ?? -1);
      ids.push(...records.flat().map((it) => (it as { uuid: string }).uuid));
    }
    expect(setting.runs()).toHaveLength(25);
    expect(ids).toEqual(events.map(({ uuid }) => uuid));
  }
});
