import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { startSim } from "../../../src/index.ts";
import type { Json } from "../../../src/kernel/base/json.ts";
import { shellQuoted } from "../../../src/kernel/base/text.ts";
import { code, jsonText, prettyJson, scriptText } from "../../../ui/copy/quote.ts";
import { copyRows, scenarioSnippet } from "../../../ui/copy/rows.ts";
import { hostileItems } from "./hostile.ts";
import { contextOf, sent, simOfFile } from "./sim.ts";

const simNow = simOfFile();

describe.each(hostileItems)("%s", (_, item) => {
  const value = item as unknown as Json;

  test("as JSON it is itself", () => {
    expect(JSON.parse(jsonText(value))).toEqual(value);
    expect(JSON.parse(prettyJson(value))).toEqual(value);
  });

  test("as JavaScript it is itself", () => {
    expect(new Function(`return ${scriptText(value)}`)()).toEqual(value);
  });

  test.each([jsonText, prettyJson, scriptText])("nothing in it is hidden", (write) => {
    expect(write(value).replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069\u200b]/u);
  });

  test("its scenario snippet is a world with its person", async () => {
    const sim = simNow();
    await using ph = await sim.project();
    const first = await sent(sim, ph, {
      ...item,
      properties: {
        ...item.properties,
        $set: { ...item.properties, plan: "it's" },
        $groups: { company: item.event },
        "$feature/beta": true,
        "$feature/price": "yearly",
      },
    });
    const part = parse(scenarioSnippet(first)) as object;
    const project = { name: "P", api_key: "phc_snippet", ...part };
    await using other = await startSim({
      scenario: {
        version: 1,
        organizations: [{ name: "O", projects: [project] }],
        personal_api_keys: [{ key: "phx_snippet", scopes: ["*"] }],
      } as never,
    });
    const person = await other.persons.get(item.distinct_id);
    expect(person?.properties).toMatchObject({ plan: "it's" });
    const groups = await other.groups.list();
    expect(groups.map((it) => it.key)).toEqual([item.event]);
    const reported = await other.flags.explain("price", { distinctId: "anybody" });
    expect(reported.value).toBe("yearly");
    const json = copyRows.find((it) => it.id === "json")?.text(first, contextOf(sim, ph)) ?? "";
    expect(JSON.parse(json)).toEqual(JSON.parse(JSON.stringify(first)));
  });
});

test.each([
  ["plain", "'plain'"],
  ["it's", "'it'\\''s'"],
  ["", "''"],
  ["$(x) `y` \\", "'$(x) `y` \\'"],
])("shellQuoted(%j)", (text, quoted) => {
  expect(shellQuoted(text)).toBe(quoted);
});

test.each<[Json, string]>([
  [{}, "{}"],
  [{ a: 1, "b-c": [true, null] }, '{ a: 1, "b-c": [true, null] }'],
  [{ code: "alert(1)" }, '{ code: "alert(1)" }'],
  [{ a: "x".repeat(90) }, `{\n  a: "${"x".repeat(90)}",\n}`],
])("scriptText(%j)", (value, text) => {
  expect(scriptText(value)).toBe(text);
});

test("code stands as it is", () => {
  expect(scriptText(new Map([["a", code("expect.any(String)")]]))).toBe("{ a: expect.any(String) }");
});
