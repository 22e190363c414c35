import { describe, expect, test } from "vitest";
import { type Bytes, MemoryBytes } from "../../../src/kernel/store/bytes.ts";
import {
  blankSeal,
  hasSeal,
  isSealed,
  lineNumber,
  linesOf,
  repairTail,
  sealed,
  sealedLines,
  sealLength,
  textsOf,
  unfinishedBytes,
  unsealed,
  writeSeal,
} from "../../../src/kernel/store/lines.ts";

/** Files are read in pieces of this size. */
const piece = 1024 * 1024;

function bytesOf(...parts: string[]): Bytes {
  const bytes = new MemoryBytes();
  for (const it of parts) bytes.append(Buffer.from(it));
  return bytes;
}

describe("a seal", () => {
  // Reference value: CRC-32 of `"a":1}`, computed with Python's zlib.
  const line = '{"crc":"94da56a3","a":1}';

  test("is the checksum of what stands behind it", () => {
    expect(sealed('{"a":1}')).toBe(line);
    expect(sealLength).toBe(line.indexOf('"a"'));
    const blank = Buffer.from(`before\n${blankSeal}"a":1}\n`);
    writeSeal(blank, 7, blank.length - 1);
    expect(blank.toString()).toBe(`before\n${line}\n`);
  });

  test("has eight digits, also where the checksum is small", () => {
    const small = Array.from({ length: 1000 }, (_, i) => sealed(`{"i":${i}}`));
    expect(small.filter((it) => it.startsWith('{"crc":"0'))).not.toEqual([]);
    expect(small.filter((it) => !/^\{"crc":"[0-9a-f]{8}","i":/.test(it))).toEqual([]);
    expect(small.filter((it) => !hasSeal(Buffer.from(it)))).toEqual([]);
  });

  test.each<[line: string, isSealed: boolean, text: string | undefined]>([
    [line, true, '{"a":1}'],
    [sealed('{"crc":"x"}'), true, '{"crc":"x"}'],
    [sealed('{"name":"Zoë ☃"}'), true, '{"name":"Zoë ☃"}'],
    [line.replace("1}", "2}"), true, undefined],
    [line.replace("94da56a3", "00000000"), true, undefined],
    [`${line} `, true, undefined],
    ['{"a":1}', false, '{"a":1}'],
    ['{"crc":"short"}', false, '{"crc":"short"}'],
    [blankSeal, false, blankSeal],
    [`${blankSeal}}`, true, undefined],
    [`x${line}`, false, `x${line}`],
    ["", false, ""],
  ])("%j", (text, isOne, content) => {
    const bytes = Buffer.from(text);
    expect([isSealed(bytes), hasSeal(bytes), unsealed(bytes)]).toEqual([
      isOne,
      isOne && content !== undefined,
      content,
    ]);
  });

  test("lines that have none get one", () => {
    const bytes = bytesOf(`{"b":2}\n\n${line}\n{"ü":3}\nunfinished`);
    expect(sealedLines(bytes).toString()).toBe(`${sealed('{"b":2}')}\n${line}\n${sealed('{"ü":3}')}\n`);
  });
});

describe("lines", () => {
  const read = (bytes: Bytes, from = 0) =>
    [...linesOf(bytes, from)].map(({ offset, bytes: line }) => [offset, line.toString()]);

  test("are what ends with a newline; empty ones are none", () => {
    const bytes = bytesOf("ab\n\n\nü", "c\nd", "e\nunfinished");
    expect(read(bytes)).toEqual([
      [0, "ab"],
      [5, "üc"],
      [9, "de"],
    ]);
    expect(read(bytes, 3)).toEqual(read(bytes).slice(1));
    expect(read(bytes, 5)).toEqual(read(bytes).slice(1));
    expect(read(bytes, bytes.size)).toEqual([]);
    expect(read(bytesOf())).toEqual([]);
  });

  test("of bytes that were let go at the front: the others keep their offsets", () => {
    const bytes = bytesOf("ab\n", "cd\n", "ef\n");
    bytes.dropBefore(3);
    expect(read(bytes)).toEqual([
      [3, "cd"],
      [6, "ef"],
    ]);
    expect(read(bytes, 6)).toEqual([[6, "ef"]]);
  });

  test.each([piece - 2, piece - 1, piece, piece + 1, 2 * piece - 1, 2 * piece, 3 * piece + 5])(
    "one of %i bytes, with others around it",
    (length) => {
      const long = "x".repeat(length);
      expect(read(bytesOf(`a\n${long}\nb\n`)).map(([offset, line]) => [offset, String(line).length])).toEqual([
        [0, 1],
        [2, length],
        [length + 3, 1],
      ]);
    },
  );
});

describe("texts", () => {
  const read = (content: string, from = 0) =>
    [...textsOf(bytesOf(content), from)].map((it) => [it.offset, it.length, it.text, it.isSealed]);
  const one = sealed('{"n":1}');
  const two = sealed('{"n":2}');
  const broken = one.replace('"n":1', '"n":7');
  const width = one.length;

  test.each<[name: string, content: string, expected: unknown[]]>([
    [
      "sealed lines",
      `${one}\n${two}\n`,
      [
        [0, width + 1, '{"n":1}', true],
        [width + 1, width + 1, '{"n":2}', true],
      ],
    ],
    ["a line without a seal", '{"n":3}\n', [[0, 8, '{"n":3}', false]]],
    ["a damaged line", `${broken}\n`, [[0, width + 1, undefined, true]]],
    [
      "a line whose newline was lost",
      `${one}${two}\n`,
      [
        [0, 2 * width + 1, undefined, true],
        [width, width + 1, '{"n":2}', true],
      ],
    ],
    [
      "a torn line before another",
      `${one.slice(0, -3)}${two}\n`,
      [
        [0, 2 * width - 2, undefined, true],
        [width - 3, width + 1, '{"n":2}', true],
      ],
    ],
    [
      "two torn lines before another",
      `${one.slice(0, -3)}${broken}${two}\n`,
      [
        [0, 3 * width - 2, undefined, true],
        [2 * width - 3, width + 1, '{"n":2}', true],
      ],
    ],
    [
      "what has no seal before a line",
      `{"n":3}${two}\n`,
      [
        [0, width + 8, undefined, false],
        [7, width + 1, '{"n":2}', true],
      ],
    ],
    [
      "one byte before a line",
      `{${two}\n`,
      [
        [0, width + 2, undefined, false],
        [1, width + 1, '{"n":2}', true],
      ],
    ],
    [
      "a line that looks as if another one began in it",
      `${sealed('{"crc":"","text":"{\\"crc\\":\\""}')}\n`,
      [[0, 49, '{"crc":"","text":"{\\"crc\\":\\""}', true]],
    ],
  ])("%s", (_, content, expected) => {
    expect(read(content)).toEqual(expected);
  });

  test("from an offset on", () => {
    expect(read(`${one}\n${two}\n`, width + 1)).toEqual([[width + 1, width + 1, '{"n":2}', true]]);
  });
});

describe("an unfinished last line", () => {
  const rest = "x".repeat(piece);
  test.each<[name: string, parts: string[], dropped: number, unfinished: number]>([
    ["of nothing", [], 0, 0],
    ["of finished lines", ["a\nb\n"], 0, 0],
    ["of one byte", ["a\nb\nc"], 0, 1],
    ["of all there is", ["abc"], 0, 3],
    ["of all that is held", ["a\n", "b", "c"], 2, 2],
    ["behind an empty line", ["\n", "bc"], 0, 2],
    ["of a piece, but for one byte", [`a\n${rest.slice(1)}`], 0, piece - 1],
    ["of a whole piece", [`a\n${rest}`], 0, piece],
    ["of more than a piece", [`a\nb\n${rest}${rest}x`], 0, 2 * piece + 1],
  ])("%s is cut off and reported", (_, parts, dropped, unfinished) => {
    const bytes = bytesOf(...parts);
    bytes.dropBefore(dropped);
    const before = bytes.size;
    expect(unfinishedBytes(bytes)).toBe(unfinished);
    const notices: string[] = [];
    repairTail(bytes, "some.ndjson", (text) => notices.push(text));
    expect(bytes.size).toBe(before - unfinished);
    expect(notices).toEqual(
      unfinished === 0
        ? []
        : [`some.ndjson: cut off ${unfinished} bytes of an unfinished last line (a crash while writing)`],
    );
  });
});

describe("the number of a line", () => {
  test.each([
    [0, 1],
    [1, 1],
    [2, 2],
    [3, 3],
    [4, 3],
    [5, 4],
  ])("at offset %i is %i", (offset, number) => {
    expect(lineNumber(bytesOf("a\n\nb\nc\nd\n"), offset)).toBe(number);
  });

  test("far behind", () => {
    const text = "a\n".repeat(piece);
    for (const offset of [piece - 2, piece, piece + 2, 2 * piece])
      expect([offset, lineNumber(bytesOf(text), offset)]).toEqual([offset, offset / 2 + 1]);
  });

  test("counts the line that a file begins with whose older lines were let go", () => {
    const bytes = bytesOf("a\n", "b\n", "c\n");
    bytes.dropBefore(2);
    expect([lineNumber(bytes, 2), lineNumber(bytes, 4)]).toEqual([2, 3]);
    const short = bytesOf("\n", "b\n");
    short.dropBefore(1);
    expect(lineNumber(short, 1)).toBe(2);
  });
});
