import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { commands } from "../../src/cli/commands.ts";
import { helpOf } from "../../src/kernel/command/help.ts";

const file = join(import.meta.dirname, "../golden/help.txt");

test("the help of every command is test/golden/help.txt (UPDATE_GOLDEN=1 writes it)", async () => {
  const groups = commands.flatMap(({ group }) => group?.name ?? []);
  const names = [...new Set([...groups, ...commands.map(({ name }) => name)])];
  const all = await helpOf("", commands);
  const tail = all.slice(all.indexOf("Each option can also be set"));
  const texts = [`$ phx-sim --help\n${all}\n`];
  for (const name of names) {
    const text = await helpOf(name, commands);
    expect(text.endsWith(tail), name).toBe(true);
    texts.push(`$ phx-sim ${name} --help\n${text.slice(0, -tail.length)}`);
  }
  const joined = texts.join("\n");
  if (process.env.UPDATE_GOLDEN) writeFileSync(file, joined);
  expect(joined).toBe(readFileSync(file, "utf8"));
});

test.each([
  [60, 60],
  [500, 100],
  [0, 100],
  [undefined, 100],
])("help for a terminal of %s columns is at most %s wide", async (columns, widest) => {
  const lines = (await helpOf("flags set", commands, columns)).split("\n");
  expect(lines).toContain("Examples:");
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(widest);
});
