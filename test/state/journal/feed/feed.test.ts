import { describe, expect, test } from "vitest";
import { limits } from "../../../../src/state/journal/feed/ports.ts";
import { type Stage, stage } from "./stage.ts";

const kinds = (frames: readonly { t: string }[]) => frames.map(({ t }) => t);
const upTo = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i);

describe("hello", () => {
  const rows: [name: string, said: (string | null)[], code: number, reason: string][] = [
    ["not JSON", ["{"], 4400, "a message must be a JSON object"],
    ["not an object", ["[]"], 4400, "a message must be a JSON object"],
    ["null", ["null"], 4400, "a message must be a JSON object"],
    ["not text", [null], 4400, "a message must be a JSON object"],
    ["an unknown kind", ['{"t":"__proto__"}'], 4400, '"t" must be hello or subscribe'],
    ["no kind", ["{}"], 4400, '"t" must be hello or subscribe'],
    ["another version", ['{"t":"hello","v":2}'], 4400, 'hello: "v" must be 1'],
    ["no version", ['{"t":"hello"}'], 4400, 'hello: "v" must be 1'],
    ["a token that is no text", ['{"t":"hello","v":1,"token":1}'], 4400, 'hello: "token" must be text'],
    ["subscribing first", ['{"t":"subscribe","id":1,"events":"","requests":null}'], 4400, "hello must be said first"],
    ["said twice", ['{"t":"hello","v":1}', '{"t":"hello","v":1}'], 4400, "hello was said before"],
    [
      "no id",
      ['{"t":"hello","v":1}', '{"t":"subscribe","events":"","requests":""}'],
      4400,
      'subscribe: "id" must be a whole number',
    ],
    [
      "a filter that is no text",
      ['{"t":"hello","v":1}', '{"t":"subscribe","id":1,"events":{},"requests":""}'],
      4400,
      'subscribe: "events" must be text or null',
    ],
    [
      "a negative cursor",
      ['{"t":"hello","v":1}', '{"t":"subscribe","id":1,"cursor":-1,"events":"","requests":""}'],
      4400,
      'subscribe: "cursor" must be a whole number',
    ],
    [
      "too many messages",
      ['{"t":"hello","v":1}', ...Array(20).fill('{"t":"subscribe","id":1,"events":"","requests":""}')],
      4429,
      "more than 20 messages a second",
    ],
  ];
  test.each(rows)("%s", (_, said, code, reason) => {
    const { feed, timer } = stage();
    const heard: { t: string }[] = [];
    const closed: unknown[] = [];
    const session = feed.connect({
      send: (frame) => heard.push(JSON.parse(frame.toString())),
      buffered: () => 0,
      close: (...args) => closed.push(args),
    });
    for (const it of said) session.receive(it);
    expect(closed).toEqual([[code, reason]]);
    expect(heard.at(-1)).toEqual({ t: "bye", code, message: reason });
    const { length } = heard;
    session.receive('{"t":"hello","v":1}');
    timer.pass(60_000);
    expect(heard.length).toBe(length);
  });

  test("nothing said in 5 s", () => {
    const { feed, timer } = stage();
    const closed: unknown[] = [];
    feed.connect({ send() {}, buffered: () => 0, close: (...args) => closed.push(args) });
    timer.pass(4_999);
    expect(closed).toEqual([]);
    timer.pass(1);
    expect(closed).toEqual([[4400, "no hello in time"]]);
  });

  test("as many messages as are allowed, again and again", () => {
    const it = stage();
    const page = it.page();
    for (let second = 0; second < 3; second++) {
      for (let k = 0; k < 19; k++) page.subscribe();
      it.timer.pass(1_000);
    }
    expect(page.closed).toEqual([]);
  });

  test.each([
    ["none", {}, true],
    ["another", { token: "other" }, true],
    ["the right one", { token: "secret" }, false],
  ])("a token is asked for: %s", (_, more, isRefused) => {
    const page = stage({ token: "secret" }).page({ v: 1, ...more });
    expect(page.closed.map(({ code }) => code)).toEqual(isRefused ? [4401] : []);
    expect(page.frames.some(({ t }) => t === "hello")).toBe(!isRefused);
  });

  test("the 33rd page is sent away, until one goes", () => {
    const it = stage();
    const pages = upTo(1, limits.pages).map(() => it.page());
    expect(pages.flatMap(({ closed }) => closed)).toEqual([]);
    expect(it.page().closed).toEqual([{ code: 4430, reason: "more than 32 pages" }]);
    pages[0]?.session.gone();
    expect(it.page().closed).toEqual([]);
  });
});

