import { describe, expect, test } from "vitest";
import { newProgress, type OnExhausted, takeNext } from "../../../../src/lab/tapes/match/catalog.ts";
import { fc } from "../../../support/chance.ts";
import { asked, hitOf, matcherOf, type Said } from "./tape.ts";

const target = "/api/projects/1/dashboards";

test("three answers, six requests: the last is repeated", async () => {
  const expected = [1, 2, 3, 3, 3, 3];
  const matcher = await matcherOf([{ target }, { target }, { target }]);
  expect(expected.map(() => hitOf(matcher.answer(asked({ target }))))).toEqual(expected);
});

describe("the next of a series of rows", () => {
  const rows: [onExhausted: OnExhausted, unfit: number[], taken: (number | undefined)[]][] = [
    ["repeat", [], [4, 6, 9, 9, 9]],
    ["repeat", [9], [4, 6, 6, 6, 6]],
    ["repeat", [4, 6, 9], [undefined, undefined]],
    ["miss", [6], [4, 9, undefined]],
  ];
  test.each(rows)("%s, without %j: %j", (onExhausted, unfit, taken) => {
    const series = { ids: [], rows: [4, 6, 9] };
    const progress = newProgress();
    const next = () => takeNext(series, progress, onExhausted, (row) => !unfit.includes(row));
    expect(taken.map(next)).toEqual(taken);
    expect([...progress.used]).toEqual([4, 6, 9].filter((row) => !unfit.includes(row)));
  });

  test("only rows of the series are asked whether they fit", () => {
    const series = { ids: [], rows: [4, 6, 9] };
    const asked = new Set<number>();
    const progress = newProgress();
    const next = () =>
      takeNext(series, progress, "miss", (row) => {
        asked.add(row);
        return row === 6;
      });
    expect([next(), next()]).toEqual([6, undefined]);
    expect([...asked].sort()).toEqual([4, 6, 9]);
  });

  test("a row that did not fit comes when it does", () => {
    const series = { ids: [], rows: [4, 6, 9] };
    const progress = newProgress();
    const unfit = new Set([4]);
    const next = () => takeNext(series, progress, "miss", (row) => !unfit.has(row));
    expect([next(), next()]).toEqual([6, 9]);
    unfit.clear();
    expect([next(), next()]).toEqual([4, undefined]);
    expect(progress.cursors.get(series)).toBe(3);
  });

  test("what another series has used is passed over", () => {
    const progress = newProgress();
    const [one, other] = [
      { ids: [], rows: [1, 2] },
      { ids: [], rows: [0, 2, 3] },
    ];
    expect([takeNext(one, progress, "miss"), takeNext(one, progress, "miss")]).toEqual([1, 2]);
    expect([takeNext(other, progress, "miss"), takeNext(other, progress, "miss")]).toEqual([0, 3]);
  });
});

test("what ended later, but began earlier, comes first", async () => {
  const matcher = await matcherOf([
    { target, i: 2 },
    { target, i: 3 },
    { target, i: 1 },
  ]);
  expect([1, 2, 3].map(() => hitOf(matcher.answer(asked({ target }))))).toEqual([1, 2, 3]);
});

describe("what is not replayed", () => {
  const failures: Said[] = [{ target, status: 429 }, { target, complete: false }, { target }, { target, status: 500 }];

  test.each([
    { options: {}, expected: [1, 3, 4] },
    { options: { skipStatus: [429, 500] }, expected: [3] },
  ])("$options", async ({ options, expected }) => {
    const matcher = await matcherOf(failures, options);
    expect(expected.map(() => hitOf(matcher.answer(asked({ target }))))).toEqual(expected);
    const { total, unused, left_out } = matcher.ledger();
    expect({ total, unused }).toEqual({ total: expected.length, unused: [] });
    expect(left_out.map(({ i }) => i)).toEqual([1, 2, 3, 4].filter((i) => !expected.includes(i)));
  });

  test("not changed is an answer for those only who have something", async () => {
    const headers = [["if-none-match", '"1"']] as const;
    const matcher = await matcherOf([{ target }, { target, status: 304, headers }]);
    const plain = () => hitOf(matcher.answer(asked({ target })));
    expect([plain(), plain()]).toEqual([1, 1]);
    expect(hitOf(matcher.answer(asked({ target, headers })))).toBe(2);
    expect(plain()).toBe(1);
  });

  test("nothing but not changed", async () => {
    const matcher = await matcherOf([{ target, status: 304 }]);
    expect(hitOf(matcher.answer(asked({ target })))).toBe("miss");
  });
});

