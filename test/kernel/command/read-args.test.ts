import { describe, expect, test } from "vitest";
import { command } from "../../../src/kernel/command/command.ts";
import { Failure } from "../../../src/kernel/command/failure.ts";
import { readArgs } from "../../../src/kernel/command/read-args.ts";

const done = async () => "ok" as const;
const row = { describe: "", examples: [], run: done };
const group = { name: "flags", describe: "" };
const commands = [
  command({
    ...row,
    name: "start",
    options: {
      port: { kind: "port", describe: "", configurable: true },
      data: { kind: "folder", describe: "", configurable: true },
      memory: { kind: "switch", describe: "", configurable: true },
      "adopt-tokens": { kind: "switch", describe: "", configurable: true },
      "no-proxy": { kind: "switch", describe: "", configurable: true },
    },
  }),
  command({
    ...row,
    name: "status",
    options: {
      url: { kind: "url", describe: "", configurable: true },
      json: { kind: "switch", describe: "", configurable: true },
    },
  }),
  command({
    ...row,
    name: "flags set",
    group,
    options: {
      value: { kind: "text", describe: "", place: 2 },
      key: { kind: "text", describe: "", place: 1 },
      person: { kind: "properties", describe: "", many: true },
      json: { kind: "switch", describe: "", configurable: true },
    },
  }),
  command({
    ...row,
    name: "flags list",
    group,
    options: { json: { kind: "switch", describe: "", configurable: true } },
  }),
];

const words = (line: string): string[] => line.split(" ").filter((word) => word !== "");

describe("command lines without mistakes", () => {
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
    ["flags set a --person c=1 --person=d=2 b", "flags set", { key: "a", value: "b", person: ["c=1", "d=2"] }],
    ["flags set flags set", "flags set", { key: "flags", value: "set" }],
    ["flags set __proto__ constructor", "flags set", { key: "__proto__", value: "constructor" }],
    ["flags set a -- -1h", "flags set", { key: "a", value: "-1h" }],
    ["flags set --json a true", "flags set", { key: "a", value: "true", json: true }],
    ["flags set a - --person 'b=1'", "flags set", { key: "a", value: "-", person: ["'b=1'"] }],
    ["flags set a b --person='{}'", "flags set", { key: "a", value: "b", person: ["'{}'"] }],
    ["--no-proxy", "start", { "no-proxy": true }],
    ["--no-proxy=no", "start", { "no-proxy": false }],
    ["--no-memory", "start", { memory: false }],
    ["--memory=false", "start", { memory: false }],
    ["--memory=yes", "start", { memory: true }],
    ["--port -1", "start", { port: "-1" }],
  ])("phx-sim %s", (line, name, flags) => {
    const reading = readArgs(words(line), commands);
    expect(reading).toMatchObject({ command: { name } });
    expect(reading).toHaveProperty("flags", flags);
  });
});

test("an empty word by its place is a value", () => {
  expect(readArgs(["flags", "set", "", "a"], commands)).toMatchObject({ flags: { key: "", value: "a" } });
});

