import { describe, expect, test, vi } from "vitest";
import { createAgenda, type Due, type Happened } from "../../../src/kernel/base/agenda.ts";
import { SimClock, timeRange } from "../../../src/kernel/base/clock.ts";

const frozenAt = (at: number) => new SimClock({ at, frozen: true });

/** Work that is due at these times; it says what the clock showed when it was done. */
function workAt(clock: SimClock, kind: string, ...times: number[]): Due {
  let waiting = times.toSorted((a, b) => a - b);
  return {
    nextDue: () => waiting[0],
    async perform(until) {
      await Promise.resolve();
      const done = waiting.filter((it) => it <= until);
      waiting = waiting.filter((it) => it > until);
      return done.map((due): Happened => ({ at: new Date(clock.now()).toISOString(), kind, due }));
    },
  };
}

const reported = (happened: readonly Happened[]) => happened.map((it) => [it.kind, it.due, Date.parse(it.at)]);

describe("advance", () => {
  test("performs what becomes due in order, each with the clock at its time", async () => {
    const clock = frozenAt(0);
    const agenda = createAgenda(clock);
    agenda.add(workAt(clock, "a", 10, 30, 90));
    agenda.add(workAt(clock, "b", 20, 30));
    expect(reported(await agenda.advance(50))).toEqual([
      ["a", 10, 10],
      ["b", 20, 20],
      ["a", 30, 30],
      ["b", 30, 30],
    ]);
    expect([clock.now(), agenda.nextDue()]).toEqual([50, 90]);
  });

  test("performs what a performance made due", async () => {
    const clock = frozenAt(0);
    const agenda = createAgenda(clock);
    let next: number | undefined = 10;
    agenda.add({
      nextDue: () => next,
      async perform() {
        next = clock.now() < 30 ? clock.now() + 10 : undefined;
        return [{ at: "", kind: "step", due: clock.now() }];
      },
    });
    expect((await agenda.advance(100)).map((it) => it.due)).toEqual([10, 20, 30]);
  });

  test("performs what is overdue first, without turning the clock back", async () => {
    const clock = frozenAt(100);
    const agenda = createAgenda(clock);
    agenda.add(workAt(clock, "late", 10));
    expect(reported(await agenda.advance(0))).toEqual([["late", 10, 100]]);
  });

  test("one after the other, in the order of the calls", async () => {
    const clock = frozenAt(0);
    const agenda = createAgenda(clock);
    agenda.add(workAt(clock, "a", 5, 15, 25));
    const both = await Promise.all([agenda.advance(10), agenda.change((it) => it.set(20)), agenda.advance(10)]);
    expect([reported(both[0]), reported(both[2])]).toEqual([
      [["a", 5, 5]],
      [
        ["a", 15, 20],
        ["a", 25, 25],
      ],
    ]);
    expect(clock.now()).toBe(30);
  });

  test("a clock that ran runs on", async () => {
    let machine = 1000;
    const clock = new SimClock({ at: "real", frozen: false }, () => machine);
    const agenda = createAgenda(clock);
    await agenda.advance(500);
    machine += 7;
    expect([clock.now(), clock.isFrozen]).toEqual([1507, false]);
    agenda.close();
  });

  test("work that stays due does not hold it up", async () => {
    const clock = frozenAt(0);
    const agenda = createAgenda(clock);
    agenda.add({ nextDue: () => 10, perform: async () => [] });
    agenda.add(workAt(clock, "a", 20));
    expect(reported(await agenda.advance(30))).toEqual([["a", 20, 20]]);
    expect(clock.now()).toBe(30);
  });

  test("stops where it is when the work fails, and goes on later", async () => {
    let machine = 0;
    const clock = new SimClock({ at: "real", frozen: false }, () => machine);
    const agenda = createAgenda(clock);
    let isBroken = true;
    agenda.add({
      nextDue: () => (isBroken ? 10 : undefined),
      async perform() {
        if (isBroken) throw new Error("no");
        return [];
      },
    });
    await expect(agenda.advance(100)).rejects.toThrow("no");
    expect([clock.now(), clock.isFrozen]).toEqual([10, false]);
    isBroken = false;
    machine += 5;
    await agenda.advance(100);
    expect(clock.now()).toBe(115);
    agenda.close();
  });

  test("stops when the caller went away", async () => {
    const clock = frozenAt(0);
    const agenda = createAgenda(clock);
    const gone = new AbortController();
    let next = 10;
    agenda.add({
      nextDue: () => next,
      async perform() {
        if (next === 30) gone.abort();
        next += 10;
        return [];
      },
    });
    await agenda.advance(1_000_000, gone.signal);
    expect(clock.now()).toBe(30);
  });

  test("ends with the year 9999", async () => {
    const clock = frozenAt(timeRange.last - 10);
    const agenda = createAgenda(clock);
    await expect(agenda.advance(11)).rejects.toMatchObject({ code: "invalid_input" });
    await agenda.advance(10);
    expect(clock.now()).toBe(timeRange.last);
  });
});

describe("a clock that runs", () => {
  /** Timers of the test, and a machine that goes with them. */
  async function withTimers(work: (clock: SimClock) => Promise<void>): Promise<void> {
    vi.useFakeTimers({ now: 1000 });
    try {
      await work(new SimClock());
    } finally {
      vi.useRealTimers();
    }
  }

  test("performs what is due by itself, when its time comes", () =>
    withTimers(async (clock) => {
      const agenda = createAgenda(clock);
      const work = workAt(clock, "a", 1500, 2000);
      agenda.add(work);
      await vi.advanceTimersByTimeAsync(499);
      expect(work.nextDue()).toBe(1500);
      await vi.advanceTimersByTimeAsync(2);
      expect(work.nextDue()).toBe(2000);
      await vi.advanceTimersByTimeAsync(500);
      expect([work.nextDue(), vi.getTimerCount()]).toEqual([undefined, 0]);
    }));

  test("waits for nothing while it stands, or nothing is due", () =>
    withTimers(async (clock) => {
      const agenda = createAgenda(clock);
      expect(vi.getTimerCount()).toBe(0);
      agenda.add(workAt(clock, "a", 1500));
      expect(vi.getTimerCount()).toBe(1);
      await agenda.change((it) => it.freeze());
      await vi.advanceTimersByTimeAsync(1);
      expect(vi.getTimerCount()).toBe(0);
      await agenda.change((it) => it.run());
      await vi.advanceTimersByTimeAsync(1);
      expect(vi.getTimerCount()).toBe(1);
      agenda.close();
      expect(vi.getTimerCount()).toBe(0);
    }));

  test("what fails is reported, and tried again after a pause", () =>
    withTimers(async (clock) => {
      const errors: unknown[] = [];
      const agenda = createAgenda(clock, (error) => errors.push(error));
      agenda.add({ nextDue: () => 1010, perform: () => Promise.reject(new Error("no")) });
      await vi.advanceTimersByTimeAsync(10);
      expect(errors).toHaveLength(1);
      await vi.advanceTimersByTimeAsync(900);
      expect(errors).toHaveLength(1);
      await vi.advanceTimersByTimeAsync(200);
      expect(errors).toHaveLength(2);
      agenda.close();
    }));

  test("what is due at another time than before is waited for anew", () =>
    withTimers(async (clock) => {
      const agenda = createAgenda(clock);
      let next: number | undefined;
      agenda.add({
        nextDue: () => next,
        async perform() {
          next = undefined;
          return [];
        },
      });
      next = 1200;
      agenda.changed();
      await vi.advanceTimersByTimeAsync(201);
      expect(next).toBeUndefined();
    }));
});
