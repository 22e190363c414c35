import { describe, expect, test } from "vitest";
import { Gauge } from "../../../src/kernel/http/gauge.ts";

/** Never ends: what is waited for comes by itself. */
const open = () => new AbortController().signal;

/** Has it ended, once all that is due now is done? What others wait for is waited for a little longer than that. */
async function isOver(promise: Promise<unknown>): Promise<boolean> {
  let over = false;
  promise.then(
    () => {
      over = true;
    },
    () => {},
  );
  await new Gauge().quiet(5, open());
  return over;
}

describe("tickets", () => {
  test("are counted, whose they are as far as it is known", () => {
    const gauge = new Gauge();
    const [a, b] = [gauge.begin(), gauge.begin()];
    gauge.begin();
    gauge.setProject(a, 1);
    gauge.setProject(b, null);
    expect([gauge.inFlight, gauge.inFlightOf(), gauge.inFlightOf(1), gauge.inFlightOf(2)]).toEqual([3, 3, 2, 1]);
  });

  test("end once; what was never begun does not matter", () => {
    const gauge = new Gauge();
    const ticket = gauge.begin();
    gauge.begin();
    for (const it of [ticket, ticket, 0, 99]) {
      gauge.setProject(it, 1);
      gauge.end(it);
    }
    expect(gauge.inFlight).toBe(1);
  });

  test("say when the last one ended", () => {
    const gauge = new Gauge();
    expect([gauge.idleFor(), gauge.idleFor(1)]).toEqual([null, null]);
    const ticket = gauge.begin();
    gauge.setProject(ticket, 1);
    gauge.end(ticket);
    expect([gauge.idleFor(), gauge.idleFor(1)]).toEqual([expect.any(Number), expect.any(Number)]);
    expect(gauge.idleFor(2)).toBeNull();
  });

  test("of very many projects are no burden", () => {
    const gauge = new Gauge();
    for (let project = 1; project <= 20_000; project++) {
      const ticket = gauge.begin();
      gauge.setProject(ticket, project);
      gauge.end(ticket);
    }
    expect([gauge.idleFor(1), gauge.idleFor(20_000)]).toEqual([null, expect.any(Number)]);
  });
});

describe("quiet", () => {
  test("at once when nothing is in flight and no idle time is asked", async () => {
    const gauge = new Gauge();
    await gauge.quiet(0, open());
    await gauge.quiet(0, open(), 1);
    expect(gauge.inFlight).toBe(0);
  });

  const blocking: [owner: number | null | undefined, asked: number | undefined, isBlocked: boolean][] = [
    [undefined, undefined, true],
    [1, undefined, true],
    [null, undefined, true],
    [undefined, 1, true],
    [1, 1, true],
    [2, 1, false],
    [null, 1, false],
  ];
  test.each(blocking)("a request of %s in flight, asked of %s: waits %s", async (owner, asked, isBlocked) => {
    const gauge = new Gauge();
    const ticket = gauge.begin();
    if (owner !== undefined) gauge.setProject(ticket, owner);
    const quiet = gauge.quiet(0, open(), asked);
    expect(await isOver(quiet)).toBe(!isBlocked);
    gauge.end(ticket);
    await quiet;
  });

  test("a request that turns out to be another's blocks no longer", async () => {
    const gauge = new Gauge();
    const ticket = gauge.begin();
    const quiet = gauge.quiet(0, open(), 1);
    expect(await isOver(quiet)).toBe(false);
    gauge.setProject(ticket, 2);
    await quiet;
    expect(gauge.inFlight).toBe(1);
  });

  test("of a project: requests that begin later are not waited for", async () => {
    const gauge = new Gauge();
    const first = gauge.begin();
    const quiet = gauge.quiet(0, open(), 1);
    expect(await isOver(quiet)).toBe(false);
    gauge.begin();
    gauge.end(first);
    await quiet;
    expect(gauge.inFlight).toBe(1);
  });

  test("of a project: one that turns out to be its starts it over", async () => {
    const gauge = new Gauge();
    const [first, second] = [gauge.begin(), gauge.begin()];
    const quiet = gauge.quiet(0, open(), 1);
    await isOver(quiet);
    const later = gauge.begin();
    gauge.setProject(later, 1);
    gauge.setProject(second, 1);
    gauge.end(second);
    gauge.end(first);
    expect(await isOver(quiet)).toBe(false);
    gauge.end(later);
    await quiet;
    expect(gauge.inFlight).toBe(0);
  });

  test("of all: one that comes meanwhile starts it over", async () => {
    const gauge = new Gauge();
    const first = gauge.begin();
    const quiet = gauge.quiet(0, open());
    const second = gauge.begin();
    gauge.end(first);
    expect(await isOver(quiet)).toBe(false);
    gauge.end(second);
    await quiet;
    expect(gauge.inFlight).toBe(0);
  });

  test("lasts as long as it is asked, from the last request on", async () => {
    const gauge = new Gauge();
    const ticket = gauge.begin();
    gauge.setProject(ticket, 1);
    const quiet = Promise.all([gauge.quiet(20, open(), 1), gauge.quiet(20, open())]);
    gauge.end(ticket);
    const ended = performance.now();
    await quiet;
    // a lower bound cannot fail on a slow machine
    expect(performance.now() - ended).toBeGreaterThanOrEqual(19.9);
  });

  test.each([[undefined], [1]])("of %s: gives up when the signal ends", async (project) => {
    const gauge = new Gauge();
    gauge.begin();
    const end = new AbortController();
    const waits = [0, 1000].map((ms) => gauge.quiet(ms, end.signal, project));
    await isOver(Promise.all(waits));
    end.abort();
    for (const wait of waits) await expect(wait).rejects.toMatchObject({ name: "AbortError" });
    await expect(gauge.quiet(0, end.signal, project)).rejects.toMatchObject({ name: "AbortError" });
  });
});

test("drained: what is in flight now has ended", async () => {
  const gauge = new Gauge();
  const ticket = gauge.begin();
  const drained = gauge.drained(open());
  gauge.begin();
  expect(await isOver(drained)).toBe(false);
  gauge.end(ticket);
  await drained;
  expect(gauge.inFlight).toBe(1);
});
