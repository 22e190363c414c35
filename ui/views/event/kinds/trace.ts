import { type JsonObject, own } from "../../../../src/kernel/base/json.ts";
import type { StoredEvent } from "../../../../src/state/journal/stored-event.ts";

/** A finite number; undefined for anything else. */
export function numberIn(properties: JsonObject, ...keys: readonly string[]): number | undefined {
  for (const key of keys) {
    const value = own(properties, key);
    if (typeof value === "number" && Number.isFinite(value)) return value;
  }
  return undefined;
}

const idIn = (properties: JsonObject, ...keys: readonly string[]): string | undefined => {
  for (const key of keys) {
    const value = own(properties, key);
    if (typeof value === "string" && value !== "") return value;
    if (typeof value === "number") return String(value);
  }
  return undefined;
};

export const traceIdOf = ({ properties }: Pick<StoredEvent, "properties">): string | undefined =>
  idIn(properties, "$ai_trace_id");

/** The cost in USD, whole or as the sum of its parts. The service adds it to events whose model has a price. */
export function costOf(properties: JsonObject): number | undefined {
  const total = numberIn(properties, "$ai_total_cost_usd");
  if (total !== undefined) return total;
  const parts = ["$ai_input_cost_usd", "$ai_output_cost_usd"].map((key) => numberIn(properties, key));
  return parts.every((it) => it === undefined) ? undefined : parts.reduce<number>((sum, it) => sum + (it ?? 0), 0);
}

export function isErrorIn(properties: JsonObject): boolean {
  const value = own(properties, "$ai_is_error");
  return value === true || value === "true";
}

/** A step of a trace: one event. */
export interface Step {
  readonly seq: number;
  readonly event: string;
  readonly name: string;
  readonly id: string;
  readonly parent: string | undefined;
  /** ms since 1970; OTLP events have the time of their start, all others were captured at their end. */
  readonly start: number;
  readonly end: number;
  /** Seconds; undefined: not sent. */
  readonly latency: number | undefined;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cost: number | undefined;
  readonly isError: boolean;
}

export interface TraceRow {
  readonly step: Step;
  readonly depth: number;
  /** What is wrong with its place. */
  readonly note: string | undefined;
}

export interface Trace {
  readonly name: string | undefined;
  readonly rows: readonly TraceRow[];
  /** ms since 1970. */
  readonly start: number;
  readonly end: number;
  /** Seconds. */
  readonly latency: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cost: number | undefined;
}

const stepNames: ReadonlySet<string> = new Set(["$ai_generation", "$ai_span", "$ai_embedding", "$ai_trace"]);

function stepOf({ seq, event, timestamp, properties }: StoredEvent): Step {
  const sent = numberIn(properties, "$ai_latency");
  const latency = sent !== undefined && sent >= 0 ? sent : undefined;
  const at = Date.parse(timestamp);
  const lasting = (latency ?? 0) * 1000;
  const isAtStart = own(properties, "$ai_ingestion_source") === "otel";
  const start = isAtStart ? at : at - lasting;
  const shown = idIn(properties, "$ai_span_name", ...(event === "$ai_trace" ? ["$ai_trace_name"] : []), "$ai_model");
  return {
    seq,
    event,
    name: shown ?? event,
    id:
      idIn(properties, "$ai_span_id", "$ai_generation_id") ??
      (event === "$ai_trace" ? idIn(properties, "$ai_trace_id") : undefined) ??
      `event ${seq}`,
    parent: idIn(properties, "$ai_parent_id", "$ai_parent_span_id"),
    start,
    end: start + lasting,
    latency,
    inputTokens: numberIn(properties, "$ai_input_tokens") ?? 0,
    outputTokens: numberIn(properties, "$ai_output_tokens") ?? 0,
    cost: costOf(properties),
    isError: isErrorIn(properties),
  };
}

const byTime = (a: Step, b: Step): number => a.start - b.start || b.end - a.end || a.seq - b.seq;

interface Placed {
  parent: Step | undefined;
  note: string | undefined;
}

