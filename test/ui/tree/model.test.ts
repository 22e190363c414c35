import { describe, expect, test } from "vitest";
import type { Json } from "../../../src/kernel/base/json.ts";
import {
  firstState,
  jsonPath,
  reveal,
  revealAll,
  rowsOf,
  searchIn,
  showMore,
  showWhole,
  stepFor,
  type TreeRow,
  turn,
} from "../../../ui/parts/tree/model.ts";
import { eventGroups } from "../../../ui/parts/tree/property-groups.ts";

const shown = (row: TreeRow): string => {
  const at = " ".repeat(row.level - 1);
  if (row.is === "group") return `${at}<${row.title} ${row.size}>${row.summary && ` ${row.summary}`}`;
  if (row.is === "more") return `${at}… ${row.left} ${row.side}, of ${row.total}`;
  const turned = row.isOpen === undefined ? "" : row.isOpen ? "- " : "+ ";
  return `${at}${turned}${row.name} ${row.kind}`;
};

const nested: Json = { a: { b: [1, { c: null }] }, d: "x" };

describe("rowsOf", () => {
  test.each<[string, Json, object, string[]]>([
    ["closed at first", nested, {}, ["+ a object", "d text"]],
    ["open to a level", nested, { open: 3 }, ["- a object", " - b list", "  0 number", "  + 1 object", "d text"]],
    ["a value that is no branch", "hello", {}, [" text"]],
    ["nothing", {}, {}, []],
    ["an empty branch cannot be opened", { a: {}, b: [] }, { open: 9 }, ["a object", "b list"]],
    [
      "an event's properties in groups: the app's own first, empty campaign parameters last",
      {
        $os: "Linux",
        gclid: null,
        utm_source: "news",
        $el_text: "Buy",
        _kx: null,
        $lib: "web",
        coupon: null,
        $set: { plan: "pro" },
        plan: "pro",
        "$feature/beta": true,
      },
      { groups: eventGroups },
      [
        "<Own properties 2>",
        " coupon null",
        " plan text",
        "<Person and groups 1> set",
        "<About this event 1>",
        " $el_text text",
        "<Device and location 1> Linux",
        "<Campaign 1> utm_source news",
        "<Flags at that moment 1> beta true",
        "<Library 1> web",
        "<Empty campaign parameters 2> gclid · _kx, all null",
      ],
    ],
    [
      "where nothing is the app's own, the first group is open",
      { $lib: "x", $os: "y" },
      { groups: eventGroups },
      ["<Device and location 1>", " $os text", "<Library 1> x"],
    ],
    [
      "a closed group shows its first few values, cut, with unsafe characters spelled out",
      { plan: 1, utm_source: "\u202e", utm_term: "x".repeat(60), gclid: "", fbclid: 1, ttclid: { a: 1 } },
      { groups: eventGroups },
      [
        "<Own properties 1>",
        " plan number",
        `<Campaign 5> utm_source \\u202e · utm_term ${"x".repeat(40)}… · gclid · fbclid 1 …`,
      ],
    ],
    [
      "a closed group with words of its own says the most important, whatever its values are",
      {
        a: 1,
        $current_url: "http://x.test/basket?a=1",
        $referrer: "\u202ex",
        $browser: "Chrome",
        $browser_version: 156,
        $viewport_width: 1440,
        $viewport_height: { no: 1 },
        "$feature/a": true,
        "$feature/b": [],
        ...Object.fromEntries(["c", "d", "e", "f"].map((it) => [`$feature/${it}`, "on"])),
      },
      { groups: eventGroups },
      [
        "<Own properties 1>",
        " a number",
        "<Page 2> /basket · from \\u202ex",
        "<Device and location 4> Chrome 156 · 1440",
        "<Flags at that moment 6> a true · c on · d on · e on · 1 more",
      ],
    ],
    ["lists have no groups", [1], { groups: eventGroups }, ["0 number"]],
  ])("%s", (_, value, options, lines) => {
    expect(rowsOf(value, firstState, options).map(shown)).toEqual(lines);
  });

  test("hostile keys are names like others", () => {
    const value = JSON.parse('{"__proto__": {"x": 1}, "constructor": 2, "a/b~c": 3, "": 4, "own": 5}') as Json;
    const rows = rowsOf(value, turn(firstState, "/__proto__", true), { groups: eventGroups });
    expect(rows.map(shown)).toEqual([
      "<Own properties 5>",
      " - __proto__ object",
      "  x number",
      " constructor number",
      " a/b~c number",
      "  number",
      " own number",
    ]);
    expect(new Set(rows.map((it) => it.id)).size).toBe(rows.length);
    expect(rows.map((it) => it.is === "value" && it.value).at(-1)).toBe(5);
  });

  test("a line like that for more is no clash", () => {
    const value = { a: Array.from({ length: 101 }, (_, i) => i), "a#more": 1, "after:": 2 };
    const rows = rowsOf(value, firstState, { open: 2 });
    expect(new Set(rows.map((it) => it.id)).size).toBe(rows.length);
  });

  test("10,000 keys: a hundred, then a hundred more", () => {
    const value = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`k${i}`, i]));
    expect(rowsOf(value, firstState)).toHaveLength(101);
    expect(rowsOf(value, firstState).map(shown).at(-1)).toBe("… 9900 after, of 10000");
    const more = rowsOf(value, showMore(firstState, ""));
    expect(more.map(shown).at(-1)).toBe("… 9800 after, of 10000");
    expect(more[150]).toMatchObject({ name: "k150", position: 151, siblings: 10_000 });
  });

  test("a long text is whole only when asked for", () => {
    const value = { long: "x".repeat(5_000_000), short: "y" };
    const whole = (state = firstState) => rowsOf(value, state).map((it) => it.is === "value" && it.isWhole);
    expect(whole()).toEqual([false, true]);
    expect(whole(showWhole(firstState, "/long"))).toEqual([true, true]);
  });

  test("a big branch is no text: it is opened, not made whole", () => {
    const [row] = rowsOf({ many: Array.from({ length: 10_000 }, () => 0) }, firstState);
    expect(row).toMatchObject({ isWhole: true, isOpen: false, size: 10_000 });
  });

  test("depth 100 is shown", () => {
    let value: Json = 1;
    for (let i = 0; i < 100; i++) value = { deep: value };
    expect(rowsOf(value, firstState, { open: 200 })).toHaveLength(100);
  });
});

