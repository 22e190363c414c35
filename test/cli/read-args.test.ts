import { describe, expect, test } from "vitest";
import { command } from "../../src/cli/command.ts";
import { plainWords } from "../../src/cli/command-names.ts";
import { readArgs } from "../../src/cli/read-args.ts";
import { readArgsFully } from "../../src/cli/read-args-fully.ts";

const done = async () => "ok" as const;
const row = { describe: "", examples: [], run: done };
const group = { name: "flags", describe: "" };
const commands = [
  command({
    ...row,
    name: "start",
    options: {
      port: { kind: "port", describe: "" },
      data: { kind: "folder", describe: "" },
      memory: { kind: "switch", describe: "" },
      "adopt-tokens": { kind: "switch", describe: "" },
    },
  }),
  command({
    ...row,
    name: "status",
    options: { url: { kind: "url", describe: "" }, json: { kind: "switch", describe: "" } },
  }),
  command({
    ...row,
    name: "flags set",
    group,
    options: {
      value: { kind: "text", describe: "", flagOnly: true, place: 2 },
      key: { kind: "text", describe: "", flagOnly: true, place: 1 },
      person: { kind: "properties", describe: "", flagOnly: true, many: true },
      json: { kind: "switch", describe: "" },
    },
  }),
  command({ ...row, name: "flags list", group, options: { json: { kind: "switch", describe: "" } } }),
];

const words = (line: string): string[] => line.split(" ").filter((word) => word !== "");

describe("the quick and the full reader agree", () => {
  test.each([
    ["", "start", {}],
    ["start", "start", {}],
    ["--memory", "start", { memory: true }],
    ["start --port 0 --memory", "start", { port: "0", memory: true }],
    ["start --port=0 --adopt-tokens", "start", { port: "0", "adopt-tokens": true }],
    ["--port 1 --port 2", "start", { port: "2" }],
    ["--port 007", "start", { port: "007" }],
    ["--port 0x1F", "start", { port: "0x1F" }],
    ["--port=", "start", { port: "" }],
    ["--data status", "start", { data: "status" }],
    ["--data a.b", "start", { data: "a.b" }],
    ["--data a=b", "start", { data: "a=b" }],
    ["status --json --url http://x", "status", { json: true, url: "http://x" }],
    ["flags list", "flags list", {}],
    ["flags list --json", "flags list", { json: true }],
    ["flags set a true", "flags set", { key: "a", value: "true" }],
    ["flags set --json 1 02", "flags set", { key: "1", value: "02", json: true }],
    ["flags set a b --person c=1", "flags set", { key: "a", value: "b", person: ["c=1"] }],
    [
      "flags set a --person c=1 --person=d=2 b",
      "flags set",
      { key: "a", value: "b", person: ["c=1", "d=2"] },
    ],
    ["flags set flags set", "flags set", { key: "flags", value: "set" }],
    ["flags set __proto__ constructor", "flags set", { key: "__proto__", value: "constructor" }],
  ])("phx-sim %s", async (line, name, flags) => {
    const quick = readArgs(words(line), commands);
    expect(quick).toMatchObject({ command: { name } });
    expect(quick).toHaveProperty("flags", flags);
    expect(await readArgsFully(words(line), commands)).toEqual(quick);
  });
});

describe("only the full reader takes", () => {
  test.each([
    ["--no-memory", "start", { memory: false }],
    ["--memory=false", "start", { memory: false }],
    ["--memory=yes", "start", { memory: true }],
    ["--port -1", "start", { port: "-1" }],
  ])("phx-sim %s", async (line, name, flags) => {
    expect(readArgs(words(line), commands)).toBeUndefined();
    const full = await readArgsFully(words(line), commands);
    expect(full).toMatchObject({ command: { name } });
    expect(full).toHaveProperty("flags", flags);
  });
});