describe("rows", () => {
  test("the first after silence goes out at once, what follows in rounds of 30 ms", () => {
    const it = stage();
    const page = it.page();
    page.subscribe();
    it.timer.pass(100);
    it.write(1);
    it.timer.pass(0);
    expect(page.numbers()).toEqual([1]);
    it.write(3);
    it.timer.pass(29);
    expect(page.numbers()).toEqual([1]);
    it.timer.pass(1);
    expect(page.numbers()).toEqual([1, 2, 3, 4]);
    expect(kinds(page.frames)).toEqual(["hello", "subscribed", "rows", "rows"]);
  });

  test("from now on, unless a cursor is given", () => {
    const it = stage();
    it.write(5);
    const page = it.page();
    page.subscribe();
    expect(page.frames.at(-1)).toEqual({ t: "subscribed", id: 1, epoch: it.feed.epoch, cursor: 5, reset: false });
    it.write(1);
    it.timer.pass(1);
    expect(page.numbers()).toEqual([6]);
  });

  const filters: [name: string, more: object, events: number[], requests: number[], lines: object][] = [
    ["everything", {}, [1, 2, 3, 4], [1, 2, 3, 4], { properties: 0 }],
    ["no events", { events: null }, [], [1, 2, 3, 4], { properties: 0 }],
    ["no requests", { requests: null }, [1, 2, 3, 4], [], { properties: 0 }],
    ["a light filter", { events: "event:other" }, [3, 4], [1, 2, 3, 4], { properties: 0 }],
    ["a property", { events: "prop.plan:pro" }, [2, 4], [1, 2, 3, 4], { properties: 4 }],
    ["of one project", { project: 2 }, [3, 4], [3, 4], { properties: 0 }],
    ["of a project that does not exist", { project: 9 }, [], [], { properties: 0 }],
  ];
  test.each(filters)("%s", (_, more, events, requests, lines) => {
    const it = stage();
    const page = it.page();
    page.subscribe(more);
    it.write(2);
    it.write(2, { event: "other", project: 2 });
    it.timer.pass(100);
    const rows = page.frames.flatMap((frame) => (frame.t === "rows" ? [frame] : []));
    expect(rows.flatMap((frame) => frame.events.map(({ seq }) => seq))).toEqual(events);
    expect(rows.flatMap((frame) => frame.requests.map(({ n }) => n))).toEqual(requests);
    expect(rows.at(-1)?.to).toBe(4);
    expect(it.asked).toMatchObject({ ...lines, text: 0, read: 0 });
  });

  test("a wrong filter is reported with its place, and the one before stays", () => {
    const it = stage();
    const page = it.page();
    page.subscribe({ events: "event:other" });
    page.subscribe({ id: 2, events: "evnt:x", requests: "status:" });
    const refused = page.frames.flatMap((frame) => (frame.t === "refused" ? [frame] : []));
    expect(refused.map(({ id, field, problems }) => [id, field, problems.length > 0])).toEqual([
      [2, "events", true],
      [2, "requests", true],
    ]);
    expect(refused[0]?.problems[0]).toMatchObject({ at: 0, message: expect.any(String) });
    it.write(1);
    it.write(1, { event: "other" });
    it.timer.pass(100);
    expect(page.frames.flatMap((frame) => (frame.t === "rows" ? frame.events : []))).toMatchObject([
      { event: "other" },
    ]);
  });

  test("another filter begins where its cursor says", () => {
    const it = stage();
    const page = it.page();
    page.subscribe();
    it.write(4);
    it.timer.pass(100);
    page.subscribe({ id: 2, events: "prop.plan:pro", epoch: it.feed.epoch, cursor: 1 });
    const later = page.frames.slice(page.frames.findIndex((frame) => "id" in frame && frame.id === 2) + 1);
    expect(later).toMatchObject([
      { t: "rows", from: 2, to: 4, events: [{ seq: 2 }, { seq: 4 }], requests: [{ n: 2 }, { n: 3 }, { n: 4 }] },
    ]);
  });

  test("frames have at most 200 requests", () => {
    const it = stage();
    const page = it.page();
    page.subscribe();
    it.write(1_001);
    it.timer.pass(100);
    expect(page.numbers()).toEqual(upTo(1, 1_001));
    const sizes = page.frames.flatMap((frame) => (frame.t === "rows" ? [frame.requests.length] : []));
    expect(Math.max(...sizes)).toBe(200);
  });

  test("a filter that fails closes the page, not the sim", () => {
    const it = stage();
    const page = it.page();
    const other = it.page();
    other.subscribe();
    page.subscribe({ events: "prop.plan:pro" });
    Object.defineProperty(it.asked, "properties", {
      get() {
        throw new Error("a bug");
      },
    });
    it.write(2);
    it.timer.pass(100);
    expect(page.closed).toEqual([{ code: 1011, reason: "a bug in phx-sim" }]);
    expect(it.notices).toEqual([expect.stringContaining("a bug")]);
    expect(other.numbers()).toEqual([1, 2]);
  });
});

