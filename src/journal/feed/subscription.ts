import type { EventSubject, Filter, FilterProblem, Reading, RequestSubject } from "../filter/types.ts";
import type { FilterReaders, Kinds } from "./ports.ts";
import type { Subscribe } from "./read-frame.ts";

/** Which rows of a kind: none, all, or those that pass. */
export type Wanted<Subject> = "none" | "all" | Filter<Subject>;

/** What a client wants to be told. */
export interface Subscription {
  /** Those with the same key get the same frames. */
  readonly key: string;
  readonly project: number | undefined;
  readonly events: Wanted<EventSubject>;
  readonly requests: Wanted<RequestSubject>;
  /** The rows that it is made of: a filter may look at both kinds. */
  readonly needs: Kinds;
}

export interface Refusal {
  readonly field: "events" | "requests";
  readonly problems: readonly FilterProblem[];
}

function wanted<Subject>(
  text: string | null,
  read: (text: string) => Reading<Subject>,
): Wanted<Subject> | readonly FilterProblem[] {
  if (text === null) return "none";
  if (text.trim() === "") return "all";
  const reading = read(text);
  return "filter" in reading ? reading.filter : reading.problems;
}

const isRefused = <Subject>(it: Wanted<Subject> | readonly FilterProblem[]): it is readonly FilterProblem[] =>
  Array.isArray(it);

function needsOf(events: Wanted<EventSubject>, requests: Wanted<RequestSubject>): Kinds {
  const isFiltered = typeof events === "object" || typeof requests === "object";
  return { events: isFiltered || events === "all", requests: isFiltered || requests === "all" };
}

/** Reads the filters that a client asks for; all that is wrong is told at once. */
export function readSubscription(asked: Subscribe, read: FilterReaders): Subscription | readonly Refusal[] {
  const { project } = asked;
  const events = wanted(asked.events, read.events);
  const requests = wanted(asked.requests, read.requests);
  if (!isRefused(events) && !isRefused(requests)) {
    const key = JSON.stringify([project ?? null, asked.events, asked.requests]);
    return { key, project, events, requests, needs: needsOf(events, requests) };
  }
  return [
    ...(isRefused(events) ? [{ field: "events" as const, problems: events }] : []),
    ...(isRefused(requests) ? [{ field: "requests" as const, problems: requests }] : []),
  ];
}
