import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/kernel/base/json.ts";
import type { StoredEvent } from "../../../src/state/journal/stored-event.ts";
import { barOf, costOf, numberIn, traceOf } from "../../../ui/views/event/kinds/trace.ts";

const zero = Date.UTC(2026, 0, 1);

/** An event of trace `t` whose time is that many seconds after the first. */
const event = (seq: number, name: string, seconds: number, properties: JsonObject = {}): StoredEvent => ({
  seq,
  outcome: "kept",
  reason: null,
  detail: null,
  warnings: [],
  project: 1,
  uuid: null,
  event: name,
  distinct_id: "u",
  timestamp: new Date(zero + seconds * 1000).toISOString(),
  received_at: new Date(zero).toISOString(),
  person_id: null,
  person_mode: "none",
  properties: { $ai_trace_id: "t", ...properties },
  request: 1,
});

const span = (
  seq: number,
  seconds: number,
  id: string,
  parent: string | undefined,
  more: JsonObject = {},
): StoredEvent =>
  event(seq, "$ai_span", seconds, {
    $ai_span_id: id,
    $ai_span_name: id,
    $ai_latency: 1,
    ...(parent !== undefined && { $ai_parent_id: parent }),
    ...more,
  });

/** `depth name note` of each row. */
const shown = (events: readonly StoredEvent[]): string[] =>
  traceOf(events, "t")?.rows.map(
    ({ step, depth, note }) => `${depth} ${step.name}${note === undefined ? "" : `: ${note}`}`,
  ) ?? [];

describe("a trace", () => {
  test("a tree in time, with the trace's own event at its top", () => {
    const events = [
      span(1, 2, "inner", "outer"),
      span(2, 3, "outer", "t", { $ai_latency: 3 }),
      span(3, 4, "later", undefined),
      event(4, "$ai_trace", 4, { $ai_span_name: "root", $ai_latency: 4 }),
    ];
    expect(shown(events)).toEqual(["0 root", "1 outer", "2 inner", "1 later"]);
    expect(traceOf(events, "t")).toMatchObject({ name: "root", latency: 4, start: zero, end: zero + 4_000 });
  });

  test("without a root: spans of the trace stand beside each other", () => {
    expect(shown([span(1, 2, "b", "t"), span(2, 1, "a", "t")])).toEqual(["0 a", "0 b"]);
  });

  test("captured events end at their time, OTLP events begin at it", () => {
    const otel = { $ai_ingestion_source: "otel" };
    const [one, two] = traceOf([span(1, 1, "a", "t"), span(2, 1, "b", "t", otel)], "t")?.rows ?? [];
    expect([one?.step.start, one?.step.end, two?.step.start, two?.step.end].map((it) => (it ?? 0) - zero)).toEqual([
      ...[0, 1_000, 1_000, 2_000],
    ]);
  });

  test("orphans, duplicates and circles are named, and nothing is lost", () => {
    expect(
      shown([
        span(1, 1, "a", "lost"),
        span(2, 2, "b", "a"),
        span(3, 3, "b", "a"),
        span(4, 4, "self", "self"),
        span(5, 5, "x", "z"),
        span(6, 6, "y", "x"),
        span(7, 7, "z", "y"),
        span(8, 8, "below", "y"),
      ]),
    ).toEqual([
      '0 a: parent "lost" did not arrive, or was dropped',
      "1 b",
      "1 b: same id as event 2",
      "0 self: its own parent",
      "0 x: circular parents: x, z, y",
      "1 y",
      "2 z",
      "2 below",
    ]);
  });

  test("two events of the whole trace", () => {
    const root = (seq: number) => event(seq, "$ai_trace", seq, { $ai_span_name: `r${seq}`, $ai_latency: 1 });
    expect(shown([root(1), root(2)])).toEqual(["0 r1", "1 r2: same id as event 1"]);
  });

  test("sums are those of models; wrong types count as missing", () => {
    const call = (seq: number, more: JsonObject) =>
      event(seq, "$ai_generation", seq, { $ai_generation_id: `g${seq}`, ...more });
    const trace = traceOf(
      [
        call(1, { $ai_input_tokens: 5, $ai_output_tokens: 2, $ai_input_cost_usd: 0.1, $ai_output_cost_usd: 0.2 }),
        call(2, { $ai_input_tokens: "7", $ai_latency: "long", $ai_total_cost_usd: null }),
        span(3, 3, "s", "t", { $ai_input_tokens: 100, $ai_latency: -1 }),
      ],
      "t",
    );
    expect(trace).toMatchObject({ inputTokens: 5, outputTokens: 2 });
    expect(trace?.cost).toBeCloseTo(0.3);
    expect(costOf({ $ai_total_cost_usd: 1, $ai_input_cost_usd: 5 })).toBe(1);
    expect(numberIn({ a: Number.NaN, b: 2 }, "a", "b")).toBe(2);
  });

  test("bars stay within the trace", () => {
    const trace = { start: zero, end: zero + 1_000 };
    const step = traceOf([span(1, 9, "a", "t")], "t")?.rows[0]?.step;
    if (!step) throw new Error("no step");
    const { from, size } = barOf(step, trace);
    expect(from + size).toBeLessThanOrEqual(100);
    expect(barOf({ ...step, start: zero, end: zero }, { start: zero, end: zero })).toEqual({ from: 0, size: 0.5 });
  });

  test("a chain of 5,000 steps", () => {
    const chain = Array.from({ length: 5_000 }, (_, i) => span(i + 1, i, `s${i}`, i === 0 ? "s4999" : `s${i - 1}`));
    expect(traceOf(chain, "t")?.rows).toHaveLength(5_000);
    expect(traceOf([], "t")).toBeUndefined();
    expect(traceOf([event(1, "$ai_metric", 0)], "t")).toBeUndefined();
  });
});
