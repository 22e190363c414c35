import { describe, expect, test } from "vitest";
import { command } from "../../src/cli/command.ts";
import { splitRest } from "../../src/cli/rest-args.ts";

const row = { describe: "", run: async () => "ok" as const };
const commands = [
  command({ ...row, name: "start", examples: [], options: { port: { kind: "port", describe: "" } } }),
  command({
    ...row,
    name: "exec",
    examples: [["phx-sim exec -- npm test", ""]],
    options: { command: { kind: "word", describe: "", flagOnly: true, many: true, rest: true } },
  }),
];

const words = (line: string): string[] => line.split(" ").filter((word) => word !== "");

describe("what follows -- is the command's own", () => {
  test.each([
    ["exec -- npm test", "exec", ["npm", "test"]],
    ["exec a --port 1 -- npm -- --help", "exec a --port 1", ["npm", "--", "--help"]],
    ["exec -- --version", "exec", ["--version"]],
  ])("%s", (line, before, command) => {
    expect(splitRest(words(line), commands)).toEqual({ words: words(before), rest: { command } });
  });

  test.each(["exec --help", "exec -h", "exec --help --", "start -- x", "-- exec", "", "exce -- x"])(
    "%j has none",
    (line) => {
      expect(splitRest(words(line), commands).rest).toEqual({});
    },
  );

  test.each([
    ["exec", "e.g. phx-sim exec -- npm test"],
    ["exec a --", "e.g. phx-sim exec -- npm test"],
    ["exec node a.js", "e.g. phx-sim exec -- node a.js"],
  ])("%s lacks one", (line, said) => {
    expect(() => splitRest(words(line), commands)).toThrow(`exec needs -- and a command after it, ${said}`);
  });
});