describe("coming back", () => {
  const back = (it: Stage, cursor: number, epoch = it.feed.epoch) => {
    const page = it.page();
    page.subscribe({ epoch, cursor });
    it.timer.pass(100);
    return page;
  };

  test("exactly what was missed, while another page stayed", () => {
    const it = stage();
    it.page().subscribe();
    it.write(10);
    it.timer.pass(100);
    const page = back(it, 7);
    expect(page.numbers()).toEqual([8, 9, 10]);
    expect(it.asked.read).toBe(0);
  });

  test("exactly what was missed, while no one was there", () => {
    const it = stage();
    const first = it.page();
    it.write(3);
    first.session.gone();
    it.write(5);
    const page = back(it, 3);
    expect(page.numbers()).toEqual([4, 5, 6, 7, 8]);
    it.write(1);
    it.timer.pass(100);
    expect(page.numbers().at(-1)).toBe(9);
  });

  const needed: [name: string, asked: object[], events: number, requests: number][] = [
    ["nothing asked for", [{ events: null, requests: null }], 0, 0],
    ["events", [{ requests: null }], 9, 0],
    ["requests", [{ events: null }], 0, 9],
    ["a filter, which may look at both", [{ events: "is:faulted", requests: null }], 9, 9],
    ["one page this, another that", [{ events: null }, { requests: null }], 9, 9],
  ];
  test.each(needed)("rows are made of what is needed: %s", (_, asked, events, requests) => {
    const it = stage();
    for (const more of asked) it.page().subscribe(more);
    it.write(9);
    it.timer.pass(100);
    expect(it.made).toEqual({ events, requests });
  });

  test("a client that asks for more than exists reads it again", () => {
    const it = stage();
    const other = it.page();
    other.subscribe({ requests: null });
    it.write(5);
    it.timer.pass(100);
    const page = it.page();
    page.subscribe({ epoch: it.feed.epoch, cursor: 2 });
    it.write(1);
    it.timer.pass(100);
    expect(page.numbers()).toEqual([3, 4, 5, 6]);
    expect(it.made).toEqual({ events: 6, requests: 1 });
    page.session.gone();
    it.write(1);
    other.subscribe({ id: 2, events: null, requests: null });
    it.write(1);
    it.timer.pass(100);
    expect(it.made).toEqual({ events: 7, requests: 1 });
    other.subscribe({ id: 3, epoch: it.feed.epoch, cursor: 6 });
    it.timer.pass(100);
    expect(other.numbers()).toEqual([7, 8]);
  });

  test("no one there: nothing is made", () => {
    const it = stage();
    it.page().session.gone();
    it.write(1_000);
    it.timer.pass(10_000);
    expect(it.asked).toEqual({ read: 0, properties: 0, text: 0 });
    expect(it.made).toEqual({ events: 0, requests: 0 });
  });

  test("more than is read again is a gap of exactly that", () => {
    const it = stage();
    it.write(limits.readBack + 500);
    const page = back(it, 100);
    expect(page.frames.find(({ t }) => t === "gap")).toEqual({ t: "gap", from: 101, to: 500, why: "old" });
    expect(page.numbers()).toEqual(upTo(501, limits.readBack + 500));
  });

  test("lines that are gone are a gap", () => {
    const it = stage();
    it.write(10);
    it.forget(6);
    const page = back(it, 2);
    expect(page.frames.find(({ t }) => t === "gap")).toEqual({ t: "gap", from: 3, to: 6, why: "old" });
    expect(page.numbers()).toEqual([7, 8, 9, 10]);
  });

  test.each([
    ["another epoch", { epoch: "past 0", cursor: 1 }, true],
    ["a cursor without an epoch", { cursor: 1 }, true],
    ["a cursor that was never reached", { epoch: "past 1", cursor: 99 }, true],
    ["an epoch alone", { epoch: "past 1" }, false],
    ["another epoch alone", { epoch: "past 0" }, true],
    ["nothing", {}, false],
    ["both", { epoch: "past 1", cursor: 4 }, false],
  ])("reset: %s", (_, more, reset) => {
    const it = stage();
    it.write(4);
    const page = it.page();
    page.subscribe(more);
    it.timer.pass(100);
    expect(page.frames.at(-1)).toMatchObject({ t: "subscribed", epoch: "past 1", cursor: 4, reset });
  });
});

