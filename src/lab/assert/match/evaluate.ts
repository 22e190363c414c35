import type { Json } from "../../../kernel/base/json.ts";
import type { StoredEvent } from "../../../state/journal/event.ts";
import { fits } from "./pattern.ts";
import type { Complaint, Count, Sighting } from "./report-shapes.ts";
import type { Expectation, Pattern, Terms, Verdict } from "./types.ts";

/** Events that a complaint lists. */
const mostNamed = 20;

/** The short form of an event. */
export const sightingOf = ({ seq, event, distinct_id, project, received_at }: StoredEvent): Sighting => ({
  seq,
  event,
  distinct_id,
  project,
  received_at,
});

/** True if the event fits the pattern. */
export const fitsEvent = (pattern: Pattern, event: StoredEvent): boolean => fits(pattern, event as unknown as Json);

/** An expectation's count (default: at least one). */
export const countOf = ({ count }: Expectation): Count => count ?? { min: 1 };

const leastOf = (expectation: Expectation): number => countOf(expectation).min ?? 0;
const mostOf = (expectation: Expectation): number => countOf(expectation).max ?? Number.POSITIVE_INFINITY;

type Matched = readonly (readonly StoredEvent[])[];

function countComplaints({ expect }: Terms, matched: Matched): Complaint[] {
  return expect.flatMap((expectation, i): Complaint[] => {
    const events = matched[i] ?? [];
    const isTooFew = events.length < leastOf(expectation);
    if (!isTooFew && events.length <= mostOf(expectation)) return [];
    const kind = isTooFew ? "too_few" : "too_many";
    const named = events.slice(0, mostNamed).map(sightingOf);
    return [{ kind, expectation: i, wanted: countOf(expectation), got: events.length, events: named }];
  });
}

/** The events that meet the expectations in order, and the first expectation that cannot be met. */
interface Assignment {
  chosen: StoredEvent[][];
  failed: { expectation: number; after: number; event: StoredEvent; previous: StoredEvent } | undefined;
}

/**
 * Assigns each expectation its earliest events after those of the expectation before, as many as its minimum. This
 * finds an order if there is one. Skips expectations without a minimum, and those with too few events.
 */
function assign({ expect }: Terms, matched: Matched): Assignment {
  const chosen: StoredEvent[][] = expect.map(() => []);
  let last: { event: StoredEvent; expectation: number } | undefined;
  for (const [i, expectation] of expect.entries()) {
    const [least, events] = [leastOf(expectation), matched[i] ?? []];
    if (events.length < least) continue;
    const start = events.findIndex(({ seq }) => last === undefined || seq > last.event.seq);
    const taken = start === -1 ? [] : events.slice(start, start + least);
    if (taken.length < least && last) {
      const event = (start === -1 ? events.at(-1) : events[start - 1]) ?? last.event;
      return { chosen, failed: { expectation: i, after: last.expectation, event, previous: last.event } };
    }
    chosen[i] = taken;
    const event = taken.at(-1);
    if (event) last = { event, expectation: i };
  }
  return { chosen, failed: undefined };
}

const matchedBy = ({ expect }: Terms, events: readonly StoredEvent[]): Matched =>
  expect.map(({ match }) => events.filter((event) => fitsEvent(match, event)));

/**
 * The events that meet the expectations in order, as many as each one's minimum: the result of a wait for a sequence.
 * Undefined if they cannot all be met.
 */
export function inOrder(terms: Terms, events: readonly StoredEvent[]): StoredEvent[][] | undefined {
  const { chosen } = assign(terms, matchedBy(terms, events));
  const isMet = terms.expect.every((expectation, i) => (chosen[i]?.length ?? 0) >= leastOf(expectation));
  return isMet ? chosen : undefined;
}

function orderComplaints(terms: Terms, matched: Matched): Complaint[] {
  const { failed } = assign(terms, matched);
  if (!failed) return [];
  const { event, previous, ...where } = failed;
  return [{ kind: "out_of_order", ...where, event: sightingOf(event), previous: sightingOf(previous) }];
}

/** The patterns of the event's name in a pattern. */
export function namePatterns(match: Pattern): Pattern[] {
  if (typeof match !== "object" || match === null) return [];
  const { event, "@all": all } = match as Record<string, unknown>;
  const inner = Array.isArray(all) ? all.flatMap((it: unknown) => namePatterns(it)) : [];
  return event === undefined ? inner : [event, ...inner];
}

/** True if an expectation has this event's name, whatever its other conditions. */
const isNamed = ({ expect }: Terms, name: string): boolean =>
  expect.some(({ match }) => {
    const names = namePatterns(match);
    return names.length > 0 && names.every((pattern) => fits(pattern, name));
  });

function extraComplaints(terms: Terms, matched: Matched, events: readonly StoredEvent[]): Complaint[] {
  const expected = new Set(matched.flat());
  const extras = events.filter(
    (event) => !expected.has(event) && (!event.event.startsWith("$") || isNamed(terms, event.event)),
  );
  if (extras.length === 0) return [];
  return [{ kind: "unexpected", events: extras.slice(0, mostNamed).map(sightingOf), total: extras.length }];
}

/**
 * Compares events with the terms. One event can count for several expectations. In order (`ordered`), each expectation
 * takes as many events as its minimum, all of them later than those of the expectation before; other events may be in
 * between.
 * @param events The kept events of the scope, in order of arrival
 */
export function evaluate(terms: Terms, events: readonly StoredEvent[]): Verdict {
  const matched = matchedBy(terms, events);
  const complaints = [
    ...countComplaints(terms, matched),
    ...(terms.ordered ? orderComplaints(terms, matched) : []),
    ...(terms.nothingElse ? extraComplaints(terms, matched, events) : []),
  ];
  return { passed: complaints.length === 0, complaints, matched: matched.map((found) => found.map(({ seq }) => seq)) };
}
