import { expect, test } from "vitest";
import { createEntryScanner, type EntryPiece } from "../../../src/tape/har/entry-stream.ts";
import { fc } from "../../support/chance.ts";

const textOf = (piece: EntryPiece): string =>
  "entry" in piece ? piece.entry.toString() : `${piece.tooLarge}`;

/** Scans a text in chunks of this many bytes. */
function scanned(text: string, size: number) {
  const scanner = createEntryScanner();
  const bytes = Buffer.from(text);
  const pieces: string[] = [];
  for (let from = 0; from < bytes.length; from += size) {
    pieces.push(...scanner.scan(bytes.subarray(from, from + size)).map(textOf));
  }
  return { pieces, ...scanner.end() };
}

test("any entries come out as they went in, wherever chunks end", () => {
  const entry = fc.dictionary(fc.string({ unit: "binary" }), fc.jsonValue({ maxDepth: 3 }));
  fc.assert(
    fc.property(
      fc.array(entry, { maxLength: 6 }),
      fc.dictionary(fc.constantFrom("version", "pages", "comment", "x"), fc.jsonValue({ maxDepth: 2 })),
      fc.integer({ min: 1, max: 40 }),
      fc.constantFrom(undefined, 1, "\t"),
      (entries, log, size, indent) => {
        const text = JSON.stringify({ log: { ...log, entries, z: [] } }, null, indent);
        const { pieces, text: around, isWhole } = scanned(text, size);
        expect(pieces.map((it) => JSON.parse(it))).toEqual(JSON.parse(JSON.stringify(entries)));
        expect(JSON.parse(around)).toEqual(
          JSON.parse(JSON.stringify({ log: { ...log, entries: [], z: [] } })),
        );
        expect(isWhole).toBe(true);
      },
    ),
    { numRuns: 200 },
  );
});

test("an entry that is too large is only counted", () => {
  const scanner = createEntryScanner({ entry: 20, around: 100 });
  const large = `{"a":"${"x".repeat(30)}"}`;
  const pieces = scanner.scan(Buffer.from(`{"log":{"entries":[{"a":1},${large},{"b":2}]}}`));
  expect(pieces.map(textOf)).toEqual(['{"a":1}', `${large.length}`, '{"b":2}']);
});