describe("mistakes", () => {
  const tail = "(phx-sim --help lists all)";
  test.each([
    ["statsu", `unknown command "statsu"; did you mean status? ${tail}`],
    ["frobnicate", `unknown command "frobnicate" ${tail}`],
    ["--prot 3", `unknown option --prot; did you mean --port? ${tail}`],
    [
      "start --adopt-token",
      `unknown option --adopt-token; did you mean --adopt-tokens? (phx-sim start --help)`,
    ],
    ["--url http://x", `unknown option --url; it belongs to phx-sim status ${tail}`],
    ["--frobnicate", `unknown option --frobnicate ${tail}`],
    ["-x", `unknown option -x ${tail}`],
    ["--port", `--port needs a value ${tail}`],
    ["--port --memory", `--port needs a value ${tail}`],
    ["start shop", `unexpected argument "shop" (phx-sim start --help)`],
    ["start shop more", `unexpected argument "shop" (phx-sim start --help)`],
    ["start -- shop", `unexpected argument "shop" (phx-sim start --help)`],
    ["status start", `unexpected argument "start" (phx-sim status --help)`],
    ["--memory=maybe", '--memory must be true or false, not "maybe"'],
    ["--__proto__=1", /^unexpected argument ".*__proto__.*" /],
    ["--memory status", `the command comes first: phx-sim status … ${tail}`],
    ["--constructor 1", `unknown option --constructor ${tail}`],
    ["flags", `flags needs one of set, list (phx-sim flags --help)`],
    ["flags --json", `flags needs one of set, list (phx-sim flags --help)`],
    ["flags sett a b", `unknown command "flags sett"; did you mean set? (phx-sim flags --help)`],
    [
      "flags frobnicate",
      `unknown command "flags frobnicate"; phx-sim flags has set, list (phx-sim flags --help)`,
    ],
    ["flgs set a b", `unknown command "flgs"; did you mean flags? ${tail}`],
    ["set flags", `unknown command "set"; did you mean flags set? ${tail}`],
    ["flags set", `flags set needs KEY and VALUE (phx-sim flags set --help)`],
    ["flags set a", `flags set needs KEY and VALUE (phx-sim flags set --help)`],
    ["flags set a b c", `unexpected argument "c" (phx-sim flags set --help)`],
    ["flags set a -1h", `flags set needs KEY and VALUE (phx-sim flags set --help)`],
    ["flags list a", `unexpected argument "a" (phx-sim flags list --help)`],
    ["flags set a b --person", `--person needs a value (phx-sim flags set --help)`],
    [
      "flags set a b --persn c=1",
      `unknown option --persn; did you mean --person? (phx-sim flags set --help)`,
    ],
    ["--json flags", `unknown option --json; it belongs to phx-sim status, flags set, flags list ${tail}`],
    ["\u001b[2J", `unknown command "\\x1b[2J" ${tail}`],
    ["statsu --help", `unknown command "statsu"; did you mean status? ${tail}`],
    ["help statsu", `unknown command "statsu"; did you mean status? ${tail}`],
    ["flags sett a -h", `unknown command "flags sett"; did you mean set? (phx-sim flags --help)`],
  ])("phx-sim %j", async (line, message) => {
    expect(readArgs(words(line), commands)).toBeUndefined();
    await expect(readArgsFully(plainWords(words(line)), commands)).rejects.toMatchObject({
      kind: "usage",
      message: typeof message === "string" ? message : expect.stringMatching(message),
    });
  });
});

test.each([
  "--help",
  "-h",
  "help",
  "help flags set",
  "--help status",
  "status --help",
  "flags --help",
  "flags set --help",
])("phx-sim %s prints help", async (line) => {
  expect(readArgs(words(line), commands)).toBeUndefined();
  expect(await readArgsFully(plainWords(words(line)), commands)).toEqual({
    print: expect.stringContaining("Exit codes:"),
  });
});

test.each([
  [60, 60],
  [500, 100],
  [0, 100],
  [undefined, 100],
])("help for a terminal of %s columns is at most %s wide", async (columns, widest) => {
  const reading = await readArgsFully(["flags", "set", "--help"], commands, columns);
  const lines = "print" in reading ? reading.print.split("\n") : [];
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(widest);
});
