import { describe, expect, test } from "vitest";
import type { Json } from "../../../../src/kernel/base/json.ts";
import {
  canonical,
  createSecrecy,
  idPattern,
  nounOf,
  type Rules,
  tokenOf,
} from "../../../../src/lab/tapes/match/canonical.ts";

const rules = (over: Partial<Rules> = {}): Rules => ({
  drops: () => false,
  ids: idPattern(false),
  secrecy: createSecrecy(false),
  ...over,
});

const uuid = "0195f3f6-aaaa-7000-8000-000000000001";

describe("ids in a document", () => {
  const rows: [document: Json, ids: string[]][] = [
    [{ a: `x ${uuid}, ${uuid}` }, [`u:${uuid}`, `u:${uuid}`]],
    [{ a: "for phc_abcd." }, ["s:phc_abcd"]],
    [{ a: "for PHC_ABCD." }, ["s:PHC_ABCD"]],
    [{ a: "phc_abc" }, []],
    [{ a: "graphc_abcd" }, []],
    [{ a: "x{{secret:token#1}}y" }, ["s:{{secret:token#1}}"]],
    [{ a: "x%7B%7Bsecret%3Atoken%231%7D%7Dy" }, ["s:{{secret:token#1}}"]],
    [{ a: "me@x.test" }, []],
    [{ password: "hunter" }, ["s:hunter"]],
    [{ dashboard_id: 5, id: 6, count: 7 }, ["n:dashboard:5"]],
    [{ b: uuid, a: "phc_abcd" }, ["s:phc_abcd", `u:${uuid}`]],
    [
      [uuid, { id: "phc_abcd" }],
      [`u:${uuid}`, "s:phc_abcd"],
    ],
  ];
  test.each(rows)("%j", (document, ids) => {
    const made = canonical(document, rules());
    expect(made.ids).toEqual(ids);
    expect(ids.some((id) => made.text.includes(id.slice(2)))).toBe(false);
  });

  test("mail addresses are ids where they are stand-ins", () => {
    const { ids } = canonical({ a: "to me.x+y@mail.x.test!" }, rules({ ids: idPattern(true) }));
    expect(ids).toEqual(["e:me.x+y@mail.x.test"]);
  });

  test("the id of a resource is known by its noun", () => {
    expect(canonical({ id: 6 }, rules({ idNoun: "insight" })).ids).toEqual(["n:insight:6"]);
  });

  test.each([
    ["{{secret:token#1}}", "s:"],
    ["phx_abcd", "s:"],
    ["PHX_abcd", "s:"],
    ["aphx_abcd@x.test", "e:"],
    ["me@x.test", "e:"],
    [uuid, "u:"],
  ])("%s is of the kind %s", (found, kind) => {
    expect(tokenOf(found)).toBe(kind + found);
  });

  test.each([
    ["dashboards", "dashboard"],
    ["dashboard_id", "dashboard"],
    ["dashboards_id", "dashboard"],
    ["user_id_hash", "user_id_hash"],
    ["persona", "persona"],
  ])("the noun of %s is %s", (name, noun) => {
    expect(nounOf(name)).toBe(noun);
  });
});

describe("documents that mean the same have one text", () => {
  const same: [a: Json, b: Json, isSame: boolean][] = [
    [{ a: 1, b: 2 }, { b: 2, a: 1 }, true],
    [{ a: 1 }, { a: "1" }, false],
    [{ a: 0 }, { a: -0 }, true],
    [{ a: "\u00e9" }, { a: "e\u0301" }, true],
    [{ "\u00e9": 1 }, { "e\u0301": 1 }, true],
    [[1, 2], [2, 1], false],
    [[1, 2], [12], false],
    [{ a: 1, b: 2 }, { a: '1,"b":2' }, false],
    [{ a: null }, {}, false],
    [{ a: true }, { a: "true" }, false],
    [{ a: [] }, { a: {} }, false],
    [{ a_id: 1 }, { a_id: 2 }, true],
    [{ count: 1 }, { count: 2 }, false],
    [{ a: uuid }, { a: "me@x.test" }, false],
  ];
  test.each(same)("%j, %j: %s", (a, b, isSame) => {
    expect(canonical(a, rules()).text === canonical(b, rules()).text).toBe(isSame);
  });

  test("what is dropped does not count, by its name and its path", () => {
    const seen: string[] = [];
    const drops = (name: string, path: string): boolean => {
      seen.push(`${name} ${path}`);
      return path === "req.list[].b";
    };
    const text = (b: Json, root?: string) => canonical({ list: [{ a: 1, b }] }, rules({ drops }), root).text;
    expect(text(1)).toBe(text({ c: 2 }));
    expect(seen.slice(0, 3)).toEqual(["list req.list", "a req.list[].a", "b req.list[].b"]);
    expect(text(1, "res")).not.toBe(text(2, "res"));
  });

  test("what is deeper than two hundred levels does not count", () => {
    const insides: ((it: Json) => Json)[] = [(it) => [it], (it) => ({ a: it })];
    for (const inside of insides) {
      const deep = (levels: number, leaf: Json): Json => (levels === 0 ? leaf : inside(deep(levels - 1, leaf)));
      const isSame = (levels: number) =>
        canonical(deep(levels, true), rules()).text === canonical(deep(levels, false), rules()).text;
      expect([isSame(200), isSame(201)]).toEqual([false, true]);
    }
  });
});
