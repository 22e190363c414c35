import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { findConfig } from "../../src/cli/config-file.ts";
import { syntaxErrorAt } from "../../src/kernel/json-syntax.ts";

const options = {
  port: { kind: "port", describe: "" },
  data: { kind: "folder", describe: "" },
  memory: { kind: "switch", describe: "" },
} as const;

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "phx-config-"));
  file = join(folder, "phx-sim.config.json");
});
afterEach(() => rmSync(folder, { recursive: true }));

describe("the nearest config file", () => {
  test("is found by walking up, and its values become text", () => {
    writeFileSync(file, '\ufeff{"$schema": "x", "port": 7491, "memory": true}');
    const below = join(folder, "packages", "app");
    mkdirSync(below, { recursive: true });
    expect(findConfig(below, options)).toEqual({
      file,
      folder,
      texts: new Map([
        ["port", "7491"],
        ["memory", "true"],
      ]),
    });
  });

  test("hides the ones above", () => {
    writeFileSync(file, '{"port": 1}');
    const below = join(folder, "app");
    mkdirSync(below);
    writeFileSync(join(below, "phx-sim.config.json"), "{}");
    expect(findConfig(below, options)?.texts.size).toBe(0);
  });

  test("may be absent", () => {
    expect(findConfig(folder, options)).toBeNull();
  });
});

describe("a wrong config file is named with the place", () => {
  test.each([
    ['{\n  "port": 1,\n}', ":3:1: this is not JSON"],
    ["", ":1:1: this is not JSON"],
    ['{"port" 1}', ":1:9: this is not JSON"],
    ["[]", " must hold a JSON object"],
    ['{"prot": 1}', ': "prot" is not an option; did you mean port?'],
    ['{"constructor": 1}', ': "constructor" is not an option'],
    ['{"__proto__": 1}', ': "__proto__" is not an option'],
    ['{"port": "7490"}', ': "port" must be a whole number from 0 to 65535, not "7490"'],
    ['{"port": 1.5}', ': "port" must be a whole number from 0 to 65535, not "1.5"'],
    ['{"memory": 1}', ': "memory" must be true or false, not 1'],
    ['{"data": null}', ': "data" must be a folder, as a string, not null'],
  ])("%j", (text, tail) => {
    writeFileSync(file, text);
    expect(() => findConfig(folder, options)).toThrow(
      expect.objectContaining({ kind: "usage", message: `${file}${tail}` }),
    );
  });

  test("a folder of that name", () => {
    mkdirSync(file);
    expect(() => findConfig(folder, options)).toThrow(`cannot read ${file}: EISDIR`);
  });
});

describe("the first place that is not JSON", () => {
  test.each([
    ["{]", 1, 2],
    ["[1 2]", 1, 4],
    ["[1,]", 1, 4],
    ["{,}", 1, 2],
    ['{"a":1,,}', 1, 8],
    ['{"a":tru}', 1, 6],
    ['{"a":01}', 1, 7],
    ['{"a":.5}', 1, 6],
    ['{"a":"x', 1, 6],
    ['{"a":"\\q"}', 1, 6],
    ['{"a":1} x', 1, 9],
    ["{'a':1}", 1, 2],
    ["// note\n{}", 1, 1],
    ['{\n\n  "a": [1,\n  {"b": }]}', 4, 9],
    ['{"a":1', 1, 7],
    ['{"\u007f\u0080\ud800 é😀[]":1', 1, 15],
    ['{"a\nb":1}', 1, 2],
  ])("%j", (text, line, column) => {
    expect(() => JSON.parse(text)).toThrow();
    expect(syntaxErrorAt(text)).toMatchObject({ line, column });
  });
});
