import type { Problems } from "../../src/control/problems-answer.ts";
import type { Totals } from "../../src/control/totals-answer.ts";
import { query } from "../api/call.ts";
import { type Resource, useResource } from "../api/resource.ts";
import { numberText } from "../parts/text.ts";
import { revision } from "./sim.ts";

export type { Totals };

/** Which rows are counted; nothing: all. */
interface Counted {
  readonly project: number | undefined;
  readonly events?: string;
  readonly requests?: string;
}

/** From an answer to the next call while the sim has not counted everything, ms. */
const pause = 500;

/** Something that the sim may need several calls for; asked again as requests come. */
export const useCounted = <T>(path: string | null, isCounting: (it: T) => boolean): Resource<T> =>
  useResource<T>(path, {
    revision: revision.value,
    again: (it) => (it && isCounting(it) ? pause : undefined),
  });

/** The totals of what lists show a part of: counted by the sim, over all that arrived. Undefined until they are known. */
export const useTotals = ({ project, events, requests }: Counted): Totals | undefined =>
  useCounted<Totals>(
    `totals${query({ project, events, requests })}`,
    (it) => it.events.counting || it.requests.counting,
  ).data;

/** The problems that were found and not cleared. */
export const useProblems = (project: number | undefined): Resource<Problems> =>
  useCounted<Problems>(`problems${query({ project })}`, (it) => it.counting);

/** A figure: one that is not exact says so. */
export const figureText = (count: number, isExact: boolean): string =>
  isExact ? numberText(count) : `at least ${numberText(count)}`;
