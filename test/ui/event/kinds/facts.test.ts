import { describe, expect, test } from "vitest";
import type { Json, JsonObject } from "../../../../src/kernel/base/json.ts";
import type { FlagDecision } from "../../../../src/service/flags/decision-shapes.ts";
import { numberOf, vitalsIn, vitalText, webVitals } from "../../../../src/state/journal/event-texts.ts";
import { calledFlag, decisionFor } from "../../../../ui/views/event/kinds/called-flag.ts";
import { heatPages, typeCounts } from "../../../../ui/views/event/kinds/heat-points.ts";
import { kindViewOf } from "../../../../ui/views/event/kinds/kinds.ts";
import { pageFacts, spentText, urlParts, visitIn } from "../../../../ui/views/event/kinds/page-facts.ts";
import { surveyAnswers, surveyWords } from "../../../../ui/views/event/kinds/survey-answers.ts";
import { bandOf, largestIn, placeOf } from "../../../../ui/views/event/kinds/vital-bands.ts";

test.each([
  ["$autocapture", "Element"],
  ["$copy_autocapture", "Element"],
  ["$pageview", "Page"],
  ["$screen", "Screen"],
  ["$merge_dangerously", "What changed"],
  ["$groupidentify", "What changed"],
  ["survey abandoned", "Answers"],
  ["$feature_flag_called", "Decision"],
  ["$$heatmap", "Heatmap"],
  ["$web_vitals", "Vitals"],
  ["$feature_view", undefined],
  ["order_completed", undefined],
  ["constructor", undefined],
  ["", undefined],
])("the first tab of %s: %s", (name, title) => {
  expect(kindViewOf(name)?.title).toBe(title);
});

test.each<[Json | undefined, number | undefined]>([
  [5, 5],
  ["5.5", 5.5],
  [" -1e3 ", -1000],
  ["", undefined],
  ["0x10", undefined],
  ["5px", undefined],
  [null, undefined],
  [[5], undefined],
  [undefined, undefined],
])("%j as a number: %s", (value, number) => {
  expect(numberOf(value)).toBe(number);
});

describe("vitals", () => {
  const [lcp, inp, cls] = webVitals;
  test.each([
    [lcp, 0, "good", 0],
    [lcp, 2500, "good", 33.3],
    [lcp, 3250, "middle", 50],
    [lcp, 4000, "middle", 66.7],
    [lcp, 6000, "poor", 83.3],
    [lcp, 8000, "poor", 99],
    [lcp, 1e9, "poor", 99],
    [lcp, -5, "good", 0],
    [inp, 148, "good", 24.7],
    [inp, 350, "middle", 50],
    [inp, 501, "poor", 66.7],
    [cls, 0.27, "poor", 69.3],
  ] as const)("%j at %d is %s, at %d %%", (vital, value, band, place) => {
    expect(bandOf(value, vital)).toBe(band);
    expect(placeOf(value, vital)).toBeCloseTo(place, 1);
  });

  test("as text", () => {
    expect([vitalText(2840, lcp), vitalText(148.4, inp), vitalText(0.274, cls)]).toEqual(["2.84 s", "148 ms", "0.27"]);
  });

  test("numbers as text are numbers, and what is none is left out", () => {
    const properties = {
      $web_vitals_LCP_value: "2840",
      $web_vitals_INP_value: "soon",
      $web_vitals_CLS_value: null,
      $web_vitals_FCP_value: [1],
      $web_vitals_LCP_event: { attribution: { element: "img.hero" } },
    };
    expect(vitalsIn(properties).map(({ vital, value }) => [vital.name, value])).toEqual([["LCP", 2840]]);
    expect(largestIn(properties)).toBe("img.hero");
    expect(largestIn({ $web_vitals_LCP_event: { attribution: 5 } })).toBeUndefined();
  });
});

