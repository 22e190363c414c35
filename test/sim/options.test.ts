import { expect, test } from "vitest";
import { type SimOptions, startSim } from "../../src/index.ts";

/** As JavaScript gives them, which has no types to refuse them. */
const rows: [given: unknown, message: string, hint: string][] = [
  [{ dialect: "x" }, "dialect cannot be 'x'", "give one of documented, production"],
  [{ mode: "toString" }, "mode cannot be 'toString'", "give one of emulate, record"],
  [{ port: "7490" }, "port cannot be '7490'", "give a whole number from 0 to 65535"],
  [{ port: 70_000 }, "port cannot be 70000", "give a whole number"],
  [{ port: Number.NaN }, "port cannot be NaN", "give a whole number"],
  [{ strict: "yes" }, "strict cannot be 'yes'", "give true or false"],
  [{ data: null }, "data cannot be null", "give a text"],
  [{ include: "/flags/**" }, "include cannot be '/flags/**'", "give a list of texts"],
  [{ proxy: true }, "proxy cannot be true", "give options, or false"],
  [{ onNotice: 1n }, "onNotice cannot be 1n", "give a function"],
  [{ scenrio: "otto" }, "there is no option scenrio; did you mean scenario?", "options: port, host"],
  [JSON.parse('{"__proto__":1}'), "there is no option __proto__", "options: port"],
];

test.each(rows)("%o is refused", async (given, message, hint) => {
  await expect(startSim(given as SimOptions)).rejects.toMatchObject({
    name: "StartError",
    code: "option",
    message,
    hint: expect.stringContaining(hint),
  });
});

test("an option that is undefined is not given", async () => {
  const given: Record<string, unknown> = { data: undefined, dialect: undefined, port: undefined };
  await using sim = await startSim(given);
  expect((await sim.info()).dialect).toBe("documented");
});