describe("jsonPath", () => {
  test.each<[(string | number)[], string]>([
    [[], "$"],
    [["plan"], "$.plan"],
    [["items", 0, "my key"], '$.items[0]["my key"]'],
    [["$set", "größe"], '$["$set"].größe'],
    [['"]; alert(1)'], '$["\\"]; alert(1)"]'],
    [["a\u202eb"], '$["a\\u202eb"]'],
    [["1a"], '$["1a"]'],
  ])("%j", (path, text) => {
    expect(jsonPath(path)).toBe(text);
  });
});

describe("searchIn", () => {
  const value: Json = { $lib: "web", plan: { name: "Pro", seats: 10 }, list: [true, "prose", null] };

  test.each([
    ["pro", ["/plan/name", "/list/1"]],
    ["PLAN", ["/plan"]],
    ["10", ["/plan/seats"]],
    ["true", ["/list/0"]],
    ["null", ["/list/2"]],
    ["web", ["/$lib"]],
    ["", []],
    ["missing", []],
  ])("%j", (text, ids) => {
    expect(searchIn(value, text).hits.map((it) => it.id)).toEqual(ids);
  });

  test("the own properties come first where they are set apart", () => {
    const both = { $a: "x", b: "x" };
    expect(searchIn(both, "x", { groups: eventGroups }).hits.map((it) => it.id)).toEqual(["/b", "/$a"]);
  });

  test("a hit is opened: groups, branches, and the hundreds before it", () => {
    const many = Object.fromEntries(Array.from({ length: 950 }, (_, i) => [`$k${i}`, { at: [`v${i}.`] }]));
    const all = { own: 1, ...many };
    const options = { groups: eventGroups };
    const before = rowsOf(all, firstState, options).map((it) => it.id);
    expect(before).not.toContain("/$k777/at/0");
    const found = searchIn(all, "v777.", options);
    expect(found.hits).toHaveLength(1);
    const rows = rowsOf(all, revealAll(firstState, found), options);
    expect(rows.map((it) => it.id)).toContain("/$k777/at/0");
    expect(rows.length).toBeLessThan(120);
    const at = (side: string) => rows.find((it) => it.is === "more" && it.side === side);
    expect([at("before"), at("after")]).toMatchObject([{ left: 700 }, { left: 150 }]);
    const earlier = rowsOf(all, showMore(revealAll(firstState, found), "event", "before"), options);
    expect(earlier.map((it) => it.id)).toContain("/$k600");
  });

  test("where hits are far apart, the first is seen", () => {
    const list = Array.from({ length: 10_000 }, (_, i) => (i % 1_000 === 150 ? "hit" : "-"));
    const ids = rowsOf(list, revealAll(firstState, searchIn(list, "hit"))).map((it) => it.id);
    expect(ids).toContain("/150");
    expect(ids.length).toBeLessThan(510);
  });

  test("every hit that is revealed is among the rows", () => {
    const deep: Json = [{ a: [{ b: "needle" }] }, "needle", { needle: { c: [1, "needle"] } }];
    const found = searchIn(deep, "needle");
    expect(found.hits).toHaveLength(4);
    for (const hit of found.hits) expect(rowsOf(deep, reveal(firstState, hit)).map((it) => it.id)).toContain(hit.id);
  });

  test("stops at a thousand", () => {
    const found = searchIn(
      Array.from({ length: 5_000 }, () => "a"),
      "a",
    );
    expect(found.hits).toHaveLength(1_000);
    expect(found.isCut).toBe(true);
  });

  test("a text alone is searched, too", () => {
    expect(searchIn("needle", "NEED").hits).toHaveLength(1);
  });
});

describe("stepFor", () => {
  const rows = rowsOf(nested, turn(firstState, "/a", true)); // a, a/b, d
  test.each([
    ["ArrowDown", 0, { go: 1 }],
    ["ArrowDown", 2, { go: 2 }],
    ["ArrowUp", 0, { go: 0 }],
    ["Home", 2, { go: 0 }],
    ["End", 0, { go: 2 }],
    ["ArrowRight", 0, { go: 1 }],
    ["ArrowRight", 1, { turn: "/a/b", isOpen: true }],
    ["ArrowRight", 2, undefined],
    ["ArrowLeft", 0, { turn: "/a", isOpen: false }],
    ["ArrowLeft", 1, { go: 0 }],
    ["ArrowLeft", 2, undefined],
    ["x", 0, undefined],
    ["constructor", 0, undefined],
  ])("%s on line %i", (key, at, move) => {
    expect(stepFor(rows, at, key)).toEqual(move);
  });

  test("an empty tree has no keys", () => {
    expect(stepFor([], 0, "End")).toBeUndefined();
  });
});
