import { describe, expect, test } from "vitest";
import { command } from "../../src/cli/command.ts";
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
    ["start --adopt-token", `unknown option --adopt-token; did you mean --adopt-tokens? ${tail}`],
    ["--url http://x", `unknown option --url; it belongs to phx-sim status ${tail}`],
    ["--frobnicate", `unknown option --frobnicate ${tail}`],
    ["-x", `unknown option -x ${tail}`],
    ["--port", `--port needs a value ${tail}`],
    ["--port --memory", `--port needs a value ${tail}`],
    ["start shop", `unexpected argument "shop" ${tail}`],
    ["start shop more", `unexpected argument "shop" ${tail}`],
    ["start -- shop", `unexpected argument "shop" ${tail}`],
    ["status start", `unexpected argument "start" ${tail}`],
    ["--memory=maybe", '--memory must be true or false, not "maybe"'],
    ["--__proto__=1", /^unexpected argument ".*__proto__.*" /],
    ["--memory status", `the command comes first: phx-sim status … ${tail}`],
    ["--constructor 1", `unknown option --constructor ${tail}`],
    ["flags", `phx-sim flags needs one of set, list ${tail}`],
    ["flags --json", `phx-sim flags needs one of set, list ${tail}`],
    ["flags sett a b", `unknown command "flags sett"; did you mean set? ${tail}`],
    ["flags frobnicate", `unknown command "flags frobnicate" ${tail}`],
    ["flag set a b", `unknown command "flag"; did you mean flags? ${tail}`],
    ["flags set", `phx-sim flags set needs KEY and VALUE ${tail}`],
    ["flags set a", `phx-sim flags set needs KEY and VALUE ${tail}`],
    ["flags set a b c", `unexpected argument "c" ${tail}`],
    ["flags list a", `unexpected argument "a" ${tail}`],
    ["flags set a b --person", `--person needs a value ${tail}`],
    ["flags set a b --persn c=1", `unknown option --persn; did you mean --person? ${tail}`],
    ["--json flags", `unknown option --json; it belongs to phx-sim status ${tail}`],
    ["\u001b[2J", `unknown command "\\x1b[2J" ${tail}`],
    ["statsu --help", `unknown command "statsu"; did you mean status? ${tail}`],
    ["help statsu", `unknown command "statsu"; did you mean status? ${tail}`],
    ["flags sett a -h", `unknown command "flags sett"; did you mean set? ${tail}`],
  ])("phx-sim %j", async (line, message) => {
    expect(readArgs(words(line), commands)).toBeUndefined();
    await expect(readArgsFully(words(line), commands)).rejects.toMatchObject({
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
  expect(await readArgsFully(words(line), commands)).toEqual({
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