describe("another past", () => {
  test("earlier frames are void, for all; none of them is sent later", () => {
    const it = stage();
    const pages = [it.page(), it.page()];
    for (const page of pages) page.subscribe();
    it.write(5);
    it.veil(7);
    it.timer.pass(100);
    for (const page of pages) expect(page.frames.slice(2)).toEqual([{ t: "reset", epoch: "past 2", project: 7 }]);
    it.write(1);
    it.timer.pass(100);
    for (const page of pages) expect(page.numbers()).toEqual([6]);
  });

  test("another project's takes nothing from a page", () => {
    const it = stage();
    const page = it.page();
    page.subscribe({ project: 1 });
    it.write(3);
    it.veil(7);
    it.write(2);
    it.timer.pass(100);
    expect(page.numbers()).toEqual(upTo(1, 5));
    expect(page.frames).toContainEqual({ t: "reset", epoch: "past 2", project: 7 });
  });

  test("changes are reported as fast as a page can follow, and the last one at the end", () => {
    const it = stage();
    const page = it.page();
    page.subscribe();
    const resets = () => page.frames.flatMap((frame) => (frame.t === "reset" ? [frame] : []));
    for (let k = 0; k < 100; k++) {
      it.veil(1);
      it.write(1);
      it.timer.pass(20);
    }
    expect(resets().length).toBeLessThanOrEqual(3 * limits.resets);
    it.timer.pass(1_000);
    expect(resets().at(-1)).toEqual({ t: "reset", epoch: "past 101", project: 1 });
  });

  test("who takes nothing is reported once, of everything", () => {
    const it = stage();
    const page = it.page();
    page.subscribe();
    page.isStalled = true;
    it.write(5_000);
    it.timer.pass(100);
    const { length } = page.frames;
    it.veil(1);
    it.veil(2);
    expect(page.frames.length).toBe(length);
    page.isStalled = false;
    page.drain();
    expect(page.frames.slice(length)).toEqual([{ t: "reset", epoch: "past 3", project: null }]);
  });
});

