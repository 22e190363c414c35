import { expect, test } from "vitest";
import { commands } from "../../src/cli/commands.ts";
import { helpOf } from "../../src/kernel/command/help.ts";

// docs/cli.md has the same facts, and test/docs.test.ts compares it
test("the help of every command has its summary, its options and the same end", async () => {
  const all = await helpOf("", commands);
  const tail = all.slice(all.indexOf("Each option can also be set"));
  for (const { name, group, describe, options } of commands) {
    const text = await helpOf(name, commands);
    const words = text.replaceAll(/\s+/g, " ");
    expect(all).toContain(`phx-sim ${group?.name ?? name}`);
    expect(text.endsWith(tail), name).toBe(true);
    expect(words, name).toContain(describe);
    for (const [option, { place, rest, describe: about }] of Object.entries(options)) {
      expect(words, `${name} ${option}`).toContain(rest ? "-- COMMAND" : about);
      if (place === undefined && !rest) expect(words, name).toContain(`--${option}`);
    }
  }
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
