import type { Json } from "../../../kernel/base/json.ts";
import type { StoredEvent } from "../../../state/journal/event.ts";
import { fits } from "./pattern.ts";
import type { Complaint, Count, Sighting } from "./report-shapes.ts";
import type { Expectation, Pattern, Terms, Verdict } from "./types.ts";

/** Events that a report names in one place. */
export const mostNamed = 20;

export const sightingOf = ({ seq, event, distinct_id, project, received_at }: StoredEvent): Sighting => ({
  seq,
  event,
  distinct_id,
  project,
  received_at,
});

export const fitsEvent = (pattern: Pattern, event: StoredEvent): boolean => fits(pattern, event as unknown as Json);

/** True if the terms forbid events: then it must be certain that no more will come. */
export const forbids = ({ nothingElse, expect }: Terms): boolean =>
  nothingElse === true || expect.some(({ count }) => count?.max !== undefined);

export const countOf = ({ count }: Expectation): Count => count ?? { min: 1 };

const leastOf = (expectation: Expectation): number => countOf(expectation).min ?? 0;
const mostOf = (expectation: Expectation): number => countOf(expectation).max ?? Number.POSITIVE_INFINITY;

function countComplaint(expectation: Expectation, i: number, events: readonly StoredEvent[]): Complaint[] {
  const isTooFew = events.length < leastOf(expectation);
  if (!isTooFew && events.length <= mostOf(expectation)) return [];
  const kind = isTooFew ? "too_few" : "too_many";
  const named = events.slice(0, mostNamed).map(sightingOf);
  return [{ kind, expectation: i, wanted: countOf(expectation), got: events.length, events: named }];
}

/**
 * The first expectation that cannot be met in order. Each takes its earliest events after those of the one before, as
 * many as its minimum: this finds an order if there is one. Skips those without a minimum, and with too few events.
 */
function orderComplaint({ expect }: Terms, matched: readonly StoredEvent[][]): Complaint[] {
  let last: { event: StoredEvent; expectation: number } | undefined;
  for (const [i, expectation] of expect.entries()) {
    const [least, events] = [leastOf(expectation), matched[i] ?? []];
    if (events.length < least) continue;
    const start = events.findIndex(({ seq }) => last === undefined || seq > last.event.seq);
    const taken = start === -1 ? [] : events.slice(start, start + least);
    if (taken.length < least && last) {
      const event = sightingOf((start === -1 ? events.at(-1) : events[start - 1]) ?? last.event);
      return [
        { kind: "out_of_order", expectation: i, after: last.expectation, event, previous: sightingOf(last.event) },
      ];
    }
    const event = taken.at(-1);
    if (event) last = { event, expectation: i };
  }
  return [];
}

export function namePatterns(match: Pattern): Pattern[] {
  if (typeof match !== "object" || match === null) return [];
  const { event, "@all": all } = match as Record<string, unknown>;
  const inner = Array.isArray(all) ? all.flatMap((it: unknown) => namePatterns(it)) : [];
  return event === undefined ? inner : [event, ...inner];
}

const isNamed = ({ expect }: Terms, name: string): boolean =>
  expect.some(({ match }) => {
    const names = namePatterns(match);
    return names.length > 0 && names.every((pattern) => fits(pattern, name));
  });

function extraComplaint(terms: Terms, matched: readonly StoredEvent[][], events: readonly StoredEvent[]): Complaint[] {
  const expected = new Set(matched.flat());
  const extras = events.filter(
    (event) => !expected.has(event) && (!event.event.startsWith("$") || isNamed(terms, event.event)),
  );
  if (extras.length === 0) return [];
  return [{ kind: "unexpected", events: extras.slice(0, mostNamed).map(sightingOf), total: extras.length }];
}

/**
 * Compares kept events with the terms, each once, in order of arrival. One event can count for several expectations. In
 * order (`ordered`), each expectation takes as many events as its minimum, all of them later than those of the
 * expectation before; other events may be in between.
 */
export class Evaluation {
  readonly events: StoredEvent[] = [];
  /** In order, as many as each minimum: the result of a wait as soon as all minimums are reached. */
  readonly chosen: StoredEvent[] = [];
  readonly #terms: Terms;
  readonly #matched: StoredEvent[][];
  /** Indexes of the expectations with a minimum; those before `#step` are met in order, by the next one `#taken`. */
  readonly #steps: readonly number[];
  #step = 0;
  #taken = 0;

  constructor(terms: Terms) {
    this.#terms = terms;
    this.#matched = terms.expect.map(() => []);
    this.#steps = [...terms.expect.keys()].filter((i) => this.#least(i) > 0);
  }

  #least(i: number): number {
    const expectation = this.#terms.expect[i];
    return expectation ? leastOf(expectation) : 0;
  }

  readonly take = (event: StoredEvent): void => {
    const step = this.#steps[this.#step];
    let isWanted = this.#terms.nothingElse === true;
    for (const [i, { match }] of this.#terms.expect.entries()) {
      if (!fitsEvent(match, event)) continue;
      isWanted = true;
      this.#matched[i]?.push(event);
      if (i !== step) continue;
      this.chosen.push(event);
      if (++this.#taken < this.#least(i)) continue;
      this.#step++;
      this.#taken = 0;
    }
    if (isWanted) this.events.push(event);
  };

  /** True if every minimum is reached, in order if the terms are ordered. */
  readonly isMet = (): boolean =>
    this.#matched.every(({ length }, i) => length >= this.#least(i)) &&
    (!this.#terms.ordered || this.#step === this.#steps.length);

  /** True if a maximum is exceeded: later events cannot change that. */
  readonly isExceeded = (): boolean =>
    this.#terms.expect.some((expectation, i) => (this.#matched[i]?.length ?? 0) > mostOf(expectation));

  verdict(): Verdict {
    const [terms, matched] = [this.#terms, this.#matched];
    const complaints = [
      ...terms.expect.flatMap((expectation, i) => countComplaint(expectation, i, matched[i] ?? [])),
      ...(terms.ordered ? orderComplaint(terms, matched) : []),
      ...(terms.nothingElse ? extraComplaint(terms, matched, this.events) : []),
    ];
    return { passed: complaints.length === 0, complaints, matched: matched.map((its) => its.map(({ seq }) => seq)) };
  }
}