describe("a page that takes nothing", () => {
  test("holds little, gets its gap, and the others lose nothing", () => {
    const it = stage();
    const slow = it.page();
    const fast = it.page();
    for (const page of [slow, fast]) page.subscribe({ requests: null });
    slow.isStalled = true;
    const total = limits.ring.events + 50_000;
    for (let written = 0; written < total; written += 1_000) {
      it.write(1_000);
      it.timer.pass(30);
    }
    expect(slow.most()).toBeLessThan(limits.buffered + 256 * 1024);
    const seqs = fast.frames.flatMap((frame) => (frame.t === "rows" ? frame.events.map(({ seq }) => seq) : []));
    expect(seqs).toEqual(upTo(1, total));
    slow.isStalled = false;
    slow.drain();
    it.timer.pass(1_000);
    const gaps = slow.frames.flatMap((frame) => (frame.t === "gap" ? [frame] : []));
    expect(gaps).toMatchObject([{ why: "slow" }]);
    const reported = slow.frames.flatMap((frame) => (frame.t === "rows" ? frame.events.map(({ seq }) => seq) : []));
    const [{ from, to } = { from: 0, to: 0 }] = gaps;
    expect(reported).toEqual([...upTo(1, from - 1), ...upTo(to + 1, total)]);
  });

  test("is let go after 30 s", () => {
    const it = stage();
    const page = it.page();
    page.subscribe();
    page.isStalled = true;
    it.write(1);
    it.timer.pass(29_000);
    expect(page.closed).toEqual([]);
    it.timer.pass(3_000);
    expect(page.closed).toEqual([{ code: 4408, reason: "nothing was taken for 30 s" }]);
  });

  test("stays as long as it takes something now and then", () => {
    const it = stage();
    const page = it.page();
    page.subscribe();
    page.isStalled = true;
    for (let k = 0; k < 10; k++) {
      it.write(1);
      it.timer.pass(20_000);
      page.drain();
    }
    expect(page.closed).toEqual([]);
    it.timer.pass(120_000);
    expect(page.closed).toEqual([]);
  });
});

describe("stat", () => {
  const stats = (frames: readonly { t: string }[]) => frames.filter(({ t }) => t === "stat");

  test("is reported while it changes, once a second, to all", () => {
    const it = stage();
    const pages = [it.page(), it.page()];
    it.timer.pass(3_000);
    for (const page of pages) expect(stats(page.frames)).toMatchObject([{ stat: { pages: 2 } }]);
    it.stat = { ...it.stat, events: 1 };
    it.timer.pass(3_000);
    for (const page of pages) expect(stats(page.frames)[1]).toMatchObject({ stat: { events: 1 } });
    for (const page of pages) expect(stats(page.frames).length).toBe(2);
  });

  test("who took nothing at that moment is reported later", () => {
    const it = stage();
    const page = it.page();
    page.subscribe();
    page.isStalled = true;
    it.write(5_000);
    it.stat = { ...it.stat, events: 5_000 };
    it.timer.pass(1_000);
    page.isStalled = false;
    page.drain();
    it.timer.pass(1_000);
    expect(page.frames.at(-1)).toMatchObject({ t: "stat", stat: { events: 5_000 } });
  });

  test("a mistake in it is noticed, and ends nothing", () => {
    const it = stage();
    const page = it.page();
    page.subscribe();
    const { stat } = it;
    Object.defineProperty(it, "stat", {
      configurable: true,
      get() {
        throw new Error("a bug");
      },
    });
    it.timer.pass(1_000);
    expect(it.notices).toEqual([expect.stringContaining("a bug")]);
    Object.defineProperty(it, "stat", { value: stat });
    it.write(1);
    it.timer.pass(1_000);
    expect(page.closed).toEqual([]);
    expect([stats(page.frames).length, page.numbers()]).toEqual([1, [1]]);
  });

  test("that time goes by is not news; that it is moved is", () => {
    const it = stage();
    const page = it.page();
    const at = (ms: number, ahead = 0) => ({
      ...it.stat,
      at: ms,
      clock: { now: ms + ahead, frozen: false, real: false },
    });
    for (const ms of [1_000, 2_001, 3_002]) {
      it.stat = at(ms);
      it.timer.pass(1_000);
    }
    expect(stats(page.frames).length).toBe(1);
    it.stat = at(4_000, 3_600_000);
    it.timer.pass(1_000);
    expect(stats(page.frames).length).toBe(2);
  });
});

test("once it is closed, no one is let in", () => {
  const it = stage();
  const page = it.page();
  it.feed.close();
  it.write(1);
  it.timer.pass(60_000);
  expect(kinds(page.frames)).toEqual(["hello"]);
  const closed: unknown[] = [];
  it.feed.connect({ send() {}, buffered: () => 0, close: (...args) => closed.push(args) });
  expect(closed).toEqual([[1001, "the sim is closing"]]);
});