describe("a page", () => {
  test("the parts of its address, unescaped", () => {
    expect(urlParts("https://shop.test:8080/b%C3%BCcher/?q=a%20b&q=2#p%2Fay")).toEqual({
      origin: "https://shop.test:8080",
      path: "/bücher/",
      query: [
        ["q", "a b"],
        ["q", "2"],
      ],
      left: 0,
      hash: "#p/ay",
    });
    expect(urlParts("app://shop/%E0")).toMatchObject({ origin: "app://shop", path: "/%E0" });
    expect(urlParts("javascript:alert(1)")).toMatchObject({ origin: "javascript:", path: "alert(1)" });
    expect([urlParts("/basket"), urlParts("http://["), urlParts("")]).toEqual([undefined, undefined, undefined]);
    const many = urlParts(`http://x/?${"a=1&".repeat(10_000)}`);
    expect([many?.query.length, many?.left]).toEqual([100, 9_900]);
  });

  test("referrer, campaign and title; empty parameters are left out", () => {
    const properties = { $referrer: "$direct", utm_source: "news", utm_medium: null, gclid: "", title: "Shop" };
    expect(pageFacts(properties)).toEqual({
      title: "Shop",
      screen: undefined,
      url: undefined,
      referrer: undefined,
      isDirect: true,
      campaign: [["utm_source", "news"]],
    });
    expect(pageFacts({ title: 5, $referrer: ["x"], $pathname: "/a" })).toMatchObject({ title: undefined, url: "/a" });
  });

  test("the visit that ended", () => {
    expect(visitIn({})).toBeUndefined();
    expect(visitIn({ $prev_pageview_duration: "84.2", $prev_pageview_max_scroll_percentage: 7 })).toEqual({
      path: undefined,
      spent: 84_200,
      scrolled: 1,
      seen: undefined,
    });
    expect(visitIn({ $prev_pageview_duration: -1, $prev_pageview_pathname: "/a" })?.spent).toBeUndefined();
    expect([900, 59_940, 84_271, 3_900_000].map(spentText)).toEqual(["0.9 s", "1 min 0 s", "1 min 24 s", "1 h 5 min"]);
  });
});

describe("answers of a survey", () => {
  const answers = (properties: JsonObject) => surveyAnswers(properties).answers;

  test("by the id of the question, by its place, or beside it", () => {
    const found = answers({
      $survey_questions: [
        { id: "a", question: "How likely?", type: "rating", scale: 5 },
        { id: "b", question: "Why?" },
        { question: "What else?", optional: true, response: "" },
        { question: "And?", response: ["x", "y"] },
      ],
      $survey_response_a: "4",
      $survey_response_1: "fast",
      $survey_response_z: "of a removed question",
    });
    expect(found.map((it) => [it.question, it.answer, it.isOptional])).toEqual([
      ["How likely?", "4", false],
      ["Why?", "fast", false],
      ["What else?", null, true],
      ["And?", ["x", "y"], false],
      [undefined, "of a removed question", false],
    ]);
    expect(found[0]?.scale).toEqual({ from: 1, to: 5, chosen: 4, isSent: true });
  });

  test("an answer belongs to one question", () => {
    const questions = [{ question: "one" }, { question: "two" }];
    expect(answers({ $survey_questions: questions, $survey_response: "x" }).map((it) => it.answer)).toEqual([
      "x",
      null,
    ]);
  });

  test.each<[JsonObject, Json, unknown]>([
    [{}, 9, { from: 0, to: 10, chosen: 9, isSent: false }],
    [{}, "9", undefined],
    [{ type: "rating" }, "9", { from: 0, to: 10, chosen: 9, isSent: false }],
    [{ type: "rating", scale: 7 }, 9, undefined],
    [{ scale: 1e9 }, 3, { from: 0, to: 10, chosen: 3, isSent: false }],
    [{ scale: "5" }, 3, { from: 1, to: 5, chosen: 3, isSent: true }],
    [{}, 2.5, undefined],
    [{}, -1, undefined],
  ])("the scale of %j answered by %j", (question, response, scale) => {
    const [found] = answers({ $survey_questions: [{ question: "?", response, ...question }] });
    expect(found?.scale).toEqual(scale);
  });

  test("damaged: questions that are none, ten thousand of them", () => {
    expect(answers({})).toEqual([]);
    expect(answers({ $survey_questions: "x", $survey_response: 5 })).toHaveLength(1);
    expect(answers({ $survey_questions: [null, 5, [], "x"] }).map((it) => it.question)).toEqual(
      Array.from({ length: 4 }, () => undefined),
    );
    const { answers: some, left } = surveyAnswers({
      $survey_questions: Array.from({ length: 10_000 }, (_, id) => ({ id, question: "?" })),
    });
    expect([some.length, left]).toEqual([100, 9_900]);
  });

  test("what happened to it", () => {
    expect(surveyWords("survey dismissed", {})).toBe("closed without an answer");
    expect(surveyWords("survey sent", { $survey_completed: false })).toBe("answered, in part");
    expect(surveyWords("constructor", {})).toBe("constructor");
  });
});

