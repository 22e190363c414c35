import { describe, expect, test } from "vitest";
import type { Config } from "../../../src/kernel/command/config-file.ts";
import { Failure } from "../../../src/kernel/command/failure.ts";
import { type OptionTexts, resolveSettings } from "../../../src/kernel/command/settings.ts";

const options = {
  port: { kind: "port", describe: "", configurable: true, default: "7490" },
  data: { kind: "folder", describe: "", configurable: true, default: ".phx-sim", excludes: "memory" },
  memory: { kind: "switch", describe: "", configurable: true },
  dialect: {
    kind: "text",
    describe: "",
    configurable: true,
    default: "documented",
    choices: ["documented", "production"],
  },
  wait: { kind: "duration", describe: "" },
  url: { kind: "url", describe: "", configurable: true },
} as const;

const withLists = {
  key: { kind: "text", describe: "", place: 1 },
  person: { kind: "properties", describe: "", many: true },
  group: { kind: "group", describe: "", many: true },
  "group-property": { kind: "group property", describe: "", many: true },
  payload: { kind: "json", describe: "" },
  count: { kind: "count", describe: "" },
} as const;

const withListsResolved = (flags: OptionTexts) =>
  resolveSettings(withLists, { key: "k", ...flags }, { env: {}, cwd: "/here", config: null }).values;

const config = (texts: Record<string, string>): Config => ({
  file: "/up/phx-sim.config.json",
  folder: "/up",
  texts: new Map(Object.entries(texts)),
});

const resolved = (flags: OptionTexts, env: Record<string, string> = {}, file: Record<string, string> | null = null) =>
  resolveSettings(options, flags, { env, cwd: "/here", config: file && config(file) });

describe("precedence", () => {
  const all = { flag: { port: "1" }, env: { PHX_SIM_PORT: "2" }, file: { port: "3" } };
  test.each([
    ["the flag", all.flag, all.env, all.file, 1, { source: "flag", where: "--port" }],
    ["the variable", {}, all.env, all.file, 2, { source: "environment", where: "PHX_SIM_PORT" }],
    ["the config file", {}, {}, all.file, 3, { source: "config", where: "/up/phx-sim.config.json" }],
    ["the default", {}, {}, null, 7490, { source: "default", where: "default" }],
    [
      "the default over an empty variable",
      {},
      { PHX_SIM_PORT: "" },
      null,
      7490,
      { source: "default", where: "default" },
    ],
  ])("%s wins and is named", (_, flags, env, file, port, origin) => {
    const settings = resolved(flags, env, file);
    expect(settings.values.port).toBe(port);
    expect(settings.origins.port).toEqual(origin);
  });

  test.each([
    ["flag", { data: "x" }, {}, null, "/here/x"],
    ["variable", {}, { PHX_SIM_DATA: "x" }, null, "/here/x"],
    ["default", {}, {}, null, "/here/.phx-sim"],
    ["config file", {}, {}, { data: "x" }, "/up/x"],
    ["absolute path", { data: "/y" }, {}, { data: "x" }, "/y"],
  ])("a relative path of the %s starts from its own folder", (_, flags, env, file, data) => {
    expect(resolved(flags, env, file).values.data).toBe(data);
  });

  test("an option for the command line only has no variable and no config key", () => {
    expect(resolved({}, { PHX_SIM_WAIT: "3s" }, { wait: "3s" }).values.wait).toBeUndefined();
  });
});

describe("exclusion", () => {
  test.each([
    ["flag over variable", { memory: true }, { PHX_SIM_DATA: "x" }, null, true, "/here/.phx-sim"],
    ["flag over variable, the other way", { data: "x" }, { PHX_SIM_MEMORY: "1" }, null, false, "/here/x"],
    ["variable over config", {}, { PHX_SIM_MEMORY: "1" }, { data: "x" }, true, "/here/.phx-sim"],
    ["off does not exclude", { memory: false, data: "x" }, {}, null, false, "/here/x"],
  ])("%s", (_, flags, env, file, memory, data) => {
    expect(resolved(flags, env, file).values).toMatchObject({ memory, data });
  });

  test.each([
    [{ memory: true, data: "x" }, {}, null, "--data and --memory exclude each other; give one of them"],
    [
      {},
      { PHX_SIM_MEMORY: "1", PHX_SIM_DATA: "x" },
      null,
      "PHX_SIM_DATA and PHX_SIM_MEMORY exclude each other; give one of them",
    ],
    [{}, {}, { memory: "true", data: "x" }, '"data" and "memory" exclude each other; give one of them'],
  ])("two from the same source are a mistake: %j %j %j", (flags, env, file, message) => {
    expect(() => resolved(flags, env, file)).toThrow(new Failure("usage", message));
  });
});

