import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { commands } from "../../../src/cli/commands.ts";
import { startSim } from "../../../src/index.ts";
import { readArgs } from "../../../src/kernel/command/read-args.ts";
import { tools } from "../../../src/tools/mcp/server.ts";
import { root } from "../../support/docs.ts";

const text = readFileSync(join(root, "docs/llms.txt"), "utf8");

/** Words of a command line, without the quotes around one. */
const wordsOf = (line: string): string[] =>
  [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, word]) => quoted ?? word ?? "");

test("the summary is short: three characters a token at the least", () => {
  expect(text.length / 3).toBeLessThan(2_000);
});

test("its command lines are valid", () => {
  const lines = [...text.matchAll(/`phx-sim ([^`]+)`/g)].map(([, line = ""]) => line);
  const whole = lines.filter((it) => it.includes(" "));
  expect(whole.length).toBeGreaterThan(12);
  for (const line of whole) expect(() => readArgs(wordsOf(line), commands), line).not.toThrow();
});

test("its pages exist, and it lists the tools", () => {
  const pages = [...text.matchAll(/docs\/[\w/-]+\.md/g)].map(([page]) => page);
  expect(pages.filter((page) => !existsSync(join(root, page)))).toEqual([]);
  expect(text).toContain(tools.map(({ name }) => name).join(", "));
});

test("a sim serves it, without its token", async () => {
  await using sim = await startSim({ token: "a-token-of-a-test-0123456789" });
  const response = await fetch(`${sim.url}/__sim/llms.txt`);
  expect(response.headers.get("content-type")).toMatch(/^text\/plain/);
  expect(await response.text()).toBe(text);
});