describe("a used flag", () => {
  test.each<[JsonObject, unknown]>([
    [{}, undefined],
    [{ $feature_flag: 5 }, undefined],
    [
      { $feature_flag: "a", $feature_flag_response: "test" },
      { key: "a", value: "test", isLocal: false },
    ],
    [
      { $feature_flag: "a", $feature_flag_response: { x: 1 } },
      { key: "a", value: null, isLocal: false },
    ],
    [
      { $feature_flag: "a", $feature_flag_response: false, locally_evaluated: true },
      { key: "a", value: false, isLocal: true },
    ],
  ])("%j", (properties, expected) => {
    expect(calledFlag(properties)).toEqual(expected);
  });

  test("the decision it was counted for, else the last answer before it", () => {
    const decision = (request: number, changes: object = {}) =>
      ({ request, by: "answer", rejected: null, called: [], ...changes }) as unknown as FlagDecision;
    const all = [decision(9), decision(7, { rejected: "x" }), decision(5), decision(3, { called: [{ seq: 42 }] })];
    expect(decisionFor({ seq: 42, request: 8 }, all)?.request).toBe(3);
    expect(decisionFor({ seq: 43, request: 8 }, all)?.request).toBe(5);
    expect(decisionFor({ seq: 43, request: 2 }, all)).toBeUndefined();
  });
});

describe("points of a heatmap", () => {
  test("by page, in its size", () => {
    const found = heatPages({
      $viewport_width: 1440,
      $viewport_height: "900",
      $heatmap_data: {
        "http://x/": [
          { x: 5, y: 2_000, type: "click", target_fixed: true },
          { x: "7", y: 1, type: "__proto__" },
          { x: -1, y: 1 },
          { y: 1 },
          null,
        ],
        __proto__x: 5,
      },
    });
    expect(found?.pages[0]).toEqual({
      url: "http://x/",
      points: [
        { x: 5, y: 2_000, type: "click", isFixed: true },
        { x: 7, y: 1, type: "other", isFixed: false },
      ],
      ...{ broken: 3, left: 0, width: 1440, height: 2_000, fold: 900 },
    });
    expect(found?.pages[1]).toMatchObject({ points: [], broken: 1 });
    expect(typeCounts(found?.pages[0]?.points ?? [])).toEqual([
      { type: "click", count: 1 },
      { type: "other", count: 1 },
    ]);
  });

  test("bounded, and none where there are no data", () => {
    const points = Array.from({ length: 10_000 }, (_, i) => ({ x: i, y: i, type: "mousemove" }));
    const pages = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`p${i}`, points]));
    const found = heatPages({ $heatmap_data: pages });
    expect([found?.pages.length, found?.left]).toEqual([20, 30]);
    expect([found?.pages[0]?.points.length, found?.pages[0]?.left]).toEqual([2_000, 8_000]);
    expect([heatPages({}), heatPages({ $heatmap_data: "x" })]).toEqual([undefined, undefined]);
  });
});
