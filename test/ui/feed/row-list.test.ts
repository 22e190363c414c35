import { describe, expect, test } from "vitest";
import { type HistoryPage, type RowKind, RowList } from "../../../ui/feed/row-list.ts";

interface Row {
  readonly seq: number;
  readonly n: number;
}

const kind: RowKind<Row> = { number: ({ seq }) => seq, request: ({ n }) => n };

/** A request of its own for each row. */
const row = (seq: number): Row => ({ seq, n: seq });

const upTo = (first: number, last: number): Row[] => Array.from({ length: last - first + 1 }, (_, i) => row(first + i));

/** Part of a history, newest first. */
const page = (first: number, last: number, before: number | null = null): HistoryPage<Row> => ({
  rows: upTo(first, last).toReversed(),
  more: before !== null,
  before,
});

const listOf = (held = 10, read = 30): RowList<Row> => new RowList(kind, { held, read });

const shown = (list: RowList<Row>): number[] => Array.from({ length: list.count() }, (_, i) => list.at(i)?.seq ?? -1);

describe("rows that come", () => {
  test("the newest is on top, and each is there once", () => {
    const list = listOf();
    list.replace(page(1, 3));
    list.append([row(3), row(4), row(5)]);
    list.append([row(5)]);
    expect(shown(list)).toEqual([5, 4, 3, 2, 1]);
    expect(list.added()).toBe(2);
  });

  test("beyond what is held, the oldest go, and are to be had from the history", () => {
    const list = listOf(10);
    list.replace(page(1, 5));
    list.append(upTo(6, 12));
    expect(shown(list).at(-1)).toBe(3);
    expect([list.count(), list.more(), list.before()]).toEqual([10, true, 3]);
  });

  test("what was read back stays while there is room for it", () => {
    const list = listOf(10, 30);
    list.replace(page(21, 30, 21));
    list.extend(page(11, 20, 11), 21);
    list.append([row(31), row(32)]);
    expect([list.count(), list.before()]).toEqual([22, 11]);
    list.append(upTo(33, 34));
    expect([list.count(), list.before(), shown(list).at(-1)]).toEqual([20, 15, 15]);
  });

  test("an answer about what lay below before the oldest went is of no use", () => {
    const list = listOf(10);
    list.replace(page(5, 14, 5));
    const asked = list.before();
    list.append(upTo(15, 20));
    list.extend(page(1, 4), asked);
    expect(shown(list)).toEqual(
      upTo(11, 20)
        .map(({ seq }) => seq)
        .toReversed(),
    );
    expect(list.before()).toBe(11);
  });

  test("a row is found by its number", () => {
    const list = listOf();
    list.replace({ rows: [row(9), row(5), row(2)], more: false, before: null });
    expect([9, 5, 2, 3, 10, 1].map(list.indexOf)).toEqual([0, 1, 2, -1, -1, -1]);
    expect([list.at(3), list.at(-1)]).toEqual([undefined, undefined]);
  });
});

describe("a pause", () => {
  test("holds what is seen still and loses nothing", () => {
    const list = listOf();
    list.replace(page(1, 2));
    list.pause();
    list.append([row(3), row(4)]);
    expect([shown(list), list.unread(), list.added(), list.indexOf(4)]).toEqual([[2, 1], 2, 0, -1]);
    list.resume();
    expect([shown(list), list.unread(), list.added()]).toEqual([[4, 3, 2, 1], 0, 2]);
  });

  test("of more than can wait, the oldest are left in the sim, and reported as missing", () => {
    const list = listOf(10);
    list.replace(page(1, 3));
    list.pause();
    for (let seq = 4; seq <= 40; seq++) list.append([row(seq)]);
    expect(shown(list)).toEqual([3, 2, 1]);
    const [gap] = list.gaps();
    expect(list.gaps()).toHaveLength(1);
    expect(gap).toMatchObject({ from: 4, below: 3 });
    expect(list.unread() + (gap?.to ?? 0)).toBe(40);
    list.resume();
    const [top, bottom] = [shown(list)[0], shown(list).at(-1)];
    expect([top, (bottom ?? 0) > 3 || list.gaps().length === 1]).toEqual([40, true]);
  });

  test("older rows can be read meanwhile", () => {
    const list = listOf();
    list.replace(page(5, 6, 5));
    list.pause();
    list.append([row(7)]);
    list.extend(page(1, 4), 5);
    expect([shown(list), list.unread(), list.more()]).toEqual([[6, 5, 4, 3, 2, 1], 1, false]);
  });
});

describe("requests that did not come", () => {
  test("are a gap between the rows around them, which the history fills", () => {
    const list = listOf(100);
    list.replace(page(1, 3));
    list.miss(4, 8);
    expect(list.gaps()).toEqual([{ from: 4, to: 8, below: 3, before: null }]);
    list.append([row(9)]);
    const [gap] = list.gaps();
    expect(gap).toMatchObject({ below: 3, before: 9 });
    if (!gap) return;
    const rest = list.fill(gap, page(7, 8, 7));
    expect(rest).toEqual({ from: 4, to: 7, below: 3, before: 7 });
    expect(shown(list)).toEqual([9, 8, 7, 3, 2, 1]);
    if (!rest) return;
    expect(list.fill(rest, page(2, 6, 2))).toBeUndefined();
    expect(shown(list)).toEqual([9, 8, 7, 6, 5, 4, 3, 2, 1]);
    expect(list.gaps()).toEqual([]);
  });

  test("one gap that grows before a row comes is one", () => {
    const list = listOf();
    list.replace(page(1, 3));
    list.miss(4, 8);
    list.miss(9, 12);
    expect(list.gaps()).toEqual([{ from: 4, to: 12, below: 3, before: null }]);
  });

  test("filling takes nothing that came or comes by itself", () => {
    const list = listOf(100);
    list.replace(page(1, 3));
    list.miss(4, 5);
    const [gap] = list.gaps();
    list.append([row(6), row(7)]);
    if (gap) list.fill(gap, page(1, 7));
    expect(shown(list)).toEqual([7, 6, 5, 4, 3, 2, 1]);
  });

  test("in a pause, what fills a gap above the last one seen waits", () => {
    const list = listOf(100);
    list.replace(page(1, 3));
    list.pause();
    list.miss(4, 5);
    list.append([row(6)]);
    const [gap] = list.gaps();
    if (gap) list.fill(gap, page(1, 5));
    expect([shown(list), list.unread()]).toEqual([[3, 2, 1], 3]);
  });

  test("a gap that the oldest rows take with them is not missing any more: it lies in the history", () => {
    const list = listOf(10);
    list.replace(page(1, 3));
    list.miss(4, 8);
    list.append(upTo(9, 30));
    expect([list.gaps(), list.more()]).toEqual([[], true]);
  });

  test("a new beginning forgets them", () => {
    const list = listOf();
    list.replace(page(1, 3));
    list.miss(4, 8);
    list.replace(page(1, 8));
    expect([list.gaps(), shown(list)]).toEqual([[], [8, 7, 6, 5, 4, 3, 2, 1]]);
  });
});
