import type { RequestRow } from "../../../src/state/journal/feed/feed-row.ts";

/** The outcome of a request in short. */
export interface Verdict {
  /** Set for outcomes that have an icon. */
  readonly of?: "rejected" | "dropped";
  readonly tone: "plain" | "good" | "odd" | "bad";
  readonly text: string;
}

type RequestState = Pick<RequestRow, "outcome" | "unmatched" | "reason" | "status" | "dropped">;

const rejected = { of: "rejected", tone: "bad" } as const;

const verdicts: readonly (readonly [
  holds: (it: RequestState) => boolean,
  shown: Omit<Verdict, "text">,
  text: (it: RequestState) => string,
])[] = [
  [(it) => it.unmatched, rejected, () => "not emulated"],
  [(it) => it.outcome === "rejected", rejected, (it) => it.reason ?? "rejected"],
  [(it) => it.status === 0, { tone: "bad" }, () => "no response"],
  [(it) => it.status >= 400, { tone: "odd" }, () => "answered"],
  [(it) => it.dropped > 0, { of: "dropped", tone: "bad" }, (it) => `${it.dropped} dropped`],
];

/** The verdict of a request. An error that is a regular response (e.g. a missing document) is no rejection. */
export function verdictOf(row: RequestState): Verdict {
  const found = verdicts.find(([holds]) => holds(row));
  return found ? { ...found[1], text: found[2](row) } : { tone: "good", text: "answered" };
}

/** Number of events: `3`, or `3, 1 dropped`; "" for none. */
export function eventsText({ events, dropped }: Pick<RequestRow, "events" | "dropped">): string {
  if (events === 0) return "";
  return dropped === 0 ? String(events) : `${events}, ${dropped} dropped`;
}

/** Logarithmic: 1 ms is about a tenth of the bar, ten seconds the whole. */
export const barShare = (ms: number): number => Math.min(1, Math.log10(1 + Math.max(0, ms)) / 4);

/** The time that a waterfall shows, ms. */
export interface Shown {
  readonly from: number;
  readonly to: number;
}

/** The time of some requests, from the first arrival to the last answer; undefined for none. */
export function timeOf(rows: Iterable<Pick<RequestRow, "at" | "ms">>): Shown | undefined {
  let [from, to] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const { at, ms } of rows) {
    from = Math.min(from, at);
    to = Math.max(to, at + Math.max(0, ms));
  }
  return from <= to ? { from, to } : undefined;
}

/** Start and length of a request in a waterfall, as parts of its width. */
export function barOf(
  { at, ms }: Pick<RequestRow, "at" | "ms">,
  { from, to }: Shown,
): { start: number; length: number } {
  const whole = Math.max(1, to - from);
  const start = Math.max(0, Math.min(1, (at - from) / whole));
  return { start, length: Math.max(0, Math.min(1 - start, Math.max(0, ms) / whole)) };
}

/** 3.9 ms, 45 ms, 1.24 s. */
export function msText(ms: number): string {
  if (ms >= 1_000) return `${(ms / 1_000).toFixed(2)} s`;
  return ms < 10 ? `${ms.toFixed(1)} ms` : `${Math.round(ms)} ms`;
}

/** The source of a response. */
export interface Source {
  readonly kind: "emulator" | "script" | "fault" | "tape" | "upstream" | "other";
  readonly text: string;
  /** Explanation that follows a comma. */
  readonly note: string;
  readonly tape?: { readonly name: string; readonly i: number };
}

/** Source and fault of a row. */
interface SourceFields {
  readonly source: string;
  readonly fault: string | null;
}

const tapeText = /^tape:(.+)#(\d+)$/;

const known: Readonly<Record<string, Omit<Source, "text">>> = {
  emulator: { kind: "emulator", note: "from the emulated world" },
  script: { kind: "script", note: "a scripted answer" },
  upstream: { kind: "upstream", note: "the request was forwarded to the real service" },
  proxy: { kind: "other", note: "the forward proxy" },
};

/** Parses `x-phx-source`: `emulator`, `fault`, `script`, `tape:NAME#12`, `upstream`. */
export function readSource({ source, fault }: SourceFields): Source {
  const [, name, i] = tapeText.exec(source) ?? [];
  if (name !== undefined && i !== undefined)
    return { kind: "tape", text: `tape ${name} #${i}`, note: "a recorded response", tape: { name, i: Number(i) } };
  if (fault !== null)
    return { kind: "fault", text: `fault ${fault}`, note: "it changed the request or its response on purpose" };
  const found = Object.hasOwn(known, source) ? known[source] : undefined;
  if (found) return { ...found, text: source };
  if (source === "tape" || source.startsWith("tape:"))
    return { kind: "tape", text: source.replace(":", " "), note: "the loaded tape" };
  return { kind: "other", text: source, note: "not the emulator" };
}

/** Source and fault of a full request, in the form of a row. */
export function sourceInFull(it: {
  readonly scripted: boolean;
  readonly fault: string | null;
  readonly source: string | null;
}): SourceFields {
  const source = it.scripted ? "script" : (it.source ?? (it.fault === null ? "emulator" : "fault"));
  return { source, fault: it.fault };
}

export function targetParts(target: string): { path: string; query: string } {
  const mark = target.indexOf("?");
  return mark === -1 ? { path: target, query: "" } : { path: target.slice(0, mark), query: target.slice(mark + 1) };
}
