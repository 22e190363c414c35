import type { RequestRow } from "../../../src/model/row.ts";

/** What became of a request, in a word or two. */
export interface Verdict {
  /** Where it is one of the outcomes that have a sign. */
  readonly of?: "rejected" | "dropped";
  readonly tone: "plain" | "good" | "odd" | "bad";
  readonly text: string;
}

type Judged = Pick<RequestRow, "outcome" | "unmatched" | "reason" | "status" | "dropped">;

const rejected = { of: "rejected", tone: "bad" } as const;

/** Rows of what can have become of a request; the first that holds names it. */
const verdicts: readonly (readonly [
  holds: (it: Judged) => boolean,
  shown: Omit<Verdict, "text">,
  text: (it: Judged) => string,
])[] = [
  [(it) => it.unmatched, rejected, () => "not emulated"],
  [(it) => it.outcome === "rejected", rejected, (it) => it.reason ?? "rejected"],
  [(it) => it.status === 0, { tone: "bad" }, () => "no answer"],
  [(it) => it.status >= 400, { tone: "odd" }, () => "answered"],
  [(it) => it.dropped > 0, { of: "dropped", tone: "bad" }, (it) => `${it.dropped} dropped`],
];

/** What became of a request. An error that is part of the answer (a missing document, say) is no rejection. */
export function verdictOf(row: Judged): Verdict {
  const found = verdicts.find(([holds]) => holds(row));
  return found ? { ...found[1], text: found[2](row) } : { tone: "good", text: "answered" };
}

/** The events of a request: `3`, or `3, 1 dropped`; "" when it carried none. */
export function eventsText({ events, dropped }: Pick<RequestRow, "events" | "dropped">): string {
  if (events === 0) return "";
  return dropped === 0 ? String(events) : `${events}, ${dropped} dropped`;
}

/** 1 ms is a tenth of the bar, ten seconds all of it: a logarithm, since times differ by magnitudes. */
export const barShare = (ms: number): number => Math.min(1, Math.log10(1 + Math.max(0, ms)) / 4);

/** 3.9 ms, 45 ms, 1.24 s. */
export function msText(ms: number): string {
  if (ms >= 1_000) return `${(ms / 1_000).toFixed(2)} s`;
  return ms < 10 ? `${ms.toFixed(1)} ms` : `${Math.round(ms)} ms`;
}