/** Where each step belongs: below its parent, else below the trace's own event, else at the top. */
function placesOf(steps: readonly Step[], traceId: string): Map<Step, Placed> {
  const byId = new Map<string, Step>();
  const root = steps.find((it) => it.event === "$ai_trace");
  if (root) byId.set(traceId, root);
  const places = new Map<Step, Placed>();
  for (const step of steps) {
    const first = byId.get(step.id);
    const isTwice = first !== undefined && first !== step;
    if (!isTwice) byId.set(step.id, step);
    places.set(step, { parent: undefined, note: isTwice ? `same id as event ${first.seq}` : undefined });
  }
  for (const [step, place] of places) {
    const named = step.parent === undefined ? undefined : byId.get(step.parent);
    if (step.parent === undefined || step.parent === traceId) place.parent = step === root ? undefined : root;
    else if (named) place.parent = named;
    else place.note ??= `parent "${step.parent}" did not arrive, or was dropped`;
  }
  return places;
}

/** Cuts circles of parents open, where they begin in time. */
function cutCircles(places: Map<Step, Placed>): void {
  const isSafe = new Set<Step>();
  for (const from of [...places.keys()].toSorted(byTime)) {
    const way = new Set<Step>();
    let at: Step | undefined = from;
    while (at && !isSafe.has(at) && !way.has(at)) {
      way.add(at);
      at = places.get(at)?.parent;
    }
    if (at && way.has(at)) {
      const circle = [...way].slice([...way].indexOf(at));
      const first = circle.toSorted(byTime)[0];
      const place = first && places.get(first);
      if (place) {
        const ids = circle.slice(0, 5).map((it) => it.id);
        const note = circle.length > 1 ? `circular parents: ${ids.join(", ")}` : "its own parent";
        Object.assign(place, { parent: undefined, note });
      }
    }
    for (const it of way) isSafe.add(it);
  }
}

/** The steps in order, each after its parent. Without recursion: a chain may be as long as the trace. */
function rowsOf(places: ReadonlyMap<Step, Placed>): TraceRow[] {
  const children = new Map<Step | undefined, Step[]>();
  for (const [step, { parent }] of places) children.set(parent, [...(children.get(parent) ?? []), step]);
  const rows: TraceRow[] = [];
  const reversed = (parent: Step | undefined) => (children.get(parent) ?? []).toSorted(byTime).toReversed();
  const open = reversed(undefined).map((step) => ({ step, depth: 0 }));
  for (let next = open.pop(); next; next = open.pop()) {
    const { step, depth } = next;
    rows.push({ step, depth, note: places.get(step)?.note });
    open.push(...reversed(step).map((it) => ({ step: it, depth: depth + 1 })));
  }
  return rows;
}

/** The events of one trace as a tree in time; undefined without any. */
export function traceOf(events: readonly StoredEvent[], traceId: string): Trace | undefined {
  const steps = events.filter((it) => stepNames.has(it.event)).map(stepOf);
  const [one] = steps;
  if (!one) return undefined;
  const places = placesOf(steps, traceId);
  cutCircles(places);
  const rows = rowsOf(places);
  const root = steps.find((it) => it.event === "$ai_trace");
  // an event without a latency is a point in time, at its end: it does not begin the trace
  const timed = steps.filter((it) => it.latency !== undefined);
  const within = timed.length > 0 ? timed : steps;
  const start = Math.min(...within.map((it) => it.start));
  const end = Math.max(...within.map((it) => it.end));
  const calls = steps.filter((it) => it.event === "$ai_generation" || it.event === "$ai_embedding");
  const sum = (of: (step: Step) => number): number => calls.reduce((total, it) => total + of(it), 0);
  return {
    name: root?.name === root?.event ? undefined : root?.name,
    rows,
    start,
    end,
    latency: root?.latency ?? (end - start) / 1000,
    inputTokens: sum((it) => it.inputTokens),
    outputTokens: sum((it) => it.outputTokens),
    cost: calls.some((it) => it.cost !== undefined) ? sum((it) => it.cost ?? 0) : root?.cost,
  };
}

/** Where a step lies in its trace, in percent. */
export function barOf({ start, end }: Step, trace: Pick<Trace, "start" | "end">): { from: number; size: number } {
  const whole = trace.end - trace.start || 1;
  const from = Math.max(0, Math.min(99.5, ((start - trace.start) * 100) / whole));
  return { from, size: Math.max(0.5, Math.min(100 - from, ((end - start) * 100) / whole)) };
}