describe("values", () => {
  test.each([
    ["port", "0", 0],
    ["port", "65535", 65_535],
    ["wait", "10s", 10_000],
    ["wait", "10", 10_000],
    ["wait", "1.5s", 1500],
    ["wait", "250ms", 250],
    ["wait", "2m", 120_000],
    ["url", "localhost:7490", "http://localhost:7490"],
    ["url", "http://[::1]:7490/x?y", "http://[::1]:7490"],
    ["dialect", "production", "production"],
  ] as const)("--%s %s is read as %j", (name, text, value) => {
    expect(resolved({ [name]: text }).values[name]).toBe(value);
  });

  test.each(["1", "true", "YES", "on"])("PHX_SIM_MEMORY=%s is on", (text) => {
    expect(resolved({}, { PHX_SIM_MEMORY: text }).values.memory).toBe(true);
  });
  test.each(["0", "false", "No", "off"])("PHX_SIM_MEMORY=%s is off", (text) => {
    expect(resolved({}, { PHX_SIM_MEMORY: text }).values.memory).toBe(false);
  });

  const whole = "must be a whole number from 0 to 65535";
  test.each([
    [{ port: "65536" }, {}, `--port ${whole}, not "65536"`],
    [{ port: "-1" }, {}, `--port ${whole}, not "-1"`],
    [{ port: "80a" }, {}, `--port ${whole}, not "80a"`],
    [{ port: "1e3" }, {}, `--port ${whole}, not "1e3"`],
    [{ port: "" }, {}, `--port ${whole}, not ""`],
    [{}, { PHX_SIM_PORT: "x" }, `PHX_SIM_PORT ${whole}, not "x"`],
    [{}, { PHX_SIM_MEMORY: "maybe" }, 'PHX_SIM_MEMORY must be true or false, not "maybe"'],
    [
      { dialect: "documentd" },
      {},
      '--dialect must be documented or production, not "documentd"; did you mean documented?',
    ],
    [{ dialect: "x" }, {}, '--dialect must be documented or production, not "x"'],
    [{ data: "" }, {}, '--data must be a folder, not ""'],
    [{ wait: "soon" }, {}, '--wait must be a time such as 10s, 500ms or 2m, not "soon"'],
    [{ url: "ftp://x" }, {}, '--url must be an http address such as http://127.0.0.1:7490, not "ftp://x"'],
    [{ port: "\u001b[31m\n" }, {}, `--port ${whole}, not "\\x1b[31m\\x0a"`],
  ])("%j %j: %s", (flags, env, message) => {
    expect(() => resolved(flags, env)).toThrow(new Failure("usage", message));
  });
});

describe("values that may come often, and JSON", () => {
  const own = (name: string, value: unknown) => Object.fromEntries([[name, value]]);
  test.each([
    ["person", [], []],
    ["person", ["plan=pro"], [{ plan: "pro" }]],
    ["person", ["age=3", "vip=true", "none=null"], [{ age: 3 }, { vip: true }, { none: null }]],
    ["person", ['zip="01"', "zip=01"], [{ zip: "01" }, { zip: "01" }]],
    ["person", ["q=a=b", "empty=", "list=[1,2]"], [{ q: "a=b" }, { empty: "" }, { list: [1, 2] }]],
    ["person", ['{"age":3,"plan":"pro"}'], [{ age: 3, plan: "pro" }]],
    ["person", ["__proto__=1"], [own("__proto__", 1)]],
    ["group", ["company:acme", "url:http://x"], [{ company: "acme" }, { url: "http://x" }]],
    ["group", ["company:3"], [{ company: "3" }]],
    ["group-property", ["company.plan=pro"], [{ company: { plan: "pro" } }]],
    ["group-property", ["company.a.b=1"], [{ company: { "a.b": 1 } }]],
    ["payload", '{"a":[1]}', { a: [1] }],
    ["payload", "null", null],
    ["payload", '"text"', "text"],
    ["count", "10", 10],
  ] as const)("--%s %j is read as %j", (name, texts, values) => {
    expect(withListsResolved({ [name]: texts })[name]).toEqual(values);
  });

  test.each([
    [{ person: ["plan"] }, '--person must be NAME=VALUE or a JSON object, not "plan"'],
    [{ person: ["a=1", "=2"] }, '--person must be NAME=VALUE or a JSON object, not "=2"'],
    [{ group: ["acme"] }, '--group must be TYPE:KEY, not "acme"'],
    [{ group: ["company:"] }, '--group must be TYPE:KEY, not "company:"'],
    [{ "group-property": ["plan=pro"] }, '--group-property must be TYPE.NAME=VALUE, not "plan=pro"'],
    [{ payload: "{" }, '--payload must be JSON, not "{"'],
    [{ count: "-1" }, '--count must be a whole number, not "-1"'],
    [{ key: "" }, 'KEY must be text, not ""'],
  ])("%j: %s", (flags, message) => {
    expect(() => withListsResolved(flags)).toThrow(new Failure("usage", message));
  });
});