describe("clients", () => {
  test("each has its own place", async () => {
    const matcher = await matcherOf([{ target }, { target }]);
    const ask = (client: string) => hitOf(matcher.answer(asked({ target }, client)));
    expect(["a", "b", "a", "b"].map(ask)).toEqual([1, 1, 2, 2]);
  });

  test("rewind one, rewind all", async () => {
    const matcher = await matcherOf([{ target }, { target }]);
    const ask = (client: string) => hitOf(matcher.answer(asked({ target }, client)));
    expect(["a", "b"].map(ask)).toEqual([1, 1]);
    matcher.rewind("a");
    expect(["a", "b"].map(ask)).toEqual([1, 2]);
    matcher.rewind();
    expect(matcher.ledger()).toMatchObject({ hits: 0, misses: [], unused: [{ i: 1 }, { i: 2 }] });
    expect(["a", "b"].map(ask)).toEqual([1, 1]);
  });

  test("fifty at once, each with its own anonymous person", async () => {
    const uuid = (n: number, who: string) => `0195f3f6-${who}-7000-8000-${String(n).padStart(12, "0")}`;
    const said = (who: string): Said[] =>
      [1, 2].flatMap((n) => [
        { target: "/flags/?v=2", body: { distinct_id: uuid(n, who) }, answer: { id: uuid(n, who) } },
        { target: `/api/projects/1/persons/${uuid(n, who)}` },
        { target },
      ]);
    const matcher = await matcherOf(said("aaaa"));
    const clients = Array.from({ length: 50 }, (_, n) => n.toString(16).padStart(4, "0"));
    const hits = [0, 1, 2, 3, 4, 5].flatMap((step) =>
      clients.map((who) => {
        const live = said(who)[step];
        return live === undefined ? "miss" : hitOf(matcher.answer(asked(live, who)));
      }),
    );
    expect(hits).toEqual([1, 2, 3, 4, 5, 6].flatMap((i) => clients.map(() => i)));
    expect(matcher.ledger()).toMatchObject({ hits: 300, unused: [], misses: [] });
  });
});

describe("the ledger", () => {
  test("reports unused and missed ones; preflights are no one's fault", async () => {
    const matcher = await matcherOf([{ target }, { target: "/api/users/@me" }, { target: "/e/", method: "OPTIONS" }]);
    matcher.answer(asked({ target }));
    matcher.answer(asked({ target: "/api/nothing" }, "a"));
    matcher.answer(asked({ target: "/api/nothing" }, "a"));
    matcher.answer(asked({ target: "/api/nothing" }, "b"));
    const { unused, misses, hits, total } = matcher.ledger();
    expect({ total, hits }).toEqual({ total: 2, hits: 1 });
    expect(matcher.tally()).toEqual({ hits: 1, misses: 3 });
    expect(unused).toEqual([
      { i: 2, method: "GET", url: "https://us.posthog.com/api/users/@me", route: "GET /api/users/@me" },
    ]);
    expect(misses).toMatchObject([{ method: "GET", target: "/api/nothing", route: "GET /api/nothing", times: 3 }]);
  });
});

const uuid = fc.uuid();
const said: fc.Arbitrary<Said> = fc.oneof(
  fc.record({ target: fc.constantFrom(target, `${target}/7`, "/api/users/@me", "/%zz?a=%", "/array/phc_aaaa/config") }),
  fc.record({ target: fc.constantFrom("/flags/?v=2", "/decide/?v=3"), body: fc.record({ distinct_id: uuid }) }),
  fc.record({ target: uuid.map((id) => `/api/persons/${id}`) }),
  fc.record({ target: fc.constant(target), body: fc.jsonValue() as fc.Arbitrary<Said["body"] & {}> }),
  fc.record({ target: fc.constant("/e/"), body: fc.constant({ event: "x", distinct_id: "u" }) }),
);

test("a tape answers each of its own requests, in order, and nothing is left", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(said, { maxLength: 30 }), async (recorded) => {
      const matcher = await matcherOf(recorded);
      const hits = recorded.map((it) => hitOf(matcher.answer(asked(it))));
      expect(hits).toEqual(recorded.map((_, at) => at + 1));
      expect(matcher.ledger()).toMatchObject({ unused: [], misses: [] });
    }),
    { numRuns: 100 },
  );
});