describe("mistakes", () => {
  const tail = "(phx-sim --help lists all)";
  test.each([
    ["statsu", `unknown command "statsu"; did you mean status? ${tail}`],
    ["frobnicate", `unknown command "frobnicate" ${tail}`],
    ["--prot 3", `unknown option --prot; did you mean --port? ${tail}`],
    ["start --adopt-token", `unknown option --adopt-token; did you mean --adopt-tokens? (phx-sim start --help)`],
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
    ["--__proto__=1", `unknown option --___proto___ ${tail}`],
    ["--memory status", `the command comes first: phx-sim status … ${tail}`],
    ["--constructor 1", `unknown option --constructor ${tail}`],
    ["flags", `flags needs one of set, list (phx-sim flags --help)`],
    ["flags --json", `flags needs one of set, list (phx-sim flags --help)`],
    ["flags sett a b", `unknown command "flags sett"; did you mean set? (phx-sim flags --help)`],
    ["flags frobnicate", `unknown command "flags frobnicate"; phx-sim flags has set, list (phx-sim flags --help)`],
    ["flgs set a b", `unknown command "flgs"; did you mean flags? ${tail}`],
    ["set flags", `unknown command "set"; did you mean flags set? ${tail}`],
    ["flags set", `flags set needs KEY and VALUE (phx-sim flags set --help)`],
    ["flags set a", `flags set needs KEY and VALUE (phx-sim flags set --help)`],
    ["flags set a b c", `unexpected argument "c" (phx-sim flags set --help)`],
    ["flags set a -1h", `unknown option -1h (phx-sim flags set --help)`],
    ["--no-port", `unknown option --no-port ${tail}`],
    ["--no-frobnicate", `unknown option --no-frobnicate ${tail}`],
    ["--data --memroy", `unknown option --memroy; did you mean --memory? ${tail}`],
    ["--port.x=1", `unknown option --port.x ${tail}`],
    ["flags list a", `unexpected argument "a" (phx-sim flags list --help)`],
    ["flags set a b --person", `--person needs a value (phx-sim flags set --help)`],
    ["flags set a b --persn c=1", `unknown option --persn; did you mean --person? (phx-sim flags set --help)`],
    ["--json flags", `unknown option --json; it belongs to phx-sim status, flags set, flags list ${tail}`],
    ["\u001b[2J", `unknown command "\\x1b[2J" ${tail}`],
    ["statsu --help", `unknown command "statsu"; did you mean status? ${tail}`],
    ["help statsu", `unknown command "statsu"; did you mean status? ${tail}`],
    ["flags sett a -h", `unknown command "flags sett"; did you mean set? (phx-sim flags --help)`],
  ])("phx-sim %j", (line, message) => {
    expect(() => readArgs(words(line), commands)).toThrow(new Failure("usage", message));
  });
});

test.each([
  ["--help", ""],
  ["-h", ""],
  ["help", ""],
  ["--memory --help", ""],
  ["help flags set", "flags set"],
  ["help flag", "flags"],
  ["--help status", "status"],
  ["status --help", "status"],
  ["flags --help", "flags"],
  ["flags set --frobnicate --help", "flags set"],
])("phx-sim %s asks for the help of %j", (line, help) => {
  expect(readArgs(words(line), commands)).toEqual({ help });
});

test.each(["--version", "-v", "status --version", "flags -v"])("phx-sim %s asks for the version", (line) => {
  expect(readArgs(words(line), commands)).toEqual({ version: true });
});

const withRest = [
  command({
    ...row,
    name: "start",
    examples: [],
    options: { port: { kind: "port", describe: "", configurable: true } },
  }),
  command({
    ...row,
    name: "exec",
    examples: [["phx-sim exec -- npm test", ""]],
    options: {
      port: { kind: "port", describe: "", configurable: true },
      scenarios: { kind: "text", describe: "", place: 1, many: true, optional: true },
      command: { kind: "word", describe: "", many: true, rest: true },
    },
  }),
];

describe("what follows -- belongs to another program", () => {
  test.each([
    ["exec -- npm test", {}, ["npm", "test"]],
    ["exec a --port 1 -- npm -- --help", { scenarios: ["a"], port: "1" }, ["npm", "--", "--help"]],
    ["exec -- --version", {}, ["--version"]],
    ["exec -- x --quiet=off", {}, ["x", "--quiet=off"]],
  ])("%s", (line, others, command) => {
    expect(readArgs(words(line), withRest)).toMatchObject({ flags: { ...others, command } });
  });

  test.each(["exec --help", "exec -h", "exec --help --"])("%j asks for help", (line) => {
    expect(readArgs(words(line), withRest)).toEqual({ help: "exec" });
  });

  test.each([
    ["start -- x", 'unexpected argument "x"'],
    ["-- exec", "the command comes first: phx-sim exec …"],
    ["exce -- x", 'unknown command "exce"; did you mean exec?'],
  ])("%s takes none", (line, message) => {
    expect(() => readArgs(words(line), withRest)).toThrow(message);
  });

  test.each([
    ["exec", "e.g. phx-sim exec -- npm test"],
    ["exec a --", "e.g. phx-sim exec -- npm test"],
    ["exec node a.js", "e.g. phx-sim exec -- node a.js"],
    ["exec vitest --coverage --quiet=x", "e.g. phx-sim exec -- vitest --coverage --quiet=x"],
  ])("%s lacks one", (line, said) => {
    expect(() => readArgs(words(line), withRest)).toThrow(`exec needs -- and a command after it, ${said}`);
  });
});
