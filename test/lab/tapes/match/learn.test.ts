import { expect, test } from "vitest";
import { learnNoise } from "../../../../src/lab/tapes/match/pairs.ts";
import { loadTapeMatcher } from "../../../../src/lab/tapes/match/tape-matcher.ts";
import { asked, hitOf, type Said, tapeOf } from "./tape.ts";

const list = "/api/projects/1/dashboards";
const session = (n: number, id: string): Said[] => [
  {
    target: `${list}?date_from=${n}&_=${n}`,
    answer: {
      results: [
        { id: 1, seen: n },
        { id: 2, seen: n },
      ],
    },
  },
  { target: list, body: { name: "x", nonce: { at: n } }, status: 201, answer: { id: 40 + n, ref: id } },
  { target: `${list}/7`, answer: { id: 7, stamp: n, same: 1 } },
  {
    target: "/batch",
    body: { batch: [{ event: "a", uuid: id, properties: { who: id, load: n, $session_id: `${n}` } }] },
  },
  { target: "/flags/?v=2", body: { distinct_id: id }, answer: { requestId: `r${n}`, flags: {} } },
];
const first = session(1, "0195f3f6-aaaa-7000-8000-000000000001");
const second = session(2, "0195f3f6-bbbb-7000-8000-000000000002");

const noise = [
  "req.body.batch[].properties.load",
  "req.body.nonce.at",
  "req.query.date_from",
  "res.body.id",
  "res.body.requestId",
  "res.body.results[].seen",
  "res.body.stamp",
];

test("what differs between two recordings, ids and what is volatile anyway left out", async () => {
  expect(await learnNoise(tapeOf(first), tapeOf(second))).toEqual(noise);
});

test("with it, one answers the other", async () => {
  const matcher = await loadTapeMatcher(tapeOf(first), { noise });
  const hits = second.flatMap((it) => (it.target === "/batch" ? [] : [hitOf(matcher.answer(asked(it)))]));
  expect(hits).toEqual([1, 2, 3, 5]);
  expect(matcher.compareEvents(asked(second[3] ?? { target: "/batch" }))).toEqual({ matched: 1, extra: [] });
  expect(matcher.ledger().unused).toEqual([]);
});

test("what the header has is not proposed again", async () => {
  expect(await learnNoise(tapeOf(first, { noise: noise.slice(1) }), tapeOf(second))).toEqual(noise.slice(0, 1));
});

test("an id that stands for two of the other recording is noise", async () => {
  const id = (n: number) => `0195f3f6-aaaa-7000-8000-00000000000${n}`;
  const said = (one: number, two: number): Said[] => [{ target: `${list}/7`, answer: { one: id(one), two: id(two) } }];
  expect(await learnNoise(tapeOf(said(1, 1)), tapeOf(said(2, 2)))).toEqual([]);
  expect(await learnNoise(tapeOf(said(1, 1)), tapeOf(said(2, 3)))).toEqual(["res.body.two"]);
});

test.each<{ name: string; a: Said[]; b: Said[] }>([
  { name: "equal tapes", a: first, b: first },
  { name: "empty tapes", a: [], b: [] },
  { name: "nothing to compare with", a: first, b: [{ target: "/api/other" }] },
  { name: "lists of other lengths", a: [{ target: list, answer: [1] }], b: [{ target: list, answer: [1, 2] }] },
])("$name: nothing", async ({ a, b }) => {
  expect(await learnNoise(tapeOf(a), tapeOf(b))).toEqual([]);
});
