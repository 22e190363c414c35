import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { syntaxErrorAt } from "../../../src/kernel/base/json-syntax.ts";
import { findConfig } from "../../../src/kernel/command/config-file.ts";
import { redactionSection } from "../../../src/lab/tapes/redact/config-section.ts";
import { newFolder } from "../../support/folder.ts";

const options = {
  port: { kind: "port", describe: "", configurable: true },
  data: { kind: "folder", describe: "", configurable: true },
  memory: { kind: "switch", describe: "", configurable: true },
} as const;
const allOptions = async () => options;

let folder: string;
let file: string;
beforeEach(() => {
  folder = newFolder();
  file = join(folder, "phx-sim.config.json");
});

describe("the nearest config file", () => {
  test("is found by walking up, and its values become text", async () => {
    writeFileSync(file, '\ufeff{"$schema": "x", "port": 7491, "memory": true}');
    const below = join(folder, "packages", "app");
    mkdirSync(below, { recursive: true });
    expect(await findConfig(below, allOptions, [redactionSection])).toEqual({
      file,
      folder,
      texts: new Map([
        ["port", "7491"],
        ["memory", "true"],
      ]),
    });
  });

  test("may have comments and trailing commas", async () => {
    writeFileSync(file, '// for the team\n{\n  "port": 7491, /* not 7490 */\n  "data": "kept//here",\n}\n');
    const config = await findConfig(folder, allOptions, [redactionSection]);
    expect([...(config?.texts ?? [])]).toEqual([
      ["port", "7491"],
      ["data", "kept//here"],
    ]);
  });

  test("hides the ones above", async () => {
    writeFileSync(file, '{"port": 1}');
    const below = join(folder, "app");
    mkdirSync(below);
    writeFileSync(join(below, "phx-sim.config.json"), "{}");
    expect((await findConfig(below, allOptions, [redactionSection]))?.texts.size).toBe(0);
  });

  test("may be absent", async () => {
    expect(await findConfig(folder, allOptions, [redactionSection])).toBeNull();
  });
});

describe("a wrong config file is named with the place", () => {
  test.each([
    ["", ":1:1: the file is empty"],
    ['{"port" 1}', ":1:9: expected a colon after the key"],
    ['{\n  // a note\n  "port": 1,,\n}', ":3:13: expected a key in double quotes"],
    ['{"port": 1, "port": 2}', ":1:13: duplicate key"],
    ["[]", ':1:1: expected an object such as {"port": 7490}'],
    ["{ port: 1 }", ":1:3: this is not JSON; keys and strings must be in double quotes"],
    ['{\n  "memory": true, // on\n  "prot": 1\n}', ':3:3: "prot" is not an option; did you mean port?'],
    ['{"constructor": 1}', ':1:2: "constructor" is not an option'],
    ['{"__proto__": 1}', ':1:2: "__proto__" is not an option'],
    ['{"port": "7490"}', ':1:2: "port" must be a whole number from 0 to 65535, not "7490"'],
    ['{"port": 1.5}', ':1:2: "port" must be a whole number from 0 to 65535, not "1.5"'],
    ['{"memory": 1}', ':1:2: "memory" must be true or false, not 1'],
    ['{"data": null}', ':1:2: "data" must be a folder, as a string, not null'],
  ])("%j", async (text, tail) => {
    writeFileSync(file, text);
    await expect(findConfig(folder, allOptions, [redactionSection])).rejects.toThrow(
      expect.objectContaining({ kind: "usage", message: `${file}${tail}` }),
    );
  });

  test("a folder of that name", async () => {
    mkdirSync(file);
    await expect(findConfig(folder, allOptions, [redactionSection])).rejects.toThrow(
      `${file} cannot be read: it is a folder`,
    );
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
