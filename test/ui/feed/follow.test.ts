import { describe, expect, test } from "vitest";
import type { History } from "../../../src/state/journal/feed/feed-row.ts";
import { followRows, type LiveRows, type RowListener, type RowSource } from "../../../ui/feed/follow.ts";
import { fc } from "../../support/chance.ts";

interface Row {
  readonly seq: number;
  readonly n: number;
  readonly passes: boolean;
}

/** A sim as the page sees it: a journal of requests with events, and a connection that may lag, skip or break. */
function createModel() {
  let journal: Row[] = [];
  let epoch = 1;
  let [seq, n] = [0, 0];
  let follower: { reported: RowListener<Row>; cursor: number } | undefined;
  let back: () => void = () => {};
  let isDown = false;
  const waiting: (() => void)[] = [];

  const passing = (): Row[] => journal.filter((it) => it.passes);

  function history(limit: number, before: number | null): History<Row> {
    const older = journal.filter((it) => it.seq < (before ?? Number.MAX_SAFE_INTEGER)).toReversed();
    const rows = older.filter((it) => it.passes).slice(0, limit);
    const last = rows.length === limit ? (rows.at(-1)?.seq ?? null) : null;
    return { epoch: String(epoch), cursor: n, rows, more: last !== null, before: last };
  }

  const source: RowSource<Row> = {
    number: (row) => row.seq,
    request: (row) => row.n,
    history: (limit, before) =>
      new Promise((resolve, reject) => {
        // it is answered when the test lets it, of what there is then
        waiting.push(() => (isDown ? reject(new Error("down")) : resolve(history(limit, before))));
      }),
    subscribe(of, cursor, reported) {
      const mine = { reported, cursor };
      follower = mine;
      if (of !== String(epoch)) reported.onReset();
      return () => {
        if (follower === mine) follower = undefined;
      };
    },
    soon: (draw) => draw,
    onBack(run) {
      back = run;
      return () => {};
    },
    trouble: (error) => ({ message: String(error) }),
  };

  /** Sends what was not sent yet; `isGap` says that it was too much. */
  function deliver(isGap: boolean): void {
    const it = follower;
    if (!it || isDown || it.cursor >= n) return;
    const from = it.cursor + 1;
    it.cursor = n;
    if (isGap) it.reported.onGap(from, n);
    else it.reported.onRows(passing().filter((row) => row.n >= from));
  }

  return {
    source,
    passing,
    deliver,
    answer: () => waiting.shift()?.(),
    isWaiting: () => waiting.length > 0,
    capture(events: readonly boolean[]) {
      n++;
      journal.push(...events.map((passes) => ({ seq: ++seq, n, passes })));
    },
    clear() {
      journal = [];
      epoch++;
      follower?.reported.onReset();
    },
    down(isOver: boolean) {
      const wasDown = isDown;
      isDown = !isOver;
      if (wasDown && isOver) back();
    },
  };
}

const seqs = (rows: LiveRows<Row>): number[] => Array.from({ length: rows.count() }, (_, i) => rows.at(i)?.seq ?? -1);

/** Lets promises that were answered take effect. */
const settled = async (): Promise<void> => {
  for (let i = 0; i < 5; i++) await Promise.resolve();
};

type Model = ReturnType<typeof createModel>;

/** Until everything that was asked for is answered and everything missing is loaded. */
async function comeToRest(model: Model, rows: LiveRows<Row>): Promise<void> {
  for (let i = 0; i < 500; i++) {
    await settled();
    if (model.isWaiting()) model.answer();
    else if (rows.missed.value > 0 && !rows.isLoading.value) rows.loadMissed();
    else if (rows.hasOlder.value && !rows.isLoading.value) rows.older();
    else return;
  }
  throw new Error("it does not come to rest");
}

const steps = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant("capture" as const), events: fc.array(fc.boolean(), { maxLength: 5 }) }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("deliver" as const), isGap: fc.boolean() }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("answer" as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom("pause", "resume", "older", "loadMissed") }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom("clear", "down", "up") }) },
);

