import { describe, expect, test } from "vitest";
import { BaselineError, readBaseline, updatedBaseline, writeBaseline } from "../../../src/tools/baseline/file.ts";

const head = '{"phx_sim_baseline":1}';
const file = "analytics.baseline.ndjson";

const text = `${[
  head,
  '{"test":"","event":"$pageview","count":2}',
  '{"test":"a","event":"paid","count":1,"properties":{"__proto__":"string","amount":"number"}}',
  '{"test":"a","identity":"identify","count":1}',
  '{"test":"a","flag":"beta"}',
  '{"test":"a","order":["identify()","paid"]}',
  '{"test":"b"}',
].join("\n")}\n`;

test("what is read is written again in the same form", () => {
  expect(writeBaseline(readBaseline(text, file))).toBe(text);
  const shuffled = [head, ...text.trim().split("\n").slice(1).reverse()].join("\r\n");
  expect(writeBaseline(readBaseline(`\ufeff${shuffled}`, file))).toBe(text);
});

test("characters that hide text in a diff are escaped", () => {
  const tests = new Map([
    ["a\u202eb\u{e0041}", { events: new Map(), identity: new Map(), flags: new Set<string>(), orders: [] }],
  ]);
  const written = writeBaseline({ sdk: true, order: false, tests });
  expect(written).toBe('{"phx_sim_baseline":1,"sdk":true,"order":false}\n{"test":"a\\u202eb\\udb40\\udc41"}\n');
  expect(readBaseline(written, file)).toEqual({ sdk: true, order: false, tests });
});

test("an update replaces the tests that ran; with prune, it removes the others", () => {
  const run = readBaseline(`${head}\n{"test":"b","flag":"x"}\n`, file);
  const before = readBaseline(text, file);
  expect(writeBaseline(updatedBaseline(before, run, false))).toBe(
    text.replace('{"test":"b"}', '{"test":"b","flag":"x"}'),
  );
  expect([...updatedBaseline(before, run, true).tests.keys()]).toEqual(["b"]);
});

describe("a file that is no baseline", () => {
  const rows: [string, string, string][] = [
    ["an empty one", "", "1: it is empty; `phx-sim baseline update` writes it"],
    ["another kind of file", '{"a":1}', '1: expected {"phx_sim_baseline":1}; it is no baseline'],
    ["not JSON", "hello", "1:1: it is not JSON; restore the line from git"],
    [
      "another version",
      '{"phx_sim_baseline":2}',
      "1: version 2 of the format is not known, only 1; use the version of phx-sim that wrote it",
    ],
    ["an unknown option", '{"phx_sim_baseline":1,"sdks":true}', "1: /sdks unknown key"],
    ...["<<<<<<< HEAD", "=======", ">>>>>>> main", "||||||| 1234"].map((it): [string, string, string] => [
      `a conflict: ${it}`,
      `${head}\n${it}\n`,
      "2: a merge conflict is not resolved; keep the lines of both sides, or run `phx-sim baseline update`",
    ]),
    ["a conflict at its beginning", `<<<<<<< HEAD\n${head}`, "1: a merge conflict is not resolved"],
    ["a damaged line", `${head}\n{"test":"a",}`, "2:13: it is not JSON"],
    ["a list", `${head}\n[]`, "2: expected an object, got an empty list"],
    ["no test", `${head}\n{"event":"a","count":1}`, "2: /test is missing; expected a string"],
    ["no count", `${head}\n{"test":"a","event":"b"}`, "2: expected an object with a count"],
    ["a negative count", `${head}\n{"test":"a","event":"b","count":-1}`, "2: /count expected a number of at least 1"],
    ["a count of a flag", `${head}\n{"test":"a","flag":"b","count":1}`, "2: expected an object with an event"],
    ["two kinds", `${head}\n{"test":"a","flag":"b","event":"c","count":1}`, "2: expected an object with one of event"],
    ["an unknown key", `${head}\n{"test":"a","evnt":"b","count":1}`, "2: /evnt unknown key"],
    [
      "a type that is no text",
      `${head}\n{"test":"a","event":"b","count":1,"properties":{"x":1}}`,
      "2: /properties/x expected a string, got 1",
    ],
    [
      "a contradiction",
      `${head}\n{"test":"a","event":"b","count":1}\n{"test":"a","event":"b","count":2}`,
      "3: it contradicts line 2; remove one of them",
    ],
  ];
  test.each(rows)("%s", (_, content, message) => {
    const read = () => readBaseline(content, file);
    expect(read).toThrow(BaselineError);
    expect(read).toThrow(`${file}:${message}`);
  });

  test("a line that a union merge wrote twice is none", () => {
    const twice = text.replace('{"test":"b"}\n', '{"test":"b"}\n{"test":"b"}\n');
    expect(writeBaseline(readBaseline(twice, file))).toBe(text);
  });
});
