import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/kernel/base/json.ts";
import { decodePart } from "../../../src/lab/sessions/decode.ts";
import type { SessionEvent } from "../../../src/lab/sessions/shapes.ts";
import { bytesOver, momentAt, offsetText, type RecordedWindow, storyOf } from "../../../ui/views/sessions/story.ts";
import { clickOn, element, opening, packed, start, typedIn } from "../../lab/sessions/recorded.ts";

const windowOf = (items: readonly JsonObject[], shift = 0): RecordedWindow => ({
  id: "w",
  events: decodePart([...items]).events,
  shift,
});

const event = (name: string, at: number, more: Partial<SessionEvent> = {}): SessionEvent => ({
  seq: at,
  request: 1,
  event: name,
  timestamp: new Date(start + at).toISOString(),
  outcome: "kept",
  reason: null,
  warnings: [],
  window: null,
  url: null,
  title: null,
  text: "",
  ...more,
});

const lines = (events: readonly SessionEvent[], windows: readonly RecordedWindow[], end = 60_000) =>
  storyOf(start, start + end, events, windows).moments.map(({ at, verb, name, text }) =>
    [at, verb, name, text].filter((it) => it !== "").join(" "),
  );

const icon = element("svg");
const button = element("button", {}, icon, " Pay now ");
const name = element("input", { id: "name", name: "n" });
const field = element("input", { name: "card" });
const page = element("body", {}, element("label", { for: "name" }, "Name"), name, field, button);

describe("the story of a session", () => {
  test("pages, clicks, inputs and events in order", () => {
    const recorded = [
      ...opening(page),
      typedIn(name, "*", start + 1_000),
      typedIn(name, "*****", start + 1_200),
      typedIn(field, "4242", start + 2_000),
      clickOn(icon, start + 3_000),
      clickOn({ id: 987_654 }, start + 3_500),
    ];
    const events = [
      event("$pageview", 0, { url: "http://shop.test/checkout?x=1", title: "Checkout" }),
      event("$autocapture", 3_001, { text: "Pay now" }),
      event("order_completed", 3_100, { text: "amount 1" }),
      event("$pageview", 4_000, { url: "http://shop.test/thanks" }),
      event("$web_vitals", 5_000, { url: "http://shop.test/checkout", text: "LCP 1" }),
      event("$exception", 6_000, { text: "TypeError: no: really" }),
    ];
    expect(lines(events, [windowOf(recorded)])).toEqual(
      [
        "0 opened /checkout “Checkout”",
        "1200 typed in Name •••••",
        "2000 typed in card 4242",
        "3000 click Pay now",
        "3500 click",
        "3100 order_completed amount 1",
        "4000 opened /thanks",
        "5000 $web_vitals LCP 1",
        "6000 TypeError no: really",
      ].sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10)),
    );
  });

  test("without a recording, clicks are those of autocapture", () => {
    expect(lines([event("$autocapture", 5, { text: "Buy" })], [])).toEqual(["5 click Buy"]);
  });

  test("recorded times are moved by the difference of the clocks", () => {
    const recorded = [...opening(page, [], start - 1_000), clickOn(button, start - 500)];
    expect(lines([], [windowOf(recorded, 1_000)])).toEqual(["0 opened /checkout", "500 click Pay now"]);
  });

  test("time without activity is idle", () => {
    const recorded = [...opening(page), clickOn(button, start + 20_000), clickOn(button, start + 25_000)];
    expect(storyOf(start, start + 60_000, [], [windowOf(recorded)]).idle).toEqual([
      { from: 0, to: 20_000 },
      { from: 25_000, to: 60_000 },
    ]);
  });

  test("damaged events are survived", () => {
    const circle = {
      type: 3,
      timestamp: start,
      cv: "2024-10",
      data: { source: 0, adds: packed([{ node: { id: 1 } }, 7, null]) },
    };
    const odd = { type: 3, timestamp: start + 1, data: { source: 5, id: "x", text: 7 } };
    expect(lines([event("", 1, { url: "::" })], [windowOf([circle, odd])])).toHaveLength(3);
  });

  test("the current line is the last that has begun", () => {
    const { moments } = storyOf(start, start + 9, [event("a", 1), event("b", 5)], []);
    expect([0, 1, 4, 5, 9].map((at) => momentAt(moments, at))).toEqual([-1, 0, 0, 1, 1]);
  });
});

test("offsets and bytes", () => {
  expect([0, 177_502, 3_600_000].map((it) => offsetText(it))).toEqual(["0:00.000", "2:57.502", "1:00:00.000"]);
  const part = (from: number, to: number, bytes: number) => ({
    start: new Date(start + from).toISOString(),
    end: new Date(start + to).toISOString(),
    bytes,
  });
  expect(bytesOver([part(0, 9, 10), part(50, 99, 50), part(500, 900, 1)], start, 100, 10)).toEqual([
    10, 0, 0, 0, 0, 10, 10, 10, 10, 11,
  ]);
});