type Step = typeof steps extends fc.Arbitrary<infer S> ? S : never;

function take(step: Step, model: Model, rows: LiveRows<Row>): void {
  if (step.do === "capture" && "events" in step) model.capture(step.events);
  else if (step.do === "deliver" && "isGap" in step) model.deliver(step.isGap);
  else if (step.do === "answer") model.answer();
  else if (step.do === "pause") rows.pause();
  else if (step.do === "resume") rows.resume();
  else if (step.do === "older") rows.older();
  else if (step.do === "loadMissed") rows.loadMissed();
  else if (step.do === "clear") model.clear();
  else if (step.do === "down") model.down(false);
  else model.down(true);
}

describe("whatever happens, in whatever order", () => {
  test("rows stay in order and single, and in the end all are there", async () => {
    const property = fc.asyncProperty(fc.array(steps, { maxLength: 60 }), async (all) => {
      const model = createModel();
      const rows = followRows(model.source);
      for (const step of all) {
        take(step, model, rows);
        await settled();
        const now = seqs(rows);
        expect(now).toEqual([...new Set(now)].toSorted((a, b) => b - a));
      }
      model.down(true);
      await comeToRest(model, rows);
      model.deliver(false);
      rows.resume();
      await comeToRest(model, rows);
      expect(seqs(rows)).toEqual(
        model
          .passing()
          .map((it) => it.seq)
          .toReversed(),
      );
      expect([rows.unread.value, rows.missed.value, rows.problem.value]).toEqual([0, 0, undefined]);
    });
    await fc.assert(property, { numRuns: 400 });
  });

  test("while paused, what is seen does not change but for what is read below", async () => {
    const property = fc.asyncProperty(fc.array(steps, { maxLength: 40 }), async (all) => {
      const model = createModel();
      for (let i = 0; i < 10; i++) model.capture([true, false]);
      const rows = followRows(model.source);
      await comeToRest(model, rows);
      rows.pause();
      const before = seqs(rows);
      for (const step of all.filter((it) => !["resume", "clear"].includes(it.do))) {
        take(step, model, rows);
        await settled();
      }
      expect(seqs(rows).slice(0, before.length)).toEqual(before);
    });
    await fc.assert(property, { numRuns: 200 });
  });
});

describe("a list that begins", () => {
  test("is ready with the first answer, and takes what came while it was asked", async () => {
    const model = createModel();
    model.capture([true, true]);
    const rows = followRows(model.source);
    expect([rows.isReady.value, rows.isLoading.value]).toEqual([false, true]);
    model.answer();
    await settled();
    expect([rows.isReady.value, seqs(rows)]).toEqual([true, [2, 1]]);
    model.capture([true]);
    model.deliver(false);
    expect(seqs(rows)).toEqual([3, 2, 1]);
  });

  test("reports why it does not come, and comes when the connection is back", async () => {
    const model = createModel();
    model.capture([true]);
    model.down(false);
    const rows = followRows(model.source);
    model.answer();
    await settled();
    expect([rows.isReady.value, rows.problem.value]).toEqual([false, { message: "Error: down" }]);
    model.down(true);
    await settled();
    model.answer();
    await settled();
    expect([rows.problem.value, seqs(rows)]).toEqual([undefined, [1]]);
  });

  test("keeps the rows before until it was read anew", async () => {
    const model = createModel();
    model.capture([true]);
    const rows = followRows(model.source);
    model.answer();
    await settled();
    model.clear();
    expect(seqs(rows)).toEqual([1]);
    await settled();
    model.answer();
    await settled();
    expect(seqs(rows)).toEqual([]);
  });

  test("says nothing any more when it is closed", async () => {
    const model = createModel();
    const rows = followRows(model.source);
    rows.close();
    model.capture([true]);
    model.answer();
    await settled();
    model.deliver(false);
    expect([rows.isReady.value, rows.count()]).toEqual([false, 0]);
  });
});
