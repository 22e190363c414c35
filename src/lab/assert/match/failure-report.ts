import { explain } from "../../../state/journal/drop-reasons.ts";
import type { StoredEvent } from "../../../state/journal/event.ts";
import { causesOf, type KnownCauses, nothingKnown } from "./causes.ts";
import { describePattern } from "./describe.ts";
import { fitsEvent, sightingOf } from "./evaluate.ts";
import { nearestEvents } from "./nearest.ts";
import type { DroppedSighting, NearMiss, Report, Surroundings } from "./report-shapes.ts";
import { type ReportFacts, reportText, wantedLines } from "./report-text.ts";
import type { Expectation, Terms, Verdict } from "./types.ts";

export interface Findings {
  /** The assertion: `toHaveCaptured("signup", {plan: "pro"})`; "": the patterns. */
  title: string;
  terms: Terms;
  verdict: Verdict;
  kept: readonly StoredEvent[];
  dropped: readonly StoredEvent[];
  surroundings: Surroundings;
}

/** Dropped events that a report lists; those that fit come first. */
const mostDropped = 20;

const missing = ({ terms, verdict }: Findings): Expectation[] =>
  verdict.complaints.flatMap((complaint) =>
    complaint.kind === "too_few" ? (terms.expect[complaint.expectation] ?? []) : [],
  );

/** The number of events by name. Names come from users, so they are not used as keys of a plain object. */
function namesOf(events: readonly StoredEvent[]): Record<string, number> {
  const counts = new Map<string, number>();
  for (const { event } of events) counts.set(event, (counts.get(event) ?? 0) + 1);
  return Object.fromEntries(counts);
}

/** The event as if it had been kept: patterns can have conditions on `outcome`. */
const asKept = (event: StoredEvent): StoredEvent => ({ ...event, outcome: "kept", reason: null });

function droppedOf({ dropped, ...rest }: Findings): DroppedSighting[] {
  const wanted = missing({ dropped, ...rest });
  const all = dropped.flatMap((event): DroppedSighting[] => {
    if (event.reason === null) return [];
    const fits = wanted.some(({ match }) => fitsEvent(match, asKept(event)));
    return [{ ...sightingOf(event), reason: event.reason, ...explain(event.reason), fits }];
  });
  return all.sort((a, b) => Number(b.fits) - Number(a.fits)).slice(0, mostDropped);
}

function nearMisses(findings: Findings): NearMiss[] {
  const [first] = missing(findings);
  return first ? nearestEvents(first.match, findings.kept) : [];
}

const titleOf = ({ title, terms }: Findings): string =>
  title === "" ? terms.expect.map(({ match }) => describePattern(match, 100)).join(", ") || "nothing else" : title;

/** Why the events do not meet the terms, for programs and as text. Pure: the surroundings are given. */
export function reportOf(findings: Findings): Report {
  const { surroundings, verdict, kept, terms } = findings;
  const near_misses = nearMisses(findings);
  const dropped = droppedOf(findings);
  const { complaints } = verdict;
  const facts = { known: nothingKnown, ...{ surroundings, complaints, near_misses, kept: kept.length, dropped } };
  const report: ReportFacts = {
    title: titleOf(findings),
    wanted: wantedLines(terms),
    complaints,
    near_misses,
    seen: namesOf(kept),
    dropped,
    hints: causesOf(facts),
    ...surroundings,
  };
  return { text: reportText(report), ...report };
}

export function withKnown(report: Report, known: KnownCauses): Report {
  const kept = Object.values(report.seen).reduce((sum, count) => sum + count, 0);
  const hints = causesOf({ ...report, surroundings: report, known, kept });
  return { ...report, hints, text: reportText({ ...report, hints }) };
}
